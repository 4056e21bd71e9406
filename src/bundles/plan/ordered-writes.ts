// What carrying out a plan comes to: the writes of each platform, in order, and what becomes of the record.
import type { StackEvent } from '../model/stack.ts'
import type { Write } from '../platform.ts'
import type { StackChange } from '../store.ts'

export interface OrderedWrites {
  /** By name of the platform, each in an order that may be carried out one by one. Nothing in one waits for another. */
  readonly platforms: ReadonlyMap<string, readonly PlannedWrite[]>
  readonly record: RecordChange
}

export interface PlannedWrite {
  /** From 1, over all platforms. */
  readonly seq: number
  readonly action: WriteAction
  /** `Label/edge`; `Volume/data → Label/edge` for an association, the key for a secret. */
  readonly resource: string
  /** The ids of creates are new ones; where a platform chooses its own, apply/ids.ts puts those in. */
  readonly write: Write
  /** What has to be done before, by seq. Who writes concurrently keeps this; the order given keeps it too. */
  readonly after: readonly number[]
}

export type WriteAction = 'secret' | 'create' | 'update' | 'delete' | 'associate' | 'dissociate'

/**
 * Three cases, and no other:
 * - `change` null: the record stays byte for byte as it is.
 * - `event` null: the record follows what is already so (converged values, policies); only its revision moves.
 * - both: something happened that people want to know of; `change.updatedAt` is set.
 * A stack that is still to be made has everything that it is to hold in `change.put`.
 */
export type RecordChange =
  | { readonly change: null; readonly event: null }
  | { readonly change: StackChange; readonly event: null }
  | { readonly change: StackChange & { readonly updatedAt: string }; readonly event: RecordEvent }

/** Whoever carries the plan out adds who asked for it. */
export type RecordEvent = Omit<StackEvent, 'seq' | 'by'>
