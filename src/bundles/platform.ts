// The port to what bundles are applied to. Cairn's own control plane is the first platform; another one is a folder of kinds
// and one implementation of this. The engine knows no kind.
// Reads are of many at once, so that a plan over 10,000 resources costs a few queries.

import type { Problem } from '../lib/problem.ts'
import type { Secret } from '../lib/redact.ts'
import type { Kind, Spec } from '../resources/kind.ts'

export interface Platform {
  /** Stands before addresses of this platform; '' for Cairn's own. */
  readonly name: string
  readonly kinds: readonly Kind[]
  /**
   * shared: all writes go through StoreTransaction.write, in the transaction that also writes the record and the event.
   * journal: each write is made by `write` on its own, journaled before, undone in reverse when a later one fails.
   */
  readonly transaction: 'shared' | 'journal'
  /** Cairn chooses the ids, so that an unanswered create can be found again. */
  readonly clientIds: boolean
  /** Absent ids are not in the map. */
  read(ids: readonly LiveId[]): Promise<ReadonlyMap<string, Live | Unreadable>>
  /** Every live resource of these kinds with one of these display names. */
  find(wanted: readonly { readonly kind: string; readonly displayName: string }[]): Promise<readonly Live[]>
  /** In a fixed order; `next` is absent on the last page. */
  list(filter: LiveFilter, page: { readonly limit: number; readonly cursor?: string }): Promise<LivePage>
  /** Live resources that refer hard to one of these. */
  referrers(
    ids: readonly string[],
  ): Promise<readonly { readonly from: LiveId & { readonly displayName: string }; readonly to: string }[]>
  readonly secrets: PlatformSecrets
  /** Only for `journal`. Not-found on remove and dissociate is success. */
  write?(write: Write, signal: AbortSignal): Promise<Written>
}

export interface LiveId {
  readonly kind: string
  readonly id: string
}

/** A resource as it is on the platform. */
export interface Live extends LiveId {
  readonly apiVersion: string
  readonly displayName: string
  /** Canonical, without name and associations; references are `{kind?, id}`, except those by display name. */
  readonly spec: Spec
  readonly associations: readonly LiveId[]
  readonly revision: number
  readonly status: Spec | null
  readonly createdAt: string
  readonly updatedAt: string
  /** Made by a controller for another resource: never in a stack, never exported, never adopted. */
  readonly controlledBy?: LiveId
}

/** There, or perhaps there, but not to be read now: never the same as absent. */
export interface Unreadable {
  readonly unreadable: Problem
}

export interface LiveFilter {
  readonly kinds?: readonly string[]
  readonly displayNames?: readonly string[]
  /** Display names of labels: carries one of them. */
  readonly labels?: readonly string[]
}

export interface LivePage {
  readonly resources: readonly Live[]
  readonly next?: string
}

export interface PlatformSecrets {
  /** Keyed fingerprints of those that there are. */
  fingerprints(keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The same function, for values that were supplied. */
  fingerprint(value: Secret): string
  /** The value as the journal may keep it: encrypted; null when there is none. Only for `journal`. */
  sealed(key: string): Promise<string | null>
}

/** One write. `ifRevision` guards against whoever wrote in between. */
export type Write =
  | ({ readonly do: 'create' } & WholeResource)
  /** To exactly this, as it was before; also brings back what was removed, under the same id. */
  | ({ readonly do: 'restore'; readonly ifRevision?: number } & WholeResource)
  | ({ readonly do: 'update'; readonly ifRevision: number } & WholeResource)
  | ({ readonly do: 'remove'; readonly ifRevision?: number } & LiveId)
  | { readonly do: 'associate' | 'dissociate'; readonly from: LiveId; readonly to: LiveId }
  | { readonly do: 'put-secret'; readonly key: string; readonly value: Secret }
  /** Back to what `sealed` gave before. */
  | { readonly do: 'restore-secret'; readonly key: string; readonly sealed: string | null }

export interface WholeResource extends LiveId {
  readonly apiVersion: string
  readonly displayName: string
  readonly spec: Spec
  /** Everything that spec refers to hard. */
  readonly refersTo: readonly LiveId[]
}

export interface Written {
  /** Where the platform chose it. */
  readonly id?: string
  readonly revision: number
}
