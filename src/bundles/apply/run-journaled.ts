// Carries out writes on platforms that have no part in the transaction. Each is in the journal before it is made and marked
// there after; as many run at once as allowed and as what they wait for permits. The first failure starts nothing new; what
// is under way ends, and all failures are gathered. Undoes nothing itself.
import type { Clock } from '../../lib/clock.ts'
import { CairnError, messageOf } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { redact } from '../../lib/redact.ts'
import type { PlannedWrite } from '../plan/ordered-writes.ts'
import type { Platform, Write } from '../platform.ts'
import type { StepProgress } from '../request.ts'
import { type JournalStep, type Journals, LostLease, type OpenJournal, WriteConflict } from '../store.ts'
import { beforeOf } from './before.ts'
import { conflictProblem } from './conflict.ts'
import { withIds } from './ids.ts'
import type { Held } from './lock.ts'
import { writeWithin } from './write-within.ts'

export interface JournaledWrite {
  readonly platform: Platform
  readonly planned: PlannedWrite
}

export interface JournaledRun {
  readonly journalId: string
  readonly journals: Journals
  readonly clock: Clock
  readonly held: Held
  readonly signal?: AbortSignal
  /** 1 to 32. */
  readonly concurrency: number
  readonly timeoutMs: number
  progress(planned: PlannedWrite, state: StepProgress['state'], ms?: number): void
}

export type StepState = OpenJournal['steps'][number]

export interface JournaledOutcome {
  /** Everything intended, in the order in which it ended. One that is only `intended` failed and may have taken effect. */
  readonly steps: readonly StepState[]
  readonly failures: readonly Problem[]
  /** Planned id to the one that the platform chose. */
  readonly ids: ReadonlyMap<string, string>
}

export async function runJournaled(run: JournaledRun, writes: readonly JournaledWrite[]): Promise<JournaledOutcome> {
  const steps: StepState[] = []
  const failures: Problem[] = []
  const ids = new Map<string, string>()
  let lost: LostLease | undefined

  const carryOut = async ({ platform, planned }: JournaledWrite): Promise<boolean> => {
    const began = run.clock.now().getTime()
    const took = () => run.clock.now().getTime() - began
    run.progress(planned, 'running')
    let intended: JournalStep | undefined
    try {
      await run.held.confirm()
      const write = withIds(planned.write, ids)
      const before = await beforeOf(platform, write)
      const step = { seq: planned.seq, platform: platform.name, write: journalable(platform, write), before }
      await run.journals.intend(run.journalId, step)
      intended = step
      const written = await writeWithin(run, platform, write)
      const id = written.id ?? idOf(write)
      await run.journals.done(run.journalId, planned.seq, id, written.revision)
      if (write.do === 'create' && id !== write.id) ids.set(write.id, id)
      steps.push({ ...step, state: 'done', id, revision: written.revision })
      run.progress(planned, 'done', took())
      return true
    } catch (error) {
      if (error instanceof LostLease) lost = error
      // A conflict says for sure that nothing was written; after any other failure somebody has to look.
      else if (intended && error instanceof WriteConflict) await closed(run, intended)
      else if (intended) steps.push({ ...intended, state: 'intended' })
      failures.push(failureOf(planned.resource, error))
      run.progress(planned, 'failed', took())
      return false
    }
  }

  const queue = inTurn(writes)
  const running = new Set<Promise<void>>()
  for (;;) {
    while (running.size < run.concurrency && failures.length === 0 && !run.signal?.aborted) {
      const next = queue.next()
      if (!next) break
      const work = carryOut(next).then(done => {
        running.delete(work)
        if (done) queue.done(next)
      })
      running.add(work)
    }
    if (running.size === 0) break
    await Promise.race(running)
  }
  if (lost) throw lost
  if (run.signal?.aborted && queue.rest() > 0) failures.push(cancelled)
  return { steps, failures, ids }
}

export const cancelled: Problem = { code: 'apply.cancelled', path: '', reason: 'it was cancelled' }

/** What did not work, for people. Texts of platforms may hold credentials. */
export function failureOf(resource: string, error: unknown): Problem {
  if (error instanceof CairnError)
    return { code: error.code, path: resource, reason: error.message, ...(error.hint && { hint: error.hint }) }
  if (error instanceof WriteConflict) return conflictProblem(error, resource)
  return { code: 'apply.failed', path: resource, reason: redact(messageOf(error)) }
}

/** Nobody is to look for what was not written. If this cannot be noted, looking finds nothing. */
const closed = ({ journals, journalId }: JournaledRun, { seq }: JournalStep) =>
  journals.undone(journalId, seq).catch(() => {})

/** Those whose turn it is, first come first served. */
function inTurn(writes: readonly JournaledWrite[]) {
  const open = new Set(writes.map(({ planned }) => planned.seq))
  const ready: JournaledWrite[] = []
  const waitsFor = new Map<JournaledWrite, number>()
  const followers = new Map<number, JournaledWrite[]>()
  for (const write of writes) {
    const before = write.planned.after.filter(seq => open.has(seq))
    if (before.length === 0) ready.push(write)
    else waitsFor.set(write, before.length)
    for (const seq of before) {
      const others = followers.get(seq)
      if (others) others.push(write)
      else followers.set(seq, [write])
    }
  }
  let place = 0
  return {
    next: (): JournaledWrite | undefined => (place < ready.length ? ready[place++] : undefined),
    done: ({ planned }: JournaledWrite) => {
      for (const write of followers.get(planned.seq) ?? []) {
        const rest = waitsFor.get(write)! - 1
        waitsFor.set(write, rest)
        if (rest === 0) ready.push(write)
      }
    },
    rest: () => writes.length - place,
  }
}

/** The journal holds fingerprints of secrets, never values. */
function journalable(platform: Platform, write: Write): JournalStep['write'] {
  if (write.do !== 'put-secret') return write
  return { do: 'put-secret', key: write.key, fingerprint: platform.secrets.fingerprint(write.value) }
}

function idOf(write: Write): string {
  if ('id' in write) return write.id
  return 'from' in write ? write.from.id : write.key
}
