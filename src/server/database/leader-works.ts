// What is done only while this process leads: started when it begins to, aborted when it no longer does.
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { Leadership } from '../ports.ts'

export interface LeaderWorks {
  readonly lead: Leadership['lead']
  begin(): void
  /** Aborts all of them at once; resolves when they have ended. */
  end(): Promise<void>
}

type Work = Parameters<Leadership['lead']>[0]

interface Entry {
  readonly work: Work
  controller: AbortController
  running: Promise<void>
}

export function makeLeaderWorks({ clock, log }: { clock: Clock; log(line: string): void }): LeaderWorks {
  const entries = new Set<Entry>()
  let leading = false

  const start = (entry: Entry) => {
    entry.controller = new AbortController()
    entry.running = untilAborted(entry.work, entry.controller.signal, { clock, log })
  }
  const stop = (entry: Entry) => {
    entry.controller.abort()
    return entry.running
  }
  return {
    lead: work => {
      const entry: Entry = { work, controller: new AbortController(), running: Promise.resolve() }
      entries.add(entry)
      if (leading) start(entry)
      return {
        stop: async () => {
          entries.delete(entry)
          await stop(entry)
        },
      }
    },
    begin: () => {
      leading = true
      for (const entry of entries) start(entry)
    },
    end: async () => {
      leading = false
      await Promise.all([...entries].map(stop))
    },
  }
}

/** A work that ends by itself is done; one that fails is begun anew after a moment. */
async function untilAborted(
  work: Work,
  signal: AbortSignal,
  { clock, log }: { clock: Clock; log(line: string): void },
) {
  while (!signal.aborted) {
    try {
      return await work(signal)
    } catch (error) {
      if (signal.aborted) return
      log(`a task of the leader failed and is begun anew: ${redact(messageOf(error))}`)
      await clock.sleep(1_000, signal).catch(() => {})
    }
  }
}
