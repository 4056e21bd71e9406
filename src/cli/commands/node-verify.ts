import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'
import { flag } from '../parameter.ts'

export const nodeVerify = command({
  name: 'node verify',
  group: thisMachine,
  nature: 'store',
  summary: 'hash all packages again and compare with what was sealed',
  description: [
    'Finds changed, missing and extra files, wrong modes and wrong links in the store. Exit code 1 when damage is left.',
  ],
  options: { repair: flag('--repair', 'install damaged packages anew from their source'), ...nodeOptions },
  examples: [
    { line: 'cairn node verify', about: 'look, change nothing' },
    { line: 'cairn node verify --repair', about: 'and mend what is damaged' },
  ],
  run: async (values, session) => {
    const { verifyNode } = await import('../../overlay/node.ts')
    const { exitOfVerify, printVerify } = await import('../views/verify.ts')
    const report = await verifyNode({ ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printVerify, exit: exitOfVerify(report), where: whereOf(values) })
  },
})
