// What a kind of resource is, as one value: its schema, its identity, what it refers to, how it prints. The JSON Schema, the
// OpenAPI document, the reference page, the diff, the export and the graph of references are all made from it.
import type * as z from 'zod'
import type { Json } from '../lib/json.ts'

export interface Kind {
  /** `group/version`. */
  readonly apiVersion: string
  readonly kind: string
  /** Kinds of one family share a name space: no two of them have the same metadata.name in one stack. */
  readonly family: string
  /** One line, lower case, no full stop. */
  readonly summary: string
  /** Paragraphs for the reference page. */
  readonly description: readonly string[]
  readonly displayName: DisplayName
  /** Kinds that it may be associated with. */
  readonly associations: readonly string[]
  /** Deleting one loses what Cairn cannot make again. */
  readonly destroysData: boolean
  /** Without `name` and `associations`, which every kind has. */
  readonly spec: z.ZodObject
  /** What its controller reports; null where there is none. */
  readonly status: z.ZodObject | null
  /** Rules between fields, which a schema cannot say. Called with a spec that fits the schema. */
  rules(spec: Spec): readonly BrokenRule[]
  /** References that stand in keys or text, where no field can be marked. */
  namedReferences(spec: Spec): readonly NamedReference[]
  /** What `cairn get` shows beside name and age. */
  readonly columns: readonly Column[]
  /** One document in YAML; read by a test and shown on the reference page. */
  readonly example: string
}

/** A spec as plain data. */
export type Spec = { readonly [key: string]: Json | undefined }

export interface DisplayName {
  /** On the whole platform, over the family. */
  readonly unique: boolean
  readonly least: number
  readonly most: number
  /** For names that become host names, unit names and keys. */
  readonly pattern?: RegExp
}

export interface BrokenRule {
  readonly path: readonly (string | number)[]
  readonly code: `${string}.${string}`
  readonly reason: string
  readonly hint?: string
}

/** A resource that is meant by its display name, in this bundle or live. */
export interface NamedReference {
  readonly path: readonly (string | number)[]
  readonly kind: string
  readonly name: string
  /** Unknown is no Problem. */
  readonly optional: boolean
}

export interface Column {
  readonly title: string
  /** Of the live resource; '' prints as a dash. */
  value(resource: { readonly spec: Spec; readonly status: Spec | null }): string
  /** Only with --wide. */
  readonly wide?: boolean
}

type Optional = 'family' | 'description' | 'associations' | 'destroysData' | 'status' | 'rules' | 'namedReferences'

export function defineKind(kind: Omit<Kind, Optional | 'apiVersion'> & Partial<Pick<Kind, Optional>>): Kind {
  return {
    apiVersion: 'cairn.dev/v1',
    family: kind.kind,
    description: [],
    associations: ['Label'],
    destroysData: false,
    status: null,
    rules: () => [],
    namedReferences: () => [],
    ...kind,
  }
}

/** By name, the first where several platforms have one. */
export const byKind = (kinds: readonly Kind[]): ReadonlyMap<string, Kind> =>
  new Map(kinds.toReversed().map(kind => [kind.kind, kind]))

/** The group of `group/version`: moving to another version of it keeps the identity of a resource. */
export const groupOf = (apiVersion: string): string => apiVersion.replace(/\/[^/]*$/, '')
