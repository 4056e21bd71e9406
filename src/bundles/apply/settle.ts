// How a journal ends that did not reach its commit point: everything undone, the record told, the journal closed.
// The transaction that tells the record also marks the journal, so that a crash after it tells it only once.
import type { Problem } from '../../lib/problem.ts'
import type { EnginePorts } from '../engine.ts'
import type { Stack, StackEvent } from '../model/stack.ts'
import type { HeldLease, StackChange } from '../store.ts'
import type { Ids } from './ids.ts'
import type { Held } from './lock.ts'
import type { StepState } from './run-journaled.ts'
import { type Undone, undoSteps } from './undo.ts'

export interface Unfinished {
  readonly journalId: string
  readonly stackId: string | null
  readonly planId: string
  readonly by: string
  /** In the order in which they ended. */
  readonly steps: readonly StepState[]
  readonly failures: readonly Problem[]
}

/** For every write on another platform, the undoing ones too. */
export const writeTimeoutMs = 30_000

export async function undoAndRecord(
  ports: EnginePorts,
  held: Held,
  unfinished: Unfinished,
  onUndone?: (step: StepState) => void,
): Promise<Undone> {
  const { store, clock, platforms } = ports
  const { journalId } = unfinished
  const undone = await undoSteps(
    {
      journalId,
      journals: store.journals,
      platforms,
      clock,
      held,
      timeoutMs: writeTimeoutMs,
      ...(onUndone && { onUndone }),
    },
    unfinished.steps,
  )
  await recordRollback(ports, held.lease, { ...unfinished, ...undone })
  await store.journals.end(journalId)
  return undone
}

export interface Rollback {
  readonly stackId: string | null
  readonly journalId?: string
  readonly planId: string
  readonly by: string
  readonly failures: readonly Problem[]
  readonly leftovers: readonly Problem[]
  readonly ids: Ids
}

/** A `rollback` event and, where something was left behind or has a new id, that; nothing for a stack that is not there. */
export async function recordRollback(ports: EnginePorts, lease: HeldLease, rollback: Rollback): Promise<void> {
  const { store, clock } = ports
  const stack = rollback.stackId === null ? null : await store.stack(rollback.stackId)
  if (!stack && rollback.journalId === undefined) return
  const at = clock.now().toISOString()
  await store.transaction(async tx => {
    await tx.assertLease(lease)
    if (stack) {
      const change = changeOf(stack, rollback)
      if (change) await tx.updateStack(stack.id, stack.revision, { ...change, updatedAt: at })
      await tx.addEvent(stack.id, eventOf(rollback, at))
    }
    if (rollback.journalId !== undefined) await tx.commitJournal(rollback.journalId)
  })
}

function changeOf(stack: Stack, { leftovers, ids }: Rollback): StackChange | null {
  const moved = stack.resources.flatMap(resource => {
    const id = ids.get(resource.id)
    return id === undefined ? [] : [{ ...resource, id }]
  })
  if (moved.length === 0 && leftovers.length === 0) return null
  return {
    ...(moved.length > 0 && { put: moved }),
    ...(leftovers.length > 0 && { state: 'degraded', leftovers: [...leftovers] }),
  }
}

function eventOf({ planId, by, failures, leftovers }: Rollback, at: string): Omit<StackEvent, 'seq'> {
  const why = failures.map(({ path, reason }) => (path ? `${path}: ${reason}` : reason)).join('; ')
  const left = leftovers.length > 0 ? `, ${leftovers.length} left behind` : ''
  return { type: 'rollback', at, by, planId, sources: [], changes: [], outcome: `rolled back${left}: ${why}` }
}
