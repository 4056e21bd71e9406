import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'
import { text } from '../parameter.ts'

export const nodeConfirm = command({
  name: 'node confirm',
  group: thisMachine,
  nature: 'machine',
  summary: 'keep a generation that was applied with --confirm-within',
  description: ['Ends the window of an apply with --confirm-within. Without it, the generation before comes back.'],
  args: { id: text('ID', 'the id that apply printed; without it, the one window that is open') },
  options: nodeOptions,
  examples: [{ line: 'cairn node confirm', about: 'keep what was just applied' }],
  run: async (values, session) => {
    const { confirmNode } = await import('../../overlay/node.ts')
    const { printConfirm } = await import('../views/confirm.ts')
    const report = await confirmNode({ ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printConfirm, where: whereOf(values) })
  },
})
