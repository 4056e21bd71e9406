// What a plan needs to know of a schema, made once for each: where a value is compared field by field and where as a whole,
// and where references stand in it.
import * as z from 'zod'
import type { Json } from '../../lib/json.ts'
import { type Mark, markOf } from '../../resources/fields.ts'

export type Shape =
  /** Compared as a whole. */
  | { readonly is: 'leaf' }
  | { readonly is: 'reference'; readonly kinds: readonly string[] }
  /** Field by field. `map`: any key, and each stands for itself, so that one can go while others stay. */
  | { readonly is: 'object' | 'map'; field(key: string): Field }
  /** Members that agree in `key` are the same one. */
  | { readonly is: 'keyed list'; readonly key: string; item(): Field }
  /** Compared as a whole; its members may hold references. */
  | { readonly is: 'list'; readonly set: boolean; item(): Field }
  /** The variants of a union; values of one variant are compared by it, others as a whole. */
  | { readonly is: 'union'; variant(value: Json): Field | undefined }

export interface Field {
  readonly shape: Shape
  /** A change in it, or below it, makes the resource anew. */
  readonly immutable: boolean
}

const leaf: Field = { shape: { is: 'leaf' }, immutable: false }

const known = new WeakMap<z.core.$ZodType, Field>()

export function fieldOf(schema: z.core.$ZodType): Field {
  let field = known.get(schema)
  if (!field) {
    field = makeField(schema, {})
    known.set(schema, field)
  }
  return field
}

/** Wrappers are looked through; marks of all of them count. */
function makeField(schema: z.core.$ZodType, outer: Mark): Field {
  const mark: Mark = { ...markOf(schema), ...outer }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return makeField(schema.unwrap(), mark)
  if (schema instanceof z.ZodLazy) return makeField(schema.unwrap(), mark)
  if (schema instanceof z.ZodPipe) return makeField(schema.in, mark)
  return { shape: shapeOf(schema, mark), immutable: mark.immutable === true }
}

function shapeOf(schema: z.core.$ZodType, mark: Mark): Shape {
  if (mark.reference) return { is: 'reference', kinds: mark.reference }
  if (mark.secret) return leaf.shape
  if (mark.free) return free
  if (schema instanceof z.ZodObject) {
    const { shape } = schema
    return { is: 'object', field: key => (Object.hasOwn(shape, key) ? fieldOf(shape[key]!) : leaf) }
  }
  if (schema instanceof z.ZodRecord) return { is: 'map', field: () => fieldOf(schema.valueType) }
  if (schema instanceof z.ZodArray) {
    const item = () => fieldOf(schema.element)
    return mark.listKey === undefined
      ? { is: 'list', set: mark.set === true, item }
      : { is: 'keyed list', key: mark.listKey, item }
  }
  if (schema instanceof z.ZodUnion) {
    const { options } = schema
    if (options.every(option => fieldOf(option).shape.is === 'leaf')) return leaf.shape
    return {
      is: 'union',
      variant: value => {
        const fitting = options.find(option => z.safeParse(option, value).success)
        return fitting && fieldOf(fitting)
      },
    }
  }
  return leaf.shape
}

// Data whose shape nobody here knows: maps by their keys, everything else as a whole. `{variableRef}` holds a reference.
const freeItem = (): Field => freeField
const free: Shape = {
  is: 'union',
  variant: value => {
    if (Array.isArray(value)) return freeList
    if (typeof value !== 'object' || value === null) return leaf
    const [key, ...more] = Object.keys(value)
    if (more.length > 0) return freeMap
    if (key === 'secretRef') return leaf
    return key === 'variableRef' ? variableField : freeMap
  },
}
const freeField: Field = { shape: free, immutable: false }
const freeList: Field = { shape: { is: 'list', set: false, item: freeItem }, immutable: false }
const freeMap: Field = { shape: { is: 'map', field: freeItem }, immutable: false }
const variableReference: Field = { shape: { is: 'reference', kinds: ['Variable'] }, immutable: false }
const variableField: Field = { shape: { is: 'object', field: () => variableReference }, immutable: false }
