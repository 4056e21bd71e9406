// A resource belongs to at most one stack. What is live already is taken over only when the bundle or the request says so,
// and only when no stack and no controller has it.
import type { Problem } from '../../lib/problem.ts'
import type { Live } from '../platform.ts'
import { type Ground, holdersOf, type Pair } from './pair.ts'
import { adoptAmbiguous, adoptUnknown, resourceOwned, unreadable } from './problems.ts'
import { isReadable, type PlanView } from './view.ts'

export interface Claims {
  /** Identity in the bundle to what it takes over. */
  readonly adopted: ReadonlyMap<string, Live>
  readonly blockers: readonly Problem[]
}

type Lookups = Pick<Ground, 'view' | 'pairs' | 'byId' | 'families'>

/** For what the bundle has and the record has not, or has but is gone. */
export function claimsOf(ground: Lookups): Claims {
  const adopted = new Map<string, Live>()
  const taken = new Map<string, Pair>()
  const blockers: Problem[] = []
  for (const pair of ground.pairs) {
    if (!pair.wanted || pair.skipped || (pair.entry && ground.view.live.has(pair.entry.id))) continue
    const claim = claimOf(ground, pair, pair.wanted)
    if (claim === null) continue
    if ('code' in claim) blockers.push(claim)
    else if (taken.has(claim.id)) blockers.push(resourceOwned(pair, claim, { by: taken.get(claim.id)!.address }))
    else {
      adopted.set(pair.identity, claim)
      taken.set(claim.id, pair)
    }
  }
  return { adopted, blockers }
}

/** Null: it is made anew. */
function claimOf(ground: Lookups, pair: Pair, wanted: NonNullable<Pair['wanted']>): Live | Problem | null {
  const { view } = ground
  const { adopt } = wanted.lifecycle
  if (typeof adopt === 'object') {
    const live = view.live.get(adopt.id)
    if (live && !isReadable(live)) return unreadable(pair, live)
    if (live?.kind !== wanted.kind.kind) return adoptUnknown(pair, adopt.id)
    return ownerProblem(ground, pair, live) ?? live
  }
  const { kind } = wanted
  if (adopt !== 'byName' && !(adopt === undefined && view.adopt === 'byName' && kind.displayName.unique)) return null
  const free = holdersOf(ground, wanted).filter(
    live => live.kind === kind.kind && ownerProblem(ground, pair, live) === null,
  )
  const [live, ...more] = free
  // When somebody has it who keeps it, names.ts says so.
  if (!live) return null
  return more.length > 0 ? adoptAmbiguous(pair, free) : live
}

/** Why a live resource is not free to be taken over. */
export function ownerProblem(
  { view, byId }: { view: Pick<PlanView, 'owners'>; byId: Ground['byId'] },
  pair: Pick<Pair, 'address' | 'wanted'>,
  live: Live,
): Problem | null {
  const own = byId.get(live.id)
  if (own?.entry) return resourceOwned(pair, live, { by: `${own.address} of this stack`, sameStack: true })
  const owner = view.owners.get(live.id)
  if (owner) {
    const by = `${owner.kind}/${owner.name} of the stack ${owner.stackName}`
    return resourceOwned(pair, live, { by, stack: owner.stackId })
  }
  if (!live.controlledBy) return null
  return resourceOwned(pair, live, {
    by: `${live.controlledBy.kind} ${live.controlledBy.id}, whose controller made it`,
  })
}
