// What every one of our figures contains: the start of Node, and of Cairn in it.
import type { Series } from '../lib/rounds.ts'
import { seriesOf, steps } from './names.ts'

export const startSeries = (cairn: string, rounds: number): Series => ({
  name: seriesOf.start,
  files: 0,
  rounds,
  warmUp: true,
  steps: [
    {
      name: steps.start,
      contenders: [
        { name: 'cairn --version', program: cairn, args: ['--version'] },
        { name: 'cairn node --help', program: cairn, args: ['node', '--help'] },
        { name: 'node -e 0', program: process.execPath, args: ['-e', '0'] },
      ],
    },
  ],
})
