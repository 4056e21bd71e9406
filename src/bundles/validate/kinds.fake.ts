// Made-up kinds that together use everything a kind can say, so that the rooms of bundles are tested without knowing a real one.
import * as z from 'zod'
import { durationOrProblem } from '../../lib/duration.ts'
import { duration, immutable, listBy, reference, secret, secretName, setOf, size } from '../../resources/fields.ts'
import { defineKind, type Kind } from '../../resources/kind.ts'

const associations = ['Mark']

/** Like a Label: the target of associations. */
const markKind = defineKind({
  kind: 'Mark',
  summary: 'a mark that others carry',
  displayName: { unique: true, least: 2, most: 50 },
  associations: [],
  spec: z.strictObject({ description: z.string().optional(), color: z.enum(['red', 'green', 'blue']).optional() }),
  columns: [],
  example: 'kind: Mark\nmetadata: { name: edge }\n',
})

/** Unique by display name; has secrets of both forms. */
const storeKind = defineKind({
  kind: 'Store',
  summary: 'a place that has content',
  displayName: { unique: true, least: 1, most: 100 },
  associations,
  spec: z.strictObject({
    url: z.string().min(1),
    user: z.string().optional(),
    password: secret().optional(),
    pullSecrets: z.array(secretName()).optional(),
    retries: z.number().int().min(0).max(10).default(3),
  }),
  columns: [{ title: 'URL', value: ({ spec }) => String(spec.url ?? '') }],
  example: 'kind: Store\nmetadata: { name: main }\nspec: { url: https://example.org }\n',
})

/** Not unique by display name; refers to others; loses data when it is deleted. */
const diskKind = defineKind({
  kind: 'Disk',
  summary: 'a disk made from content',
  displayName: { unique: false, least: 1, most: 100 },
  associations,
  destroysData: true,
  spec: z.strictObject({
    size: size(),
    format: immutable(z.enum(['raw', 'qcow2']).default('raw')),
    store: reference('Store').optional(),
    /** Disks on disks can form a circle. */
    basedOn: reference('Disk').optional(),
    /** Several kinds fit, so the kind is said. */
    origin: reference('Store', 'Disk').optional(),
    share: z.number().min(0).max(1).optional(),
    parts: z.array(z.strictObject({ size: size(), title: z.string().optional() })).optional(),
    notes: z.record(z.string(), z.string()).optional(),
  }),
  columns: [{ title: 'SIZE', value: ({ spec }) => String(spec.size ?? '') }],
  example: 'kind: Disk\nmetadata: { name: data }\nspec: { size: 10GiB }\n',
})

const ruleSpec = {
  every: duration(),
  offset: duration().optional(),
  status: z.enum(['active', 'inactive']).default('active'),
}

function offsetWithinEvery(spec: Readonly<Record<string, unknown>>) {
  const offset = durationOrProblem(String(spec.offset ?? '0s'), '')
  const every = durationOrProblem(String(spec.every), '')
  return offset < every
    ? []
    : [
        {
          path: ['offset'],
          code: 'value.range' as const,
          reason: 'must be shorter than every',
          hint: 'Make it shorter.',
        },
      ]
}

/** RuleA and RuleB are one family: they share names and display names. */
const ruleAKind = defineKind({
  kind: 'RuleA',
  family: 'RuleFamily',
  summary: 'a rule with a threshold',
  displayName: { unique: true, least: 1, most: 100 },
  associations,
  spec: z.strictObject({ ...ruleSpec, threshold: z.number() }),
  rules: offsetWithinEvery,
  columns: [],
  example: 'kind: RuleA\nmetadata: { name: hot }\nspec: { every: 1m, threshold: 80 }\n',
})

const ruleBKind = defineKind({
  kind: 'RuleB',
  family: 'RuleFamily',
  summary: 'a rule that watches for silence',
  displayName: { unique: true, least: 1, most: 100 },
  associations,
  spec: z.strictObject({ ...ruleSpec, silentFor: duration() }),
  rules: offsetWithinEvery,
  columns: [],
  example: 'kind: RuleB\nmetadata: { name: silent }\nspec: { every: 1m, silentFor: 5m }\n',
})

/** A list with keys, a set, and Stores that are named by display name in the keys of a map. */
const groupKind = defineKind({
  kind: 'Group',
  summary: 'members with weights',
  displayName: { unique: true, least: 1, most: 100 },
  associations,
  spec: z.strictObject({
    members: listBy(
      'name',
      z.strictObject({ name: z.string().min(1), weight: z.number().int().default(1) }),
    ).optional(),
    tags: setOf(z.string()).optional(),
    /** Display name of a Store to its share. */
    stores: z.record(z.string(), z.strictObject({ share: z.number().int().optional() })).optional(),
  }),
  namedReferences: spec =>
    Object.keys(spec.stores ?? {}).map(name => ({ path: ['stores', name], kind: 'Store', name, optional: false })),
  columns: [],
  example: 'kind: Group\nmetadata: { name: all }\nspec: { tags: [a] }\n',
})

/** Known by a version of its own: a document without apiVersion cannot mean it. */
export const foreignKind: Kind = {
  ...defineKind({
    kind: 'Foreign',
    summary: 'a kind of another platform',
    displayName: { unique: true, least: 1, most: 100 },
    associations: [],
    spec: z.strictObject({ description: z.string().optional() }),
    columns: [],
    example: 'apiVersion: foreign.example/v1\nkind: Foreign\nmetadata: { name: far }\n',
  }),
  apiVersion: 'foreign.example/v1',
}

export const testKinds: readonly Kind[] = [markKind, storeKind, diskKind, ruleAKind, ruleBKind, groupKind, foreignKind]
