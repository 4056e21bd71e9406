// The three specs of a resource in the same terms: a reference to what keeps its id is spelt by the name that it has in the
// bundle, one to anything else that is live by display name, one to nothing by its id.
import type { Fields, Json } from '../../lib/json.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import { identityOf, type Target } from '../model/bundle.ts'
import { liveIdOf, respell, spelt, targetsOf } from './live-terms.ts'
import { type Ground, referredBy } from './pair.ts'
import { isReadable, nameKey } from './view.ts'

export interface Terms {
  live(kind: Kind, spec: Spec): Spec
  /** As recorded: names are those that the record had. */
  last(kind: Kind, spec: Spec): Spec
  wanted(kind: Kind, spec: Spec): Spec
  /** One resource, as a bundle would name it. */
  target(live: { kind: string; id: string }): Target | null
}

/** `fresh`: identities that get a new id. What refers to them differs from what is live, which has the old one. */
export function termsOf(ground: Ground, fresh: ReadonlySet<string>): Terms {
  const { view, byId, recorded } = ground

  const target = ({ kind, id }: { kind: string; id: string }): Target | null => {
    const pair = byId.get(id)
    if (pair) return fresh.has(pair.identity) ? null : { kind: pair.kind.kind, name: pair.name }
    const live = view.live.get(id)
    return isReadable(live) ? { kind, external: live.displayName } : null
  }
  const byIdTerm = (kind: string, id: string, kinds: readonly string[]): Json => {
    const named = target({ kind, id })
    if (!named) return spelt(kind, kinds, { id })
    return spelt(named.kind, kinds, named.name === undefined ? { external: named.external! } : { name: named.name })
  }
  const live = (reference: Fields, kinds: readonly string[]): Json => {
    const found = liveIdOf(reference, kinds)
    return found ? byIdTerm(found.kind, found.id, kinds) : reference
  }
  const wanted = (reference: Fields, kinds: readonly string[]): Json => {
    for (const target of targetsOf(reference, kinds)) {
      const referred = referredBy(ground, target)
      if (referred.is === 'own') return spelt(referred.pair.kind.kind, kinds, { name: referred.pair.name })
      if (referred.is === 'live') return byIdTerm(target.kind, referred.live.id, kinds)
    }
    return live(reference, kinds)
  }
  const last = (reference: Fields, kinds: readonly string[]): Json => {
    for (const { kind, name, external } of targetsOf(reference, kinds)) {
      const known = view.kinds.get(kind)
      const id = name !== undefined && known ? recorded.get(identityOf({ kind: known, name })) : undefined
      if (id !== undefined) return byIdTerm(kind, id, kinds)
      const [found, ...more] = external === undefined ? [] : (view.found.get(nameKey(kind, external)) ?? [])
      if (found && more.length === 0) return byIdTerm(kind, found.id, kinds)
    }
    return live(reference, kinds)
  }
  return {
    target,
    live: (kind, spec) => respell(kind, spec, live),
    last: (kind, spec) => respell(kind, spec, last),
    wanted: (kind, spec) => respell(kind, spec, wanted),
  }
}
