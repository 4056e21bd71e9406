// Carries out a plan, all of it or nothing: other platforms first, journaled; then one transaction with everything of the
// shared platform, the record and the event, which is the commit point. What fails before it is undone.
import { CairnError, messageOf, RefusedError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { redact } from '../../lib/redact.ts'
import type { EnginePorts, Watch } from '../engine.ts'
import type { Stack } from '../model/stack.ts'
import type { OrderedWrites, PlannedWrite } from '../plan/ordered-writes.ts'
import type { Outcome, StepProgress } from '../request.ts'
import { LostLease, type StoreTransaction, WriteConflict } from '../store.ts'
import { conflictPath } from './conflict.ts'
import type { Ids } from './ids.ts'
import type { Held } from './lock.ts'
import { cancelled, failureOf, type JournaledWrite, runJournaled, type StepState } from './run-journaled.ts'
import { recordRollback, undoAndRecord, writeTimeoutMs } from './settle.ts'

/** What becomes of the record itself, beside what it holds. */
export type RecordTarget =
  | { readonly is: 'none' }
  | { readonly is: 'there'; readonly stack: Stack }
  | { readonly is: 'new'; readonly stack: Stack }
  | { readonly is: 'there, to be deleted'; readonly stack: Stack }

export interface Execution {
  readonly planId: string
  readonly writes: OrderedWrites
  readonly record: RecordTarget
  readonly by: string
  readonly held: Held
  /** Of the journal, if there is to be one. */
  readonly journalId: string
  readonly watch: Watch
}

const defaultConcurrency = 5

/** Throws WriteConflict when others moved what the plan rests on and nothing was written, RefusedError when the lock is lost. */
export async function execute(ports: EnginePorts, execution: Execution): Promise<Outcome> {
  const journaled = journaledWrites(ports, execution.writes)
  const progress = progressOf(execution)
  try {
    return journaled.length === 0
      ? await executeShared(ports, execution, progress)
      : await executeJournaled(ports, execution, journaled, progress)
  } catch (error) {
    if (error instanceof LostLease) throw lockLost(journaled.length > 0)
    throw error
  }
}

async function executeShared(ports: EnginePorts, execution: Execution, progress: Progress): Promise<Outcome> {
  const failure = await commit(ports, execution, { ids: new Map(), progress })
  if (failure === null) return applied(execution)
  if (failure instanceof WriteConflict) throw failure
  const failures = [problemOf(failure, execution.writes)]
  const { planId, by } = execution
  const rollback = { stackId: stackIdOf(execution), planId, by, failures, leftovers: [], ids: new Map() }
  await recordRollback(ports, execution.held.lease, rollback).catch(error => {
    if (error instanceof LostLease) throw error
    ports.log(`a failed apply could not be noted in the history: ${redact(messageOf(error))}`)
  })
  return { did: 'rolled back', failures }
}

async function executeJournaled(
  ports: EnginePorts,
  execution: Execution,
  writes: readonly JournaledWrite[],
  progress: Progress,
): Promise<Outcome> {
  const { journals } = ports.store
  const { held, journalId, planId, by, watch } = execution
  const stackId = stackIdOf(execution)
  await journals.begin({ id: journalId, stackId, planId, by })
  const run = await runJournaled(
    {
      journalId,
      journals,
      clock: ports.clock,
      held,
      concurrency: Math.min(Math.max(ports.concurrency ?? defaultConcurrency, 1), 32),
      timeoutMs: writeTimeoutMs,
      progress,
      ...(watch.signal && { signal: watch.signal }),
    },
    writes,
  )
  const failures = [...run.failures]
  if (failures.length === 0) {
    const failure = await commit(ports, execution, { ids: run.ids, progress, journalId })
    if (failure === null) {
      await journals.end(journalId).catch(error => ports.log(`a journal was not closed: ${redact(messageOf(error))}`))
      return applied(execution)
    }
    failures.push(problemOf(failure, execution.writes))
  }
  const planned = new Map(writes.map(({ planned }) => [planned.seq, planned]))
  const onUndone = ({ seq }: StepState) => progress(planned.get(seq)!, 'undone')
  const unfinished = { journalId, stackId, planId, by, steps: run.steps, failures }
  const { leftovers } = await undoAndRecord(ports, held, unfinished, onUndone)
  return leftovers.length > 0 ? { did: 'rollback incomplete', failures, leftovers } : { did: 'rolled back', failures }
}

interface Commit {
  readonly ids: Ids
  readonly journalId?: string
  readonly progress: Progress
}

/** Null when it is committed, else why it is not: then nothing of it is there. */
async function commit(ports: EnginePorts, execution: Execution, { ids, journalId, progress }: Commit) {
  const { held, writes, watch } = execution
  const shared = sharedWrites(ports, writes)
  if (watch.signal?.aborted) return new Cancelled()
  for (const planned of shared) progress(planned, 'running')
  try {
    await ports.store.transaction(async tx => {
      await tx.assertLease(held.lease)
      if (shared.length > 0) await tx.write(shared.map(({ write }) => write))
      await writeRecord(tx, execution, ids)
      if (journalId !== undefined) await tx.commitJournal(journalId)
      if (watch.signal?.aborted) throw new Cancelled()
    })
  } catch (error) {
    if (error instanceof LostLease) throw error
    if (!(await wasCommitted(ports, execution, journalId, error))) {
      for (const planned of shared) progress(planned, 'undone')
      return error as Error
    }
  }
  for (const planned of shared) progress(planned, 'done')
  return null
}

async function writeRecord(tx: StoreTransaction, { record, writes, by }: Execution, ids: Ids): Promise<void> {
  const { change, event } = writes.record
  if (record.is === 'none') return
  const { stack } = record
  if (record.is === 'there, to be deleted') return tx.deleteStack(stack.id)
  if (change) {
    const put = (change.put ?? []).map(resource => ({ ...resource, id: ids.get(resource.id) ?? resource.id }))
    if (record.is === 'there') await tx.updateStack(stack.id, stack.revision, { ...change, put })
    else {
      const { drop, put: _, ...fields } = change
      await tx.insertStack({ ...stack, ...fields, resources: put })
    }
  }
  if (!event) return
  const changes = event.changes.map(({ id, ...rest }) => (id === undefined ? rest : { ...rest, id: ids.get(id) ?? id }))
  await tx.addEvent(stack.id, { ...event, changes, by })
}

/** The answer to a commit can be lost while the commit is not. Under the lock nobody else moves the record. */
async function wasCommitted(ports: EnginePorts, execution: Execution, journalId: string | undefined, error: unknown) {
  if (error instanceof WriteConflict || error instanceof Cancelled) return false
  const { record } = execution
  try {
    if (journalId !== undefined)
      return (await ports.store.journals.open()).some(({ id, committed }) => id === journalId && committed)
    if (record.is === 'none') {
      // Without a record nothing tells; a database that answered has not committed.
      if (error instanceof CairnError && error.code === 'database.unavailable') throw error
      return false
    }
    const stack = await ports.store.stack(record.stack.id)
    if (record.is === 'new') return stack !== null
    return record.is === 'there' ? stack?.revision === record.stack.revision + 1 : stack === null
  } catch {
    const reason = `it cannot be said whether it was applied: ${redact(messageOf(error))}`
    throw new CairnError('apply.outcome-unknown', reason, { hint: 'Plan again: it shows what is so.', cause: error })
  }
}

class Cancelled extends Error {}

function problemOf(error: Error, writes: OrderedWrites): Problem {
  if (error instanceof Cancelled) return cancelled
  return failureOf(error instanceof WriteConflict ? conflictPath(error, writes) : '', error)
}

const lockLost = (begun: boolean) => {
  const hint = begun
    ? 'Whoever uses the stack next, or the next start of the server, takes back what was written.'
    : 'Nothing was changed. Apply again.'
  return new RefusedError('stack.lock-lost', 'another took the lock of the stack in the meantime', { hint })
}

const applied = ({ record }: Execution): Outcome => ({ did: 'applied', madeStack: record.is === 'new' })

const stackIdOf = ({ record }: Execution): string | null => (record.is === 'none' ? null : record.stack.id)

function journaledWrites({ platforms }: EnginePorts, writes: OrderedWrites): JournaledWrite[] {
  return platforms
    .filter(({ transaction }) => transaction === 'journal')
    .flatMap(platform => (writes.platforms.get(platform.name) ?? []).map(planned => ({ platform, planned })))
}

const sharedWrites = ({ platforms }: EnginePorts, writes: OrderedWrites): readonly PlannedWrite[] =>
  platforms
    .filter(({ transaction }) => transaction === 'shared')
    .flatMap(({ name }) => writes.platforms.get(name) ?? [])

type Progress = (planned: PlannedWrite, state: StepProgress['state'], ms?: number) => void

/** Tells everything that waits first. A watcher that fails stops nothing. */
function progressOf({ watch, writes }: Execution): Progress {
  const tell = watch.onProgress?.bind(watch)
  if (!tell) return () => {}
  const all = [...writes.platforms.values()].flat()
  const resources = new Map(all.map(({ seq, resource }) => [seq, resource]))
  const progress: Progress = ({ seq, action, resource, after }, state, ms) => {
    const waitsFor = state === 'waiting' && after.length > 0 && after.map(seq => resources.get(seq) ?? '')
    try {
      tell({ seq, action, resource, state, ...(waitsFor && { waitsFor }), ...(ms !== undefined && { ms }) })
    } catch {}
  }
  for (const planned of all) progress(planned, 'waiting')
  return progress
}
