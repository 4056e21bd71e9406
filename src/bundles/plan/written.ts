// The resource that a plan writes: the bundle's values over the live ones, references as ids.
import type { Fields, Json } from '../../lib/json.ts'
import type { Spec } from '../../resources/kind.ts'
import type { Target } from '../model/bundle.ts'
import type { LiveId } from '../platform.ts'
import { liveIdOf, referencesIn, respell, spelt, targetsOf } from './live-terms.ts'
import { type Ground, lastAppliedOf, liveOf, type Pair, referredBy } from './pair.ts'
import { hasWanted, type Planned, type WantedPlanned } from './planned.ts'
import type { Terms } from './terms.ts'
import { isIgnored, mergeOverLive } from './three-way.ts'

export interface WrittenResource {
  readonly displayName: string
  readonly spec: Spec
  /** Sorted, without repetition. */
  readonly refersTo: readonly LiveId[]
}

/** `idOf`: of a resource of the plan, which may be a new one. Undefined while it has none. */
export function writtenResource(
  { ground, terms }: { ground: Ground; terms: Terms },
  planned: WantedPlanned,
  idOf: (pair: Pair) => string | undefined,
): WrittenResource {
  const { pair, live, word } = planned
  const { kind, wanted } = pair
  const resolved = (target: Target, byDisplayName = false): LiveId | null => {
    const referred = referredBy(ground, target, byDisplayName)
    if (referred.is === 'live') return { kind: referred.live.kind, id: referred.live.id }
    const id = referred.is === 'own' ? idOf(referred.pair) : undefined
    return referred.is === 'own' && id !== undefined ? { kind: referred.pair.kind.kind, id } : null
  }
  const inIds = (reference: Fields, kinds: readonly string[]): Json => {
    for (const target of targetsOf(reference, kinds)) {
      const found = resolved(target)
      if (found) return spelt(found.kind, kinds, { id: found.id })
    }
    return reference
  }
  const own = respell(kind, wanted.spec, inIds)
  const isSameKind = live?.kind === kind.kind
  const ignore = wanted.lifecycle.ignore ?? []
  const applied = lastAppliedOf(ground, pair)
  const spec =
    live && isSameKind
      ? mergeOverLive({
          kind,
          last: applied && terms.last(kind, applied.spec),
          live: live.spec,
          wanted: own,
          // What is made anew is made whole.
          ignore: word === 'replace' ? [] : ignore,
        })
      : own
  const keepsName = live !== null && word !== 'replace' && isIgnored('spec.name', ignore)
  return {
    displayName: keepsName ? live.displayName : wanted.displayName,
    spec,
    refersTo: sortedIds([
      ...referencesIn(kind, spec).flatMap(({ reference, kinds }) => liveIdOf(reference, kinds) ?? []),
      ...kind.namedReferences(spec).flatMap(({ kind: of, name }) => resolved({ kind: of, external: name }, true) ?? []),
    ]),
  }
}

/** The ids that stay and that a resource of the plan refers to when it is written as planned. */
export function refersAfter(
  sight: { ground: Ground; terms: Terms },
  planned: Planned,
  fresh: ReadonlySet<string>,
): ReadonlySet<string> {
  if (!hasWanted(planned)) return new Set()
  const keptId = (own: Pair) => (fresh.has(own.identity) ? undefined : liveOf(sight.ground, own)?.id)
  return new Set(writtenResource(sight, planned, keptId).refersTo.map(({ id }) => id))
}

const sortedIds = (ids: readonly LiveId[]): LiveId[] =>
  [...new Map(ids.map(({ kind, id }) => [id, { kind, id }])).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
