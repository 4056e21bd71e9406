// The port to where stacks, their events, locks, journals and saved plans are kept. One implementation for SQLite and
// PostgreSQL is in server/, one in memory beside the tests; the same suite runs over all.
import type { Lease, Stack, StackEvent, StackResource } from './model/stack.ts'
import type { LiveId, Write } from './platform.ts'
import type { SavedPlan } from './request.ts'

export interface Store {
  /** With every resource of the record. */
  stack(id: string): Promise<Stack | null>
  /** Without lastApplied; sorted by creation. `names` and `ids` are alternatives: any of them fits. */
  stacks(filter: StackFilter, page: { readonly limit: number; readonly cursor?: string }): Promise<StackPage>
  /** Newest first. */
  events(stackId: string, page: { readonly limit: number; readonly before?: number }): Promise<readonly StackEvent[]>
  /** Who owns these resources; those that no stack owns are not in the map. */
  owners(resourceIds: readonly string[]): Promise<ReadonlyMap<string, Owner>>

  /** All or nothing, isolated from every other transaction. The work may be run again when the database asks for that. */
  transaction<Result>(work: (tx: StoreTransaction) => Promise<Result>): Promise<Result>

  savePlan(plan: SavedPlan): Promise<void>
  /** Null when unknown or expired. */
  savedPlan(id: string): Promise<SavedPlan | null>

  readonly leases: Leases
  readonly journals: Journals
}

export interface StackFilter {
  readonly ids?: readonly string[]
  readonly names?: readonly string[]
  /** Only those with `config.reconcile`. */
  readonly reconciled?: boolean
}

export interface StackPage {
  readonly stacks: readonly Stack[]
  readonly next?: string
}

export interface Owner {
  readonly stackId: string
  readonly stackName: string
  readonly kind: string
  /** metadata.name in that stack. */
  readonly name: string
}

/** Everything here is seen by others at the commit, or never. */
export interface StoreTransaction {
  /** Throws LostLease when the lease was taken by another since. Every transaction of a lease holder calls it first. */
  assertLease(lease: HeldLease): Promise<void>
  /** Writes of the shared platform, in this order; many of one sort in a row are written together. Throws WriteConflict. */
  write(writes: readonly Write[]): Promise<void>
  insertStack(stack: Stack): Promise<void>
  /** The fields given, and the resources put and dropped; `revision` goes up by one. Throws WriteConflict when it is not `ifRevision`. */
  updateStack(id: string, ifRevision: number, change: StackChange): Promise<void>
  deleteStack(id: string): Promise<void>
  /** Numbers it; keeps the first and the newest 200. */
  addEvent(stackId: string, event: Omit<StackEvent, 'seq'>): Promise<void>
  /** The journal's commit point: from here on recovery finishes instead of undoing. */
  commitJournal(id: string): Promise<void>
}

export interface StackChange
  extends Partial<Pick<Stack, 'name' | 'description' | 'config' | 'state' | 'sources' | 'leftovers'>> {
  /** Absent: stays as it is. */
  readonly updatedAt?: string
  readonly put?: readonly StackResource[]
  readonly drop?: readonly { readonly kind: string; readonly name: string }[]
}

/** One lease per stack; the number fences off a holder that came back from a long sleep. */
export interface Leases {
  /** The lease, or who has it. */
  acquire(key: string, who: { readonly holder: string; readonly operation: string }): Promise<HeldLease | Lease>
  renew(lease: HeldLease): Promise<boolean>
  release(lease: HeldLease): Promise<void>
  holder(key: string): Promise<Lease | null>
  /** Takes it away from whoever has it; what that one writes from now on is refused. */
  force(key: string): Promise<Lease | null>
}

export interface HeldLease {
  readonly key: string
  readonly fence: number
}

/** Durable before each call returns. For platforms of their own; what happens in the shared transaction needs none. */
export interface Journals {
  begin(journal: {
    readonly id: string
    readonly stackId: string | null
    readonly planId: string
    readonly by: string
  }): Promise<void>
  intend(journalId: string, step: JournalStep): Promise<void>
  done(journalId: string, seq: number, id: string, revision: number): Promise<void>
  undone(journalId: string, seq: number): Promise<void>
  /** Nothing of it is needed any more. */
  end(journalId: string): Promise<void>
  /** Those without an end, oldest first, with their steps in order. */
  open(stackId?: string): Promise<readonly OpenJournal[]>
}

export interface JournalStep {
  readonly seq: number
  readonly platform: string
  readonly write:
    | Exclude<Write, { do: 'put-secret' }>
    | { readonly do: 'put-secret'; readonly key: string; readonly fingerprint: string }
  /** How to go back; null for what was not there. Secrets in it are sealed. */
  readonly before: BeforeImage | null
}

export type BeforeImage =
  | {
      readonly what: 'resource'
      readonly write: Extract<Write, { do: 'restore' }>
      readonly associations: readonly LiveId[]
      /** Who was associated with it: goes when it is removed. */
      readonly carriers?: readonly LiveId[]
      readonly alike?: readonly string[]
    }
  /** Only where the platform chooses ids: others of its kind and display name, so that an unanswered create can be told apart. */
  | { readonly what: 'absent'; readonly alike: readonly string[] }
  | { readonly what: 'association'; readonly was: boolean }
  | { readonly what: 'secret'; readonly sealed: string | null }

export interface OpenJournal {
  readonly id: string
  readonly stackId: string | null
  readonly planId: string
  readonly by: string
  readonly committed: boolean
  readonly steps: readonly (JournalStep & {
    readonly state: 'intended' | 'done' | 'undone'
    readonly id?: string
    readonly revision?: number
  })[]
}

/** Somebody else wrote what this write rests on: a revision moved, a unique name or an owner is taken. */
export class WriteConflict extends Error {
  readonly about: LiveId | null
  readonly reason: 'revision' | 'display-name' | 'owner' | 'gone'

  constructor(reason: WriteConflict['reason'], about: LiveId | null) {
    super(`write conflict: ${reason}`)
    this.name = 'WriteConflict'
    this.reason = reason
    this.about = about
  }
}

/** The lease of whoever writes is held by another now. */
export class LostLease extends Error {
  constructor(key: string) {
    super(`the lease of ${key} was lost`)
    this.name = 'LostLease'
  }
}
