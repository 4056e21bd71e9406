import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'
import { count, duration, flag, size } from '../parameter.ts'

export const nodeGc = command({
  name: 'node gc',
  group: thisMachine,
  nature: 'store',
  summary: 'remove packages that no generation and no process needs',
  description: [
    'Without options only what no generation needs goes. --keep and --older-than drop old generations first; the current one and the one before it always stay.',
  ],
  options: {
    keep: count('--keep N', 'keep the newest N generations', 1),
    olderThanMs: duration('--older-than D', 'drop only generations older than this: 7d, 12h'),
    maxFreedBytes: size('--max-freed SIZE', 'stop after this much: 10GB'),
    dryRun: flag('--dry-run', 'show what would go, remove nothing'),
    ...nodeOptions,
  },
  examples: [
    { line: 'cairn node gc --dry-run', about: 'what would go' },
    { line: 'cairn node gc --keep 3 --older-than 7d', about: 'three generations and those of this week stay' },
  ],
  run: async (values, session) => {
    const { gcNode } = await import('../../overlay/node.ts')
    const { exitOfGc, printGc } = await import('../views/gc.ts')
    const report = await gcNode({ ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printGc, exit: exitOfGc(report), where: whereOf(values) })
  },
})
