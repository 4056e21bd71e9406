// What a plan needs to know of a schema, made once for each: where a value is compared field by field and where as a whole,
// and where references stand in it.
import * as z from 'zod'
import type { Json } from '../../lib/json.ts'
import { type Mark, markOf, partsOf, wrappedIn } from '../../resources/fields.ts'
import { fittingOption } from '../../resources/fitting-option.ts'

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
  /** Whether a value of it can hold a reference at all. */
  readonly refers: boolean
  /** A change in it, or below it, makes the resource anew. */
  readonly immutable: boolean
}

const leaf: Field = { shape: { is: 'leaf' }, refers: false, immutable: false }

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
  const inner = wrappedIn(schema)
  if (inner) return makeField(inner, mark)
  return { shape: shapeOf(schema, mark), refers: refersIn(schema, mark), immutable: mark.immutable === true }
}

const referring = new WeakMap<z.core.$ZodType, boolean>()

/** One that contains itself may hold what is not yet known, so it does until then. */
function refersIn(schema: z.core.$ZodType, mark: Mark | undefined = markOf(schema)): boolean {
  if (mark?.reference || mark?.free) return true
  const seen = referring.get(schema)
  if (seen !== undefined) return seen
  referring.set(schema, true)
  const inner = wrappedIn(schema)
  const refers = inner ? refersIn(inner) : partsOf(schema).some(part => refersIn(part))
  referring.set(schema, refers)
  return refers
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
        const fitting = fittingOption(options, value)
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
const freeField: Field = { shape: free, refers: true, immutable: false }
const freeList: Field = { shape: { is: 'list', set: false, item: freeItem }, refers: true, immutable: false }
const freeMap: Field = { shape: { is: 'map', field: freeItem }, refers: true, immutable: false }
const variableReference: Field = { shape: { is: 'reference', kinds: ['Variable'] }, refers: true, immutable: false }
const variableField: Field = { shape: { is: 'object', field: () => variableReference }, refers: true, immutable: false }
