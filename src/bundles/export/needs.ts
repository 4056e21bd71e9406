// What a live resource cannot do without: its labels, and everything it refers to hard.
import type { Kind } from '../../resources/kind.ts'
import { liveIdOf, referencesIn } from '../plan/live-terms.ts'
import type { Live } from '../platform.ts'

export interface Need {
  readonly kind: string
  readonly id?: string
  /** Where it is meant by that. */
  readonly displayName?: string
}

export function neededBy(live: Live, kind: Kind | undefined): Need[] {
  if (!kind) return [...live.associations]
  const needs: Need[] = [...live.associations]
  for (const { reference, kinds } of referencesIn(kind, live.spec)) {
    const to = liveIdOf(reference, kinds)
    if (to) needs.push(to)
  }
  for (const { kind: of, name } of kind.namedReferences(live.spec)) needs.push({ kind: of, displayName: name })
  return needs
}
