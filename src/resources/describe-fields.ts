// The fields of a schema in words, for the reference page: one row for each, in order, nested ones by their path.
import * as z from 'zod'
import { markOf, unwrapped } from './fields.ts'

export interface FieldAbout {
  /** `sources[].prometheus.query`, `roles.*.settings`. */
  readonly path: string
  readonly type: string
  readonly required?: boolean
  readonly fallback?: string
  /** '' when the schema says nothing. */
  readonly about: string
}

export function describeFields(schema: z.ZodObject, prefix = ''): FieldAbout[] {
  return Object.entries(schema.shape).flatMap(([key, field]) => {
    const path = prefix + key
    return [{ path, ...aboutField(field) }, ...below(field, path)]
  })
}

function aboutField(field: z.core.$ZodType): Omit<FieldAbout, 'path'> {
  const fallback = defaultOf(field)
  return {
    type: typeOf(field),
    ...(fallback === undefined && field._zod.optin === undefined && { required: true }),
    ...(fallback !== undefined && { fallback: typeof fallback === 'string' ? fallback : JSON.stringify(fallback) }),
    about: isImmutable(field) ? `${aboutOf(field)} Changing it makes the resource anew.` : aboutOf(field),
  }
}

/** The outermost words count. */
function aboutOf(field: z.core.$ZodType): string {
  const words = z.globalRegistry.get(field)?.description
  if (words !== undefined) return words
  return isWrapper(field) ? aboutOf(field.unwrap()) : ''
}

const isImmutable = (field: z.core.$ZodType): boolean =>
  markOf(field)?.immutable === true || (isWrapper(field) && isImmutable(field.unwrap()))

function defaultOf(field: z.core.$ZodType): unknown {
  if (field instanceof z.ZodDefault) return field.def.defaultValue
  return isWrapper(field) ? defaultOf(field.unwrap()) : undefined
}

const isWrapper = (field: z.core.$ZodType): field is z.ZodOptional | z.ZodDefault | z.ZodNullable =>
  field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable

function typeOf(field: z.core.$ZodType): string {
  const inner = unwrapped(field)
  const mark = markOf(inner)
  if (mark?.unit) return mark.unit
  if (mark?.reference) return `reference to ${mark.reference.join(' or ')}`
  if (mark?.secret) return mark.secret === 'value' ? 'secret' : '{name: secret}'
  if (mark?.free) return mark.free
  if (mark?.map) return 'map, or list of names'
  if (inner instanceof z.ZodEnum) return inner.options.join(' | ')
  if (inner instanceof z.ZodLiteral) return [...inner.values].join(' | ')
  if (inner instanceof z.ZodUnion) return [...new Set(inner.options.map(typeOf))].join(' | ')
  if (inner instanceof z.ZodArray) return `${mark?.set ? 'set' : 'list'} of ${typeOf(inner.element)}`
  if (inner instanceof z.ZodRecord) return `map of ${typeOf(inner.valueType)}`
  return plainTypes[inner._zod.def.type] ?? inner._zod.def.type
}

const plainTypes: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
}

/** The rows under a field that holds objects. */
function below(field: z.core.$ZodType, path: string): FieldAbout[] {
  const inner = unwrapped(field)
  const mark = markOf(inner)
  if (mark?.reference || mark?.secret || mark?.free) return []
  if (inner instanceof z.ZodObject) return describeFields(inner, `${path}.`)
  if (inner instanceof z.ZodArray) return below(inner.element, `${path}[]`)
  if (inner instanceof z.ZodRecord) return below(inner.valueType, `${path}.*`)
  return inner instanceof z.ZodUnion ? inner.options.flatMap(option => below(option, path)) : []
}
