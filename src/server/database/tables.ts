// The tables as the queries see them. Columns are text or integer, the same on SQLite and PostgreSQL; structured values are
// JSON as text, so that the order of their keys survives. Times are ISO 8601 in UTC, which sorts as text.
import type { Generated, Kysely, Transaction } from 'kysely'

export interface Tables {
  meta: { key: string; value: string }
  resources: ResourceRow
  /** Go with either end. */
  associations: AssociationRow
  /** Hard references, for `referrers`. */
  resource_references: ReferenceRow
  secret_uses: SecretUseRow
  secrets: { key: string; sealed: string; fingerprint: string; created_at: string; updated_at: string }
  stacks: StackRow
  stack_resources: StackResourceRow
  stack_events: { stack_id: string; seq: number; event: string }
  plans: { id: string; expires_at: string; body: string }
  /** A row stays when the lease is free, so that the fence only grows. */
  leases: {
    key: string
    fence: number
    holder: string | null
    operation: string
    since: string
    expires_at: string
  }
  journals: {
    number: Generated<number>
    id: string
    stack_id: string | null
    plan_id: string
    started_by: string
    committed: Flag
  }
  journal_steps: {
    journal_id: string
    seq: number
    platform: string
    write: string
    before: string | null
    state: 'intended' | 'done' | 'undone'
    resource_id: string | null
    revision: number | null
  }
  tokens: {
    id: string
    name: string
    role: string
    machine: string | null
    hash: string
    created_at: string
    expires_at: string | null
    revoked_at: string | null
  }
  audit: {
    seq: Generated<number>
    at: string
    who: string
    role: string
    action: string
    target: string
    status: number
    detail: string
  }
  feed: FeedRow & { seq: Generated<number> }
}

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

export type Flag = 0 | 1

export interface ResourceRow {
  id: string
  kind: string
  family: string
  api_version: string
  display_name: string
  /** The display name where the kind's is unique, else null: one index keeps them apart within the family. */
  unique_name: string | null
  spec: string
  status: string | null
  revision: number
  created_at: string
  updated_at: string
  controller_kind: string | null
  controller_id: string | null
}

export interface AssociationRow {
  from_id: string
  to_id: string
  to_kind: string
}

export interface ReferenceRow {
  from_id: string
  to_id: string
}

export interface SecretUseRow {
  resource_id: string
  key: string
}

export interface StackRow {
  id: string
  name: string
  description: string
  created_at: string
  updated_at: string
  revision: number
  state: string
  config: string
  reconciled: Flag
  sources: string
  leftovers: string | null
}

/** A resource is in at most one stack: its id is unique over the whole table. */
export interface StackResourceRow {
  stack_id: string
  kind: string
  name: string
  resource_id: string
  api_version: string
  associations: string
  lifecycle: string
  adopted: Flag
  last_applied: string | null
  env_refs: string
  applied_at: string
}

export interface FeedRow {
  at: string
  what: string
  kind: string
  id: string
  name: string
  revision: number
}
