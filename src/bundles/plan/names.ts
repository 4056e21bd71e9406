// Unique display names: who takes one, who frees it, and who keeps what another wants.
import type { Problem } from '../../lib/problem.ts'
import { ownerProblem } from './ownership.ts'
import { type Ground, holdersOf } from './pair.ts'
import type { Planned } from './planned.ts'
import { nameIsKept, resourceExists } from './problems.ts'

export interface NameHandover {
  readonly taker: Planned
  readonly freer: Planned
}

export function nameHandovers(
  ground: Ground,
  planned: ReadonlyMap<string, Planned>,
  blockers: Problem[],
): NameHandover[] {
  const handovers: NameHandover[] = []
  for (const taker of planned.values()) {
    const { wanted, kind } = taker.pair
    if (!wanted || !kind.displayName.unique || !takesName(taker)) continue
    for (const holder of holdersOf(ground, wanted)) {
      if (holder.id === taker.live?.id) continue
      const own = ground.byId.get(holder.id)
      const freer = own && planned.get(own.identity)
      if (!own || !freer) blockers.push(ownerProblem(ground, taker.pair, holder) ?? resourceExists(taker.pair, holder))
      else if (freesName(freer)) handovers.push({ taker, freer })
      else blockers.push(nameIsKept(taker.pair, own, wanted.displayName))
    }
  }
  return handovers
}

/** The name that its live resource has is not its name afterwards. */
const freesName = (planned: Planned): boolean =>
  planned.live !== null && (planned.word === 'delete' || renames(planned) || movesAway(planned))

const takesName = (planned: Planned): boolean => planned.word === 'create' || renames(planned) || movesAway(planned)

const renames = ({ word, comparison }: Planned): boolean =>
  (word === 'update' || word === 'adopt') && comparison?.changes.some(({ path }) => path === 'spec.name') === true

const movesAway = ({ word, live, pair }: Planned): boolean =>
  word === 'replace' && live?.displayName !== pair.wanted?.displayName
