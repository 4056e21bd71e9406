// References of the bundle that would mean nothing when the plan is carried out.
import type { Problem } from '../../lib/problem.ts'
import { isSkippedAway } from './associations.ts'
import { removesLive } from './deletion.ts'
import { type Ground, referredBy } from './pair.ts'
import type { Planned } from './planned.ts'
import { referenceSkipped, referenceUnresolved, resourceReferenced } from './problems.ts'

export function referenceBlockers(ground: Ground, planned: ReadonlyMap<string, Planned>): Problem[] {
  const blockers: Problem[] = []
  for (const { pair, why, live } of planned.values()) {
    if (!pair.wanted || pair.skipped || why === 'skipped') continue
    for (const reference of pair.wanted.references) {
      const referred = referredBy(ground, reference.target, reference.byDisplayName)
      switch (referred.is) {
        case 'own':
          if (isSkippedAway(ground, referred.pair) && !reference.optional)
            blockers.push(referenceSkipped(pair, reference.path, reference.target))
          break
        case 'live': {
          const own = ground.byId.get(referred.live.id)
          const target = own && planned.get(own.identity)
          // One that refers to it already is told with all the others that do.
          const isKnown = ground.view.referrers.get(referred.live.id)?.some(({ id }) => id === live?.id)
          if (target && removesLive(target) && !isKnown)
            blockers.push(
              resourceReferenced(target.pair, [
                { kind: pair.kind.kind, id: live?.id ?? 'new', displayName: pair.wanted.displayName },
              ]),
            )
          break
        }
        case 'absent':
          if (!reference.optional) blockers.push(referenceUnresolved(pair, reference, []))
          break
        case 'ambiguous':
          blockers.push(referenceUnresolved(pair, reference, referred.among))
          break
        case 'not understood':
          break
      }
    }
  }
  return blockers
}
