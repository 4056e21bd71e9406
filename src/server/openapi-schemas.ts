// JSON Schemas for the OpenAPI document: what many routes share becomes a component, and everything else points to it.
import * as z from 'zod'
import { planSchema } from '../bundles/model/plan.ts'
import { leaseSchema, stackEventSchema, stackSchema } from '../bundles/model/stack.ts'
import { problemSchema, summarySchema } from '../bundles/model/summary.ts'
import type { Json } from '../lib/json.ts'
import { documentJsonSchema } from '../resources/json-schema.ts'
import type { Kind } from '../resources/kind.ts'
import { outcomeSchema, sourceSchema } from './contract/bundles.ts'
import { liveSchema } from './contract/resources.ts'
import { errorSchema } from './contract/route.ts'

export type JsonSchema = Readonly<Record<string, Json>>

const shared = z
  .registry<{ id: string }>()
  .add(problemSchema, { id: 'Problem' })
  .add(errorSchema, { id: 'Error' })
  .add(summarySchema, { id: 'Summary' })
  .add(planSchema, { id: 'Plan' })
  .add(stackSchema, { id: 'Stack' })
  .add(stackEventSchema, { id: 'StackEvent' })
  .add(leaseSchema, { id: 'Lease' })
  .add(outcomeSchema, { id: 'Outcome' })
  .add(sourceSchema, { id: 'Source' })
  .add(liveSchema, { id: 'LiveResource' })

export type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema

/** Inline, except for what is shared: that goes into the components once, and is referred to. */
export function schemaWriter(components: Record<string, JsonSchema>): SchemaOf {
  return (schema, io) => {
    const made = z.toJSONSchema(schema, { io, metadata: shared, unrepresentable: 'any' }) as {
      $defs?: Record<string, JsonSchema>
      $schema?: string
    } & Record<string, Json>
    const { $schema: _, $defs = {}, ...whole } = made
    for (const [name, part] of Object.entries($defs))
      if (!isAnyJson(part)) components[name] ??= pointed(part, $defs) as JsonSchema
    const id = shared.get(schema)?.id
    if (id === undefined) return pointed(whole, $defs) as JsonSchema
    if (whole.$ref === undefined) components[id] ??= pointed(whole, $defs) as JsonSchema
    return { $ref: `#/components/schemas/${id}` }
  }
}

/** `z.json()` spells out what JSON is, with a name of its own each time. */
const isAnyJson = (part: JsonSchema | undefined): boolean =>
  Array.isArray(part?.anyOf) &&
  part.anyOf.some(member => (member as JsonSchema).type === 'null') &&
  part.anyOf.length >= 5

function pointed(value: Json, $defs: Record<string, JsonSchema>): Json {
  if (Array.isArray(value)) return value.map(item => pointed(item, $defs))
  if (value === null || typeof value !== 'object') return value
  const fields = value as Readonly<Record<string, Json>>
  const { $ref } = fields
  if (typeof $ref === 'string' && $ref.startsWith('#/$defs/')) {
    const name = $ref.slice('#/$defs/'.length)
    const { $ref: _, ...beside } = fields
    return { ...beside, $ref: `#/components/schemas/${isAnyJson($defs[name]) ? 'Json' : name}` }
  }
  if (isAnyJson(fields as JsonSchema)) return { $ref: '#/components/schemas/Json' }
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, pointed(field, $defs)]))
}

/** A kind's own schema stands alone; its inner definitions move with it. */
export function kindSchema(kind: Kind): JsonSchema {
  const { $schema: _, $id: __, ...schema } = documentJsonSchema(kind) as Record<string, Json>
  return rooted(schema, `#/components/schemas/${kind.kind}`) as JsonSchema
}

function rooted(value: Json, root: string): Json {
  if (Array.isArray(value)) return value.map(item => rooted(item, root))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Json>>).map(([key, field]) => [
      key,
      key === '$ref' && typeof field === 'string' && field.startsWith('#')
        ? root + field.slice(1)
        : rooted(field, root),
    ]),
  )
}
