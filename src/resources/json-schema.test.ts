import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { documentJsonSchema, type JsonSchema, jsonSchemas } from './json-schema.ts'
import { defineKind, type Kind } from './kind.ts'
import { kinds } from './kinds/all.ts'
import { schemaNames } from './schema-names.ts'

const kindOf = (name: string): Kind => kinds.find(({ kind }) => kind === name)!

/** zod reads our JSON Schema back: another reader than the one that wrote it. */
const accepts = (schema: JsonSchema, value: unknown) => z.fromJSONSchema(schema as never).safeParse(value).success

/** Every schema within a schema, with its place. */
function* parts(schema: unknown, path = '#'): Generator<[string, JsonSchema]> {
  if (typeof schema !== 'object' || schema === null) return
  if (!Array.isArray(schema)) yield [path, schema as JsonSchema]
  for (const [key, part] of Object.entries(schema)) yield* parts(part, `${path}/${key}`)
}

it('has a schema for every kind, for bundles and for the files of a machine', () => {
  expect(Object.keys(jsonSchemas).sort()).toEqual([...schemaNames])
  expect(schemaNames).toEqual(expect.arrayContaining(kinds.map(({ kind }) => kind)))
})

describe.each(kinds.map(kind => [kind.kind, kind] as const))('the schema of %s', (_, kind) => {
  const schema = documentJsonSchema(kind)
  const example = parse(kind.example) as Record<string, unknown>

  it('takes its example', () => {
    expect(accepts(schema, example)).toBe(true)
  })

  it('refuses another kind, a stray key and a document without a name', () => {
    expect(accepts(schema, { ...example, kind: 'Other' })).toBe(false)
    expect(accepts(schema, { ...example, spec: { ...(example.spec as object), stray: 1 } })).toBe(false)
    expect(accepts(schema, { ...example, metadata: {} })).toBe(false)
  })

  it('has what it refers to within itself, and nothing of how references are stored', () => {
    const all = [...parts(schema)].map(([, part]) => part)
    const defs = Object.keys(schema.$defs ?? {}).map(name => `#/$defs/${name}`)
    expect(all.flatMap(({ $ref }) => $ref ?? []).filter(ref => !defs.includes(ref))).toEqual([])
    const stored = all.filter(({ properties }) => properties && 'kind' in properties && 'id' in properties)
    expect(stored).toEqual([])
  })

  it('says about every field of the spec what it is for', () => {
    const { spec } = schema.properties as { spec: { properties: Record<string, JsonSchema> } }
    for (const [key, field] of Object.entries(spec.properties))
      expect([key, field.description]).toEqual([key, expect.any(String)])
  })
})

describe('a document', () => {
  const volume = (spec: unknown, metadata: unknown = { name: 'v' }) => ({ kind: 'Volume', metadata, spec })
  const takes = (document: unknown) => accepts(documentJsonSchema(kindOf('Volume')), document)

  it('needs no apiVersion, and no spec where none is required', () => {
    expect(takes({ kind: 'Volume', metadata: { name: 'v' } })).toBe(true)
    expect(accepts(documentJsonSchema(kindOf('CachedImage')), { kind: 'CachedImage', metadata: { name: 'v' } })).toBe(
      false,
    )
  })

  it('may have an env ref for any scalar', () => {
    const envRef = { envRef: { key: 'k', default: 5, type: 'integer' } }
    expect(takes(volume({ name: envRef, size: envRef, readOnly: envRef, generation: envRef, origin: envRef }))).toBe(
      true,
    )
    expect(takes(volume({ machine: { name: envRef } }, { name: envRef, lifecycle: { onRemove: envRef } }))).toBe(true)
    expect(takes(volume({ size: { envRef: {} } }))).toBe(false)
    expect(takes(volume({ size: { envRef: { key: 'k', stray: 1 } } }))).toBe(false)
  })

  it('refers by name or to a live one, and is associated with what the kind allows', () => {
    expect(takes(volume({ machine: { name: 'm' } }))).toBe(true)
    expect(takes(volume({ machine: { external: 'm' } }))).toBe(true)
    expect(takes(volume({ machine: { id: 'm' } }))).toBe(false)
    expect(takes(volume({ associations: [{ kind: 'Label', name: 'l' }] }))).toBe(true)
    expect(takes(volume({ associations: [{ kind: 'Machine', name: 'l' }] }))).toBe(false)
  })

  it('may have a number where text is wanted', () => {
    expect(takes(volume({ size: 4096, description: 3 }))).toBe(true)
    expect(takes(volume({ description: true }))).toBe(false)
  })

  it('has a display name within the bounds of its kind, or an empty one', () => {
    const label = (name: string) => ({ kind: 'Label', metadata: { name: 'l' }, spec: { name } })
    const schema = documentJsonSchema(kindOf('Label'))
    expect(['', 'ab', 'a'].map(name => accepts(schema, label(name)))).toEqual([true, true, false])
  })

  it('has secrets only by key', () => {
    const store = (password: unknown) => ({ kind: 'Datastore', metadata: { name: 'd' }, spec: { password } })
    const schema = documentJsonSchema(kindOf('Datastore'))
    expect(accepts(schema, store({ secretRef: { key: 'k' } }))).toBe(true)
    expect(accepts(schema, store('geheim'))).toBe(false)
  })
})

it('is made of a made-up kind, too', () => {
  const kind = defineKind({
    kind: 'Shelf',
    summary: 'made up',
    displayName: { unique: true, least: 1, most: 9 },
    spec: z.strictObject({ count: z.number().int().default(1).describe('How many.') }),
    columns: [],
    example: '',
  })
  expect(documentJsonSchema(kind)).toMatchObject({
    title: 'Shelf',
    description: 'Made up.',
    required: ['kind', 'metadata'],
    properties: {
      spec: {
        properties: {
          count: { description: 'How many.', default: 1, anyOf: [{ type: 'integer' }, { $ref: '#/$defs/EnvRef' }] },
        },
      },
    },
  })
})

describe('the schema of a bundle', () => {
  const {
    $defs,
    if: isList,
    then: ofList,
    else: ofOne,
  } = jsonSchemas.Bundle() as JsonSchema & { $defs: Record<string, JsonSchema> }

  it('is that of each kind, by the kind that a document says', () => {
    expect([isList, ofList, ofOne]).toEqual([
      { type: 'array' },
      { items: { $ref: '#/$defs/Resource' } },
      { $ref: '#/$defs/Resource' },
    ])
    expect($defs.Resource?.allOf).toEqual(
      kinds.map(({ kind }) => ({
        if: { properties: { kind: { const: kind } }, required: ['kind'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { $ref: `#/$defs/${kind}` },
      })),
    )
  })

  it('holds the same as the schema of a kind alone', () => {
    for (const kind of kinds) {
      const { $schema, $defs: own, ...document } = documentJsonSchema(kind)
      expect($defs[kind.kind]).toEqual(document)
      expect($defs).toMatchObject(own as object)
    }
  })
})
