// What an interrupted apply left, and what became of it.
import type { Style } from '../../lib/style.ts'
import type { recoverNode } from '../../overlay/node.ts'
import type { ExitCode } from '../exit.ts'

type Recovered = Awaited<ReturnType<typeof recoverNode>>

export function printRecover({ recovered, outcome }: Recovered, style: Style): string {
  return [
    ...(recovered.length === 0 ? ['Nothing to recover.'] : recovered),
    ...(outcome === 'undo incomplete'
      ? [
          style.paint(
            'failed',
            `Not all of it could be mended. Remove the cause, then cairn node recover${style.where}`,
          ),
        ]
      : []),
  ].join('\n')
}

export const exitOfRecover = ({ outcome }: Recovered): ExitCode => (outcome === 'undo incomplete' ? 5 : 0)
