// Where a platform chooses ids, what was planned under one id stands under another: in writes, references and the record.
import type { Json } from '../../lib/json.ts'
import type { Spec } from '../../resources/kind.ts'
import type { LiveId, WholeResource, Write } from '../platform.ts'

/** Planned or former id to the one it has now. */
export type Ids = ReadonlyMap<string, string>

export function withIds<Given extends Write>(write: Given, ids: Ids): Given
export function withIds(write: Write, ids: Ids): Write {
  if (ids.size === 0) return write
  switch (write.do) {
    case 'create':
    case 'update':
    case 'restore':
      return { ...write, ...wholeWithIds(write, ids) }
    case 'remove':
      return { ...write, ...liveIdWith(write, ids) }
    case 'associate':
    case 'dissociate':
      return { ...write, from: liveIdWith(write.from, ids), to: liveIdWith(write.to, ids) }
    default:
      return write
  }
}

export const liveIdWith = ({ kind, id }: LiveId, ids: Ids): LiveId => ({ kind, id: ids.get(id) ?? id })

function wholeWithIds(whole: WholeResource, ids: Ids): Pick<WholeResource, 'id' | 'spec' | 'refersTo'> {
  const moved = whole.refersTo.some(({ id }) => ids.has(id))
  return {
    id: ids.get(whole.id) ?? whole.id,
    spec: moved ? (specWithIds(whole.spec, ids) as Spec) : whole.spec,
    refersTo: moved ? whole.refersTo.map(target => liveIdWith(target, ids)) : whole.refersTo,
  }
}

/** A reference in a live spec is `{kind?, id}` and nothing else. */
function specWithIds(value: Json | undefined, ids: Ids): Json | undefined {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(item => specWithIds(item, ids) ?? null)
  const fields = value as { readonly [key: string]: Json | undefined }
  const id = typeof fields.id === 'string' ? ids.get(fields.id) : undefined
  if (id !== undefined && Object.keys(fields).every(key => key === 'id' || key === 'kind')) return { ...fields, id }
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, specWithIds(field, ids)]))
}
