// What a live resource cannot do without: its labels, and everything it refers to hard.
import { markedFields } from '../../resources/fields.ts'
import type { Kind } from '../../resources/kind.ts'
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
  for (const { mark, value } of markedFields(kind.spec, live.spec)) {
    const referred = mark.reference && storedReference(value)
    if (referred) needs.push({ kind: referred.kind ?? mark.reference?.[0] ?? '', id: referred.id })
  }
  for (const { kind: of, name } of kind.namedReferences(live.spec)) needs.push({ kind: of, displayName: name })
  return needs
}

/** `{kind?, id}`, as live specs have it. */
export function storedReference(value: unknown): { readonly kind?: string; readonly id: string } | null {
  return typeof value === 'object' && value !== null && 'id' in value ? (value as { kind?: string; id: string }) : null
}
