// The kinds as JSON Schema, for editors and other programs that write or check these files. What a person may write stands in it:
// env refs for any scalar, references by name; not how things are stored.
import * as z from 'zod'
import { specSchemaOf } from './canonical.ts'
import { contentSettingsSchema } from './content-settings.ts'
import { markOf } from './fields.ts'
import type { Kind } from './kind.ts'
import { kinds } from './kinds/all.ts'
import { metadataSchema } from './metadata.ts'
import { overlayConfigSchema } from './overlay-config.ts'
import type { SchemaName } from './schema-names.ts'

export type JsonSchema = z.core.JSONSchema.BaseSchema

const draft = 'https://json-schema.org/draft/2020-12/schema'

export const jsonSchemas = {
  ...(Object.fromEntries(kinds.map(kind => [kind.kind, () => documentJsonSchema(kind)])) as Record<
    SchemaName,
    () => JsonSchema
  >),
  Bundle: bundleJsonSchema,
  ContentSettings: () => z.toJSONSchema(contentSettingsSchema),
  OverlayConfig: () => z.toJSONSchema(overlayConfigSchema),
} satisfies Record<SchemaName, () => JsonSchema>

/** Of one document: `{apiVersion, kind, metadata, spec}`. */
export const documentJsonSchema = (kind: Kind): JsonSchema => ({
  $schema: draft,
  ...documentOf(kind),
  $defs: { EnvRef: envRefSchema },
})

/** Of any document, by its kind, or of a list of them. */
function bundleJsonSchema(): JsonSchema {
  const anyKind: JsonSchema = {
    type: 'object',
    properties: { kind: { enum: kinds.map(({ kind }) => kind), description: 'What it is.' } },
    required: ['kind'],
    allOf: kinds.map(({ kind }) => ({
      if: { properties: { kind: { const: kind } }, required: ['kind'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/$defs/${kind}` },
    })),
  }
  return {
    $schema: draft,
    title: 'Bundle',
    description: 'Resources that are applied together.',
    if: { type: 'array' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { items: { $ref: '#/$defs/Resource' } },
    else: { $ref: '#/$defs/Resource' },
    $defs: {
      EnvRef: envRefSchema,
      Resource: anyKind,
      ...Object.fromEntries(kinds.map(kind => [kind.kind, documentOf(kind)])),
    },
  }
}

function documentOf(kind: Kind): JsonSchema {
  const spec = specOf(kind)
  return {
    title: kind.kind,
    description: `${kind.summary[0]?.toUpperCase()}${kind.summary.slice(1)}. ${kind.description.join(' ')}`.trim(),
    type: 'object',
    properties: {
      apiVersion: { const: kind.apiVersion, description: `Default ${kind.apiVersion}.` },
      kind: { const: kind.kind },
      metadata: withEnvRefs(inputOf(metadataSchema)),
      spec,
      status: { description: 'Written by Cairn; left out when the document is applied.' },
    },
    required: spec.required?.length ? ['kind', 'metadata', 'spec'] : ['kind', 'metadata'],
    additionalProperties: false,
  }
}

function specOf(kind: Kind): JsonSchema {
  const { properties = {}, ...rest } = inputOf(specSchemaOf(kind))
  const { least, most, pattern } = kind.displayName
  const name = {
    ...(properties.name as JsonSchema),
    maxLength: most,
    // '' means metadata.name.
    pattern: pattern ? `^$|${pattern.source}` : `^$|^[\\s\\S]{${least},}$`,
  }
  const associations = { ...(properties.associations as JsonSchema), ...associationsOf(kind) }
  return withEnvRefs({ ...rest, properties: { ...properties, name, associations } })
}

const associationsOf = ({ associations }: Kind): JsonSchema =>
  associations.length === 0
    ? { maxItems: 0 }
    : { items: named({ kind: { enum: [...associations], description: 'Of what it carries.' } }, ['kind']) }

/** One of this bundle or a live one. */
const named = (properties: Record<string, JsonSchema>, required: string[]): JsonSchema => ({
  anyOf: Object.entries({
    name: 'metadata.name of a resource of this bundle.',
    external: 'Display name of a live resource that is used, not owned.',
  }).map(([key, description]) => ({
    type: 'object',
    properties: { ...properties, [key]: { type: 'string', minLength: 1, description } },
    required: [...required, key],
    additionalProperties: false,
  })),
})

/** As written, before defaults are filled. */
const inputOf = (schema: z.ZodType): JsonSchema => {
  const { $schema, ...made } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const mark = markOf(zodSchema)
      if (mark?.reference) becomeReference(jsonSchema, mark.reference)
      if (mark?.unit) jsonSchema.examples = mark.unit === 'duration' ? ['90s', '1h30m', '7d'] : ['512MiB', '10GB']
    },
  })
  return made
}

function becomeReference(schema: JsonSchema, kinds: readonly string[]): void {
  const kind: JsonSchema = { enum: [...kinds], description: 'Only needed where several fit.' }
  Object.assign(schema, named({ kind }, kinds.length > 1 ? ['kind'] : []))
}

const envRefSchema: JsonSchema = {
  type: 'object',
  description: 'A value that is given at plan and apply.',
  properties: {
    envRef: {
      type: 'object',
      properties: {
        key: { type: 'string', minLength: 1, description: 'By which it is given: --env KEY=VALUE.' },
        default: { type: ['string', 'number', 'boolean'], description: 'When nothing is given.' },
        type: {
          enum: ['string', 'integer', 'number', 'boolean', 'duration', 'size', 'time'],
          description: 'What the value must be.',
        },
      },
      required: ['key'],
      additionalProperties: false,
    },
  },
  required: ['envRef'],
  additionalProperties: false,
}

const parts = ['items', 'additionalProperties'] as const
const lists = ['anyOf', 'oneOf', 'allOf'] as const

/** Wherever a scalar may stand, an env ref may. */
function withEnvRefs(schema: JsonSchema): JsonSchema {
  if (isScalar(schema)) return orEnvRef(schema)
  const made: JsonSchema = { ...schema }
  if (schema.properties) made.properties = mapValues(schema.properties, withEnvRefs)
  for (const part of parts) {
    const inner = schema[part]
    if (typeof inner === 'object' && !Array.isArray(inner)) made[part] = withEnvRefs(inner as JsonSchema)
  }
  for (const list of lists) if (schema[list]) made[list] = schema[list].map(inner => withEnvRefs(inner as JsonSchema))
  return made
}

const isScalar = ({ type, enum: values, const: value }: JsonSchema): boolean =>
  values !== undefined || value !== undefined || ['string', 'number', 'integer', 'boolean'].includes(String(type))

/** What is about the field, and not about the form of its value, stays in front. A number does where text is wanted. */
function orEnvRef({ description, default: fallback, examples, ...scalar }: JsonSchema): JsonSchema {
  const isText = scalar.type === 'string' && scalar.enum === undefined && scalar.const === undefined
  return {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples !== undefined && { examples }),
    anyOf: [{ ...scalar, ...(isText && { type: ['string', 'number'] }) } as JsonSchema, { $ref: '#/$defs/EnvRef' }],
  }
}

const mapValues = (fields: Readonly<Record<string, unknown>>, change: (field: JsonSchema) => JsonSchema) =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, change(field as JsonSchema)]))
