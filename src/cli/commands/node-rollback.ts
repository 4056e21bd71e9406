import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, noSystemd, thisMachine, whereOf } from '../node.ts'
import { count } from '../parameter.ts'

export const nodeRollback = command({
  name: 'node rollback',
  group: thisMachine,
  nature: 'machine',
  summary: 'go back to an earlier generation; needs no network',
  description: [
    'Makes an earlier generation the current one, by the same steps as apply. Everything it needs is in the store.',
  ],
  options: {
    to: count('--to N', 'the generation to go to; default the one before the current', 1),
    noSystemd,
    ...nodeOptions,
  },
  examples: [
    { line: 'cairn node rollback', about: 'the generation before' },
    { line: 'cairn node rollback --to 3', about: 'a certain one; see cairn node generations' },
  ],
  run: async (values, session) => {
    const { rollbackNode } = await import('../../overlay/node.ts')
    const { exitOfApply, printRollback } = await import('../views/apply.ts')
    const report = await rollbackNode({ ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printRollback, exit: exitOfApply(report), where: whereOf(values) })
  },
})
