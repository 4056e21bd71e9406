import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'

export const nodeRecover = command({
  name: 'node recover',
  group: thisMachine,
  nature: 'machine',
  summary: 'finish or take back an apply that was interrupted',
  description: [
    'Runs by itself at boot and before each command that changes the machine. Takes back an unconfirmed generation whose time is over.',
  ],
  options: nodeOptions,
  examples: [{ line: 'cairn node recover', about: 'after a crash or a full disk' }],
  run: async (values, session) => {
    const { recoverNode } = await import('../../overlay/node.ts')
    const { exitOfRecover, printRecover } = await import('../views/recover.ts')
    const report = await recoverNode(nodeOptionsOf(values, session))
    return answer({ report, print: printRecover, exit: exitOfRecover(report), where: whereOf(values) })
  },
})
