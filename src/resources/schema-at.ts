// What a schema says about one place of a value.
import * as z from 'zod'
import { unwrapped } from './fields.ts'

type Schema = z.core.$ZodType

/** The keys that an object at this place of a value may have. */
export const keysAt = (schema: Schema, path: readonly PropertyKey[]): string[] => [
  ...new Set(schemasAt(schema, path).flatMap(keysOf)),
]

function keysOf(schema: Schema): string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(option => keysOf(unwrapped(option)))
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** What may stand at this place: several where a choice lies on the way. */
export function schemasAt(schema: Schema, path: readonly PropertyKey[]): Schema[] {
  const inner = unwrapped(schema)
  const [part, ...rest] = path
  if (part === undefined) return [inner]
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(option => schemasAt(option, path))
  if (inner instanceof z.ZodRecord) return schemasAt(inner.valueType, rest)
  if (inner instanceof z.ZodArray) return schemasAt(inner.element, rest)
  const field = inner instanceof z.ZodObject ? inner.shape[String(part)] : undefined
  return field ? schemasAt(field, rest) : []
}
