// The resources of a bundle, as they find each other: by name, by display name, and as well as can be said of what was not understood.
import { nearest } from '../../lib/suggest.ts'
import type { Draft } from './draft.ts'
import type { Identified } from './identity.ts'

export interface Neighbours {
  find(group: string, kind: string, name: string): Identified | undefined
  /** Of any kind. */
  named(group: string, name: string): readonly Identified[]
  /** By display name; of several, none. */
  shown(group: string, kind: string, displayName: string): Identified | undefined
  /** Whether it stands in a document that was not understood well enough to be found; `perhaps` when its name could not be read. */
  isHidden(kind: string, name: string): 'yes' | 'perhaps' | 'no'
  nearest(group: string, kind: string, name: string): string | null
}

/** Comparing every missing name with every other would take longer than everything else. */
const mostComparisons = 100_000

/** `isComplete`: no document was lost before it came here. */
export function neighboursOf(firsts: readonly Identified[], all: readonly Draft[], isComplete: boolean): Neighbours {
  const byKind = Map.groupBy(firsts, ({ identity }) => `${identity.group} ${identity.kind.kind}`)
  const byName = Map.groupBy(firsts, ({ identity }) => `${identity.group} ${identity.name}`)
  const byDisplayName = Map.groupBy(
    firsts,
    ({ identity }) => `${identity.group} ${identity.kind.kind} ${identity.displayName}`,
  )
  const found = new Set<Draft>(firsts.filter(({ identity }) => !identity.isOpen.name))
  const hidden = new Set(
    all
      .filter(draft => !found.has(draft))
      .map(({ meant }) => [meant.kind?.kind ?? 'any', meant.name ?? 'any'].join(' ')),
  )
  const isUnclear = !isComplete || hidden.has('any any')
  let comparisons = 0
  return {
    find: (group, kind, name) => byName.get(`${group} ${name}`)?.find(({ identity }) => identity.kind.kind === kind),
    named: (group, name) => byName.get(`${group} ${name}`) ?? [],
    shown: (group, kind, displayName) => {
      const candidates = byDisplayName.get(`${group} ${kind} ${displayName}`) ?? []
      return candidates.length === 1 ? candidates[0] : undefined
    },
    isHidden: (kind, name) => {
      if (hidden.has(`${kind} ${name}`) || hidden.has(`any ${name}`)) return 'yes'
      return isUnclear || hidden.has(`${kind} any`) ? 'perhaps' : 'no'
    },
    nearest: (group, kind, name) => {
      const candidates = byKind.get(`${group} ${kind}`) ?? []
      comparisons += candidates.length
      if (comparisons > mostComparisons) return null
      return nearest(
        name,
        candidates.map(({ identity }) => identity.name),
      )
    },
  }
}
