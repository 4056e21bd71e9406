// What the HTTP layer needs from the database beside stacks and resources. One implementation over SQLite and PostgreSQL.
import type { Platform } from '../bundles/platform.ts'
import type { Store } from '../bundles/store.ts'
import type { Secret } from '../lib/redact.ts'
import type { Spec } from '../resources/kind.ts'

export interface Database {
  readonly kind: 'sqlite' | 'postgres'
  readonly store: Store
  readonly platform: Platform
  readonly tokens: Tokens
  readonly secrets: Secrets
  readonly audit: Audit
  readonly feed: Feed
  readonly leadership: Leadership
  /** What a controller or a machine reports. Writes nothing when equal. False when there is no such resource. */
  setStatus(id: string, status: Spec): Promise<boolean>
  /** Numbers for /metrics. */
  counts(): Promise<{ readonly resources: Readonly<Record<string, number>>; readonly stacks: number }>
  /** Rejects when the database does not answer; for /readyz. */
  ping(): Promise<void>
  /** Drops what nobody needs any more: expired plans, old feed and audit entries. Only the leader calls it. */
  tidy(): Promise<void>
  close(): Promise<void>
}

export const roles = ['admin', 'operator', 'viewer', 'machine'] as const
export type Role = (typeof roles)[number]

export interface Token {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Display name of the one machine that a token of role `machine` is for. */
  readonly machine?: string
  readonly createdAt: string
  readonly expiresAt?: string
  readonly revokedAt?: string
}

/** Only hashes are kept. The text of a token is `cairn_<id>_<secret>`. */
export interface Tokens {
  add(token: Token, hash: string): Promise<void>
  find(id: string): Promise<{ readonly token: Token; readonly hash: string } | null>
  list(): Promise<readonly Token[]>
  /** False when there is none or it was revoked before. */
  revoke(id: string, at: string): Promise<boolean>
}

/** Values are sealed with age before they reach the database; nobody gets them out through the API. */
export interface Secrets {
  put(key: string, value: Secret, at: string): Promise<{ readonly changed: boolean }>
  list(): Promise<
    readonly {
      readonly key: string
      readonly createdAt: string
      readonly updatedAt: string
      readonly usedBy: readonly string[]
    }[]
  >
  /** `used`: resources still refer to it and it stays. */
  remove(key: string): Promise<'removed' | 'unknown' | 'used'>
  /** For the controllers that use it. */
  reveal(key: string): Promise<Secret | null>
}

export interface AuditEntry {
  readonly seq: number
  readonly at: string
  /** Name of the token, `local` for the machine's own administrator. */
  readonly who: string
  readonly role: Role
  /** `POST /api/v1/bundles/apply`. */
  readonly action: string
  /** What it was done to: a stack, a token, a secret key. */
  readonly target: string
  /** HTTP status. */
  readonly status: number
  readonly detail: Readonly<Record<string, unknown>>
}

export interface Audit {
  add(entry: Omit<AuditEntry, 'seq'>): Promise<void>
  /** Newest first. */
  list(page: { readonly limit: number; readonly before?: number }): Promise<readonly AuditEntry[]>
}

/** What changed, in the order of commits, for those who watch. */
export interface FeedEvent {
  readonly seq: number
  readonly at: string
  readonly what: 'created' | 'updated' | 'deleted' | 'status' | 'stack'
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly revision: number
}

export interface Feed {
  last(): Promise<number>
  /** The oldest that is still kept; who asks for older ones has to read everything anew. */
  first(): Promise<number>
  since(seq: number, limit: number): Promise<readonly FeedEvent[]>
  /** Called after commits, of this process and of others. The function returned ends it. */
  onChange(listener: () => void): () => void
}

/** One of several servers on one database does what must be done once. */
export interface Leadership {
  isLeader(): boolean
  /** Calls `work` while this process leads; aborts its signal when it no longer does. */
  lead(work: (signal: AbortSignal) => Promise<void>): { stop(): Promise<void> }
}
