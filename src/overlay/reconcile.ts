// When a journal cannot be read, nobody knows how far a switch came. The generation that `current` names is put in place
// again: its manifest says what belongs there, and a scan of /etc finds what any other generation left.

import { RefusedError } from '../lib/errors.ts'
import type { NodeContext } from './context.ts'
import { destinationOfGeneration } from './destination.ts'
import { applyEtc } from './etc/apply.ts'
import { ownedBetween } from './etc/owned.ts'
import { currentNumber, generationNumbers, readGenerationOrNothing, rewriteManifest } from './generations.ts'
import { proposeSwitch } from './propose.ts'
import { staticState } from './static.ts'

export async function reconcile(context: NodeContext): Promise<string[]> {
  const { files, layout } = context
  const current = currentNumber(files, layout)
  const shown = staticState(files, layout)
  const owned = readGenerationOrNothing(files, layout, current)
  const other = generationNumbers(files, layout)
    .map(number => readGenerationOrNothing(files, layout, number))
    .findLast(({ etcState }) => etcState === shown && etcState !== owned.etcState)
  const { etc, problems } = await proposeSwitch(context, {
    destination: destinationOfGeneration(context, current),
    owned: other ? ownedBetween(owned, other) : owned,
    overwriteDrift: [],
  })
  if (problems.length > 0)
    throw new RefusedError(
      'journal.unreadable',
      'A switch was interrupted, its journal cannot be read, and /etc cannot be put right without help.',
      {
        problems,
        hint: 'Move away what stands in the way, then cairn node recover.',
      },
    )
  const actions = [...etc.before, ...etc.switch, ...etc.after]
  if (actions.length === 0) return []
  applyEtc(actions, context)
  if (current !== null) rewriteManifest(files, layout, current, etc.owned)
  await context.systemd.daemonReload()
  return [`/etc was put back to ${current === null ? 'nothing of Cairn' : `generation ${current}`}`]
}
