// References have two spellings: bundles and records name resources, live specs have ids. Here each becomes the other, so
// that what is compared is spelt alike and what is written has ids.
import { byName } from '../../lib/by-name.ts'
import { canonicalJson, type Fields, isFields, type Json } from '../../lib/json.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { Target } from '../model/bundle.ts'
import type { LiveId } from '../platform.ts'
import { type Field, fieldOf } from './shape.ts'

/** How one reference is spelt instead; `kinds` are those that fit at its place. */
export type Respell = (reference: Fields, kinds: readonly string[]) => Json

/** Every reference in the spec spelt anew; what has none is the same value. */
export const respell = (kind: Kind, spec: Spec, to: Respell): Spec => respelt(fieldOf(kind.spec), spec, to) as Spec

/** Every reference in the spec, in its order. */
export function referencesIn(kind: Kind, spec: Spec): { reference: Fields; kinds: readonly string[] }[] {
  const found: { reference: Fields; kinds: readonly string[] }[] = []
  respell(kind, spec, (reference, kinds) => {
    found.push({ reference, kinds })
    return reference
  })
  return found
}

/** What `{name}` or `{external}` of a bundle may mean: one for each kind that fits. None for one by id. */
export function targetsOf(reference: Fields, kinds: readonly string[]): Target[] {
  const { kind, name, external } = reference
  const among = typeof kind === 'string' ? [kind] : kinds
  if (typeof name === 'string') return among.map(one => ({ kind: one, name }))
  return typeof external === 'string' ? among.map(one => ({ kind: one, external })) : []
}

/** `{id}` of a live spec; null for any other. */
export const liveIdOf = (reference: Fields, kinds: readonly string[]): LiveId | null =>
  typeof reference.id === 'string' ? { kind: kindOf(reference, kinds), id: reference.id } : null

/** The kind is said only where several fit. */
export const spelt = (kind: string, kinds: readonly string[], named: { [key: string]: string }): Json =>
  kinds.length > 1 ? { kind, ...named } : named

const kindOf = (reference: Fields, kinds: readonly string[]): string =>
  typeof reference.kind === 'string' ? reference.kind : (kinds[0] ?? '')

function respelt(field: Field, value: Json | undefined, to: Respell): Json | undefined {
  if (!field.refers) return value
  const { shape } = field
  switch (shape.is) {
    case 'leaf':
      return value
    case 'reference':
      return isFields(value) ? to(value, shape.kinds) : value
    case 'union': {
      const variant = value === undefined ? undefined : shape.variant(value)
      return variant ? respelt(variant, value, to) : value
    }
    case 'object':
    case 'map':
      return isFields(value) ? respeltFields(shape.field, value, to) : value
    case 'list':
    case 'keyed list': {
      if (!Array.isArray(value)) return value
      const item = shape.item()
      const items = (value as readonly Json[]).map(old => respelt(item, old, to) as Json)
      if (items.every((one, index) => one === value[index])) return value
      // A set is sorted by its spelling, which is another one now.
      return shape.is === 'list' && shape.set ? sortedSet(items) : items
    }
  }
}

function respeltFields(fieldAt: (key: string) => Field, value: Fields, to: Respell): Fields {
  let changed: Record<string, Json | undefined> | null = null
  for (const key of Object.keys(value)) {
    const now = respelt(fieldAt(key), value[key], to)
    if (now === value[key]) continue
    changed ??= { ...value }
    changed[key] = now
  }
  return changed ?? value
}

const sortedSet = (items: readonly Json[]): Json[] =>
  [...new Map(items.map(item => [canonicalJson(item, 'any number'), item]))]
    .sort(([a], [b]) => byName(a, b))
    .map(([, item]) => item)
