// Fields that mean more than their type: durations and sizes, references, secrets, sets, lists with keys. A mark stands
// beside the schema, not in it, so that the JSON Schema stays plain; whoever needs the meaning walks a value with `markedFields`.
import * as z from 'zod'
import { durationOrProblem } from '../lib/duration.ts'
import { sizeOrProblem } from '../lib/size.ts'
import { fittingOption } from './fitting-option.ts'
import { freeParts } from './free-data.ts'

export interface Mark {
  /** Text that has one canonical spelling. */
  readonly unit?: 'duration' | 'size'
  /** Refers to one resource of these kinds. */
  readonly reference?: readonly string[]
  /** `value`: `{secretRef: {key}}` stands for it; `named`: the field is `{name: KEY}`. */
  readonly secret?: 'value' | 'named'
  /** A list without order or repetition. */
  readonly set?: true
  /** Members of a list are the same when they agree in this key; they are compared one by one. */
  readonly listKey?: string
  /** Changing it makes the resource anew. */
  readonly immutable?: true
  /** A plain list of keys stands for a map from each of them to {}. */
  readonly map?: true
  /** Data whose shape the kind does not know. In settings, `{secretRef: …}` and `{variableRef: …}` may stand for any part. */
  readonly free?: 'data' | 'settings'
}

export type FieldPath = readonly (string | number)[]

export interface MarkedField {
  readonly path: FieldPath
  readonly mark: Mark
  readonly value: unknown
}

/** A schema made from a marked one by describe, min or refine keeps the marks; one that wraps it is looked into. */
const marks = z.registry<Mark>()

/** Adds to the marks that the schema already has. */
function mark<Schema extends z.ZodType>(schema: Schema, added: Mark): Schema {
  const marked = schema.clone()
  marks.add(marked, added)
  return marked
}

export const markOf = (schema: z.core.$ZodType): Mark | undefined => marks.get(schema)

/** `90s`, `1h30m`, `7d`. */
export const duration = () =>
  mark(
    z
      .string()
      .refine(text => typeof durationOrProblem(text, '') === 'number', 'is not a duration such as 90s or 1h30m'),
    { unit: 'duration' },
  )

/** `512MiB`, `10GB`. */
export const size = () =>
  mark(
    z.string().refine(text => typeof sizeOrProblem(text, '') === 'number', 'is not a size such as 512MiB or 10GB'),
    { unit: 'size' },
  )

/** `{name}` means a resource of this bundle, `{external}` a live one by its display name; `{id}` is how it is stored. */
export const reference = (...kinds: [string, ...string[]]) =>
  mark(
    z.union([
      z.strictObject({ kind: z.enum(kinds).optional(), name: z.string().min(1) }),
      z.strictObject({ kind: z.enum(kinds).optional(), external: z.string().min(1) }),
      z.strictObject({ kind: z.enum(kinds).optional(), id: z.string().min(1) }),
    ]),
    { reference: kinds },
  )

export const secretKeyPattern = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/

const secretKey = z.string().regex(secretKeyPattern, 'is not the key of a secret: letters, digits, ".", "_" and "-"')

/** A value that is given at apply and never stands in a bundle. */
export const secret = () => mark(z.strictObject({ secretRef: z.strictObject({ key: secretKey }) }), { secret: 'value' })

/** A secret by its key, in the spelling of Kubernetes. */
export const secretName = () => mark(z.strictObject({ name: secretKey }), { secret: 'named' })

/** The key that a field marked `secret` holds; undefined where it holds none. */
export function secretKeyOf(value: unknown): string | undefined {
  const { secretRef, name } = (value ?? {}) as { secretRef?: { key?: unknown }; name?: unknown }
  const key = secretRef ? secretRef.key : name
  return typeof key === 'string' ? key : undefined
}

export const setOf = <Item extends z.ZodType>(item: Item) => mark(z.array(item), { set: true })

export const listBy = <Item extends z.ZodType>(listKey: string, item: Item) => mark(z.array(item), { listKey })

export const immutable = <Schema extends z.ZodType>(schema: Schema) => mark(schema, { immutable: true })

/** A map whose entries may be left out: `[a, b]` means `{a: {}, b: {}}`. */
export const mapOrNames = <Entry extends z.ZodType>(name: z.ZodString, entry: Entry) =>
  mark(z.union([z.array(name), z.record(name, entry)]), { map: true })

/** Any JSON, as it stands. */
export const data = () => mark(z.unknown().check(checkData), { free: 'data' })

/** Any JSON in which secrets and variables may stand for a part. */
export const settings = () => mark(z.unknown().check(checkData, checkRefs), { free: 'settings' })

function checkData({ value, issues }: z.core.ParsePayload): void {
  if (value === undefined) issues.push({ code: 'invalid_type', expected: 'unknown', input: value })
  for (const { path, is } of freeParts(value))
    if (is === 'bad key') issues.push({ code: 'unrecognized_keys', keys: ['__proto__'], path: [...path], input: {} })
}

function checkRefs({ value, issues }: z.core.ParsePayload): void {
  const wrong = (path: FieldPath, found: unknown, form: string) =>
    issues.push({ code: 'custom', path: [...path], message: `is not ${form}`, input: found })
  for (const { path, found, is } of freeParts(value)) {
    if (is === 'secret' && !fits(secretSchema, found)) wrong(path, found, '{ secretRef: { key: … } }')
    if (is === 'variable' && !fits(variableSchema, found)) wrong(path, found, '{ name: … } or { external: … }')
  }
}

const secretSchema = secret()
const variableSchema = reference('Variable')
const fits = (schema: z.ZodType, value: unknown) => z.safeParse(schema, value).success

/**
 * Every marked place that the value has, parents before children, each once. Parts that do not fit the schema are passed over,
 * except that a marked place is told whatever stands there.
 */
export function markedFields(schema: z.core.$ZodType, value: unknown): MarkedField[] {
  const fields: MarkedField[] = []
  collectMarked(schema, value, [], fields)
  return fields
}

/** `path` is where the value stands; it is another while the walk is inside, and the same afterwards. */
function collectMarked(
  schema: z.core.$ZodType,
  value: unknown,
  path: (string | number)[],
  fields: MarkedField[],
): void {
  if (value === undefined) return
  const { bears, mark, inner, shape } = lookAt(schema)
  if (!bears) return
  const inside = (schema: z.core.$ZodType, part: string | number, value: unknown) => {
    path.push(part)
    collectMarked(schema, value, path, fields)
    path.pop()
  }
  if (mark) fields.push({ path: [...path], mark, value })
  if (mark?.free === 'settings')
    for (const { path: below, found, is } of freeParts(value)) {
      if (is === 'secret') fields.push({ path: [...path, ...below], mark: { secret: 'value' }, value: found })
      if (is === 'variable') fields.push({ path: [...path, ...below], mark: { reference: ['Variable'] }, value: found })
    }
  else if (inner instanceof z.ZodUnion) {
    const fitting = fittingOption(inner.options, value)
    if (fitting) collectMarked(fitting, value, path, fields)
  } else if (typeof value !== 'object' || value === null) return
  else if (inner instanceof z.ZodArray && Array.isArray(value))
    for (const [index, item] of value.entries()) inside(inner.element, index, item)
  else if (shape) for (const { key, schema } of shape) inside(schema, key, ownField(value, key))
  else if (inner instanceof z.ZodRecord)
    for (const [key, item] of Object.entries(value)) inside(inner.valueType, key, item)
}

/** What optional, default, nullable, lazy and pipes wrap. */
export function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = wrappedIn(schema)
  return inner ? unwrapped(inner) : schema
}

/** One wrapper less; undefined when there is none. */
export function wrappedIn(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return schema.unwrap()
  if (schema instanceof z.ZodLazy) return schema.unwrap()
  return schema instanceof z.ZodPipe ? schema.in : undefined
}

/** Of a schema with all its wrappers. */
function wholeMark(schema: z.core.$ZodType): Mark | undefined {
  const inner = wrappedIn(schema)
  const own = marks.get(schema)
  const below = inner && wholeMark(inner)
  return own && below ? { ...below, ...own } : (own ?? below)
}

interface Look {
  readonly mark: Mark | undefined
  readonly inner: z.core.$ZodType
  /** Of an object: the fields that bear. */
  shape: readonly { readonly key: string; readonly schema: z.core.$ZodType }[] | undefined
  /** Whether a value of it can have a marked place at all. */
  bears: boolean
}

const looks = new WeakMap<z.core.$ZodType, Look>()

/** Once for each schema. One that contains itself may bear what is not yet known, so it does until then. */
function lookAt(schema: z.core.$ZodType): Look {
  const known = looks.get(schema)
  if (known) return known
  const inner = unwrapped(schema)
  const look: Look = { mark: wholeMark(schema), inner, shape: fieldsOf(inner), bears: true }
  looks.set(schema, look)
  look.bears = look.mark !== undefined || partsOf(inner).some(part => lookAt(part).bears)
  look.shape = look.shape?.filter(({ schema }) => lookAt(schema).bears)
  return look
}

function fieldsOf(schema: z.core.$ZodType): Look['shape'] {
  if (!(schema instanceof z.ZodObject)) return undefined
  return Object.entries(schema.shape).map(([key, field]) => ({ key, schema: field as z.core.$ZodType }))
}

/** The schemas of what a value of it may hold. */
export function partsOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options
  if (schema instanceof z.ZodArray) return [schema.element]
  if (schema instanceof z.ZodObject) return Object.values(schema.shape)
  return schema instanceof z.ZodRecord ? [schema.valueType] : []
}

const ownField = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
