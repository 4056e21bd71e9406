// What a collection removed, or would remove, and why; and how to have it again.
import { columns } from '../../lib/columns.ts'
import { printSize } from '../../lib/size.ts'
import type { Style } from '../../lib/style.ts'
import type { gcNode } from '../../overlay/node.ts'
import type { ExitCode } from '../exit.ts'
import { counted, shortState } from './words.ts'

type Collected = Awaited<ReturnType<typeof gcNode>>

export function printGc(collected: Collected, style: Style): string {
  const { removed, generations, freedBytes, kept, dryRun } = collected
  if (removed.length === 0 && generations.length === 0)
    return [...besides(collected, style), `Nothing to collect. ${counted(kept, 'state')} in use.`].join('\n')
  return [
    ...besides(collected, style),
    ...(generations.length > 0 ? [`${dryRun ? 'Would drop' : 'Dropped'} generations ${generations.join(', ')}.`] : []),
    ...columns(
      removed
        .toSorted((a, b) => (a.state < b.state ? -1 : 1))
        .map(({ state, size, why }) => [
          { text: '-', tone: 'failed' },
          shortState(state),
          printSize(size).padStart(8),
          { text: why, tone: 'dim' },
        ]),
      style,
    ),
    `${dryRun ? 'Would free' : 'Freed'} ${printSize(freedBytes)}: ${counted(removed.length, 'state')}; ${kept} kept.`,
    dryRun
      ? `Nothing was changed. Do it: cairn node gc${style.where} with the same options`
      : `Way back: cairn node prepare -f FILE${style.where} fetches and builds them again.`,
  ].join('\n')
}

/** Some of it could not be removed; the next collection tries again. */
export const exitOfGc = ({ failed }: Collected): ExitCode => (failed.length > 0 ? 1 : 0)

function besides({ resumedTrash, generationsHeld, failed, dryRun }: Collected, style: Style): string[] {
  const leftovers = `${counted(resumedTrash, 'tree')} of an interrupted collection or install`
  return [
    ...(resumedTrash > 0 ? [dryRun ? `Would remove ${leftovers}.` : `Removed ${leftovers}.`] : []),
    ...(generationsHeld ? ['No generation was dropped, because an apply is open: cairn node status tells more.'] : []),
    ...columns(
      failed.map(({ path, reason }) => [{ text: '✗', tone: 'failed' }, path, reason]),
      style,
    ),
  ]
}
