// Work with a key: at most one for each at a time, its outcome told once, cancelled by its key. Nothing that a job throws
// ends the process; it comes back as a failure.
import { CairnError, isErrno, messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { Failure, Made, Outcome } from '../switchboard/protocol.ts'

export type JobOutcome = Outcome<Partial<Made>>

export interface Jobs {
  start(key: string, work: (signal: AbortSignal) => Promise<Partial<Made>>): void
  cancel(key: string): void
  /** All are told to stop, and have ended when it resolves. */
  close(): Promise<void>
}

export function openJobs(ended: (key: string, outcome: JobOutcome) => void): Jobs {
  const running = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>()
  return {
    start(key, work) {
      if (running.has(key)) throw new Error(`a second job for ${key}`)
      const controller = new AbortController()
      const done = outcomeOf(work, controller.signal).then(outcome => {
        running.delete(key)
        ended(key, outcome)
      })
      running.set(key, { controller, done })
    },
    cancel: key => running.get(key)?.controller.abort(),
    async close() {
      const all = [...running.values()]
      for (const { controller } of all) controller.abort()
      await Promise.all(all.map(({ done }) => done))
    },
  }
}

async function outcomeOf(
  work: (signal: AbortSignal) => Promise<Partial<Made>>,
  signal: AbortSignal,
): Promise<JobOutcome> {
  try {
    return { ok: true, ...(await work(signal)) }
  } catch (error) {
    return { ok: false, failure: failureOf(error) }
  }
}

/** In words that may be shown. */
export function failureOf(error: unknown): Failure {
  const text = redact(messageOf(error)).slice(0, 1000)
  if (error instanceof CairnError) return { code: error.code, text }
  if (isErrno(error, 'ENOSPC', 'EDQUOT')) return { code: 'content.no-space', text }
  return { code: 'manager.failed', text }
}
