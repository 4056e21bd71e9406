// A bundle that has been read: resources with their identity, in canonical form. It has no state; only a stack has.
import type { Json } from '../../lib/json.ts'
import type { SourceRange } from '../../lib/problem.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { Lifecycle } from '../../resources/metadata.ts'

/** How a bundle names another resource: one of its own by metadata.name, or a live one by display name. */
export interface Target {
  readonly kind: string
  readonly name?: string
  readonly external?: string
}

export interface BundleResource {
  readonly kind: Kind
  readonly apiVersion: string
  /** metadata.name: the identity in bundle and stack, within the kind's family. */
  readonly name: string
  readonly displayName: string
  /** Canonical: defaults filled, sets sorted, units in one spelling; references as written; without name and associations. */
  readonly spec: Spec
  /** Sorted, without repetition. */
  readonly associations: readonly Target[]
  readonly lifecycle: Lifecycle
  readonly movedFrom: readonly string[]
  /** Hard references, with the place in spec of each. */
  readonly references: readonly BundleReference[]
  readonly secretKeys: readonly string[]
  readonly envRefs: readonly EnvUse[]
  readonly source?: SourceRange
}

export interface BundleReference {
  /** `spec.datastore`. */
  readonly path: string
  readonly target: Target
  /** Meant by display name (in a key or text): the spec keeps the name, and unknown is no Problem when optional. */
  readonly byDisplayName: boolean
  readonly optional: boolean
}

/** One place where a value comes from outside. */
export interface EnvUse {
  /** `spec.size`, `metadata.name`. */
  readonly path: string
  readonly key: string
  readonly type?: string
  /** What stands there now; the placeholder `env-<key>` while there is neither a value nor a default. */
  readonly value: Json
  readonly default?: Json
}

export interface Bundle {
  /** Sorted by kind, then name. */
  readonly resources: readonly BundleResource[]
  /** Over everything that decides what is applied: file order and key order do not matter. */
  readonly hash: string
}

/** `Label/edge`; other platforms than Cairn's own stand before it: `influx:Bucket/x`. */
export const addressOf = (
  { kind, name }: { kind: Pick<Kind, 'kind'> | string; name: string },
  platform: string | undefined = '',
): string => `${platform && `${platform}:`}${typeof kind === 'string' ? kind : kind.kind}/${name}`

/** Identity in a stack: equal for two kinds of one family. */
export const identityOf = ({ kind, name }: { kind: Pick<Kind, 'family'>; name: string }): string =>
  `${kind.family}/${name}`
