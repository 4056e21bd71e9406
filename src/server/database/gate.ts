// Many at a time, or one alone: for transactions, which fail when they meet another, and then want the place to themselves.
// Does not hold: that one is alone for certain. Nobody waits for longer than `patienceMs`, so that one that hangs does not
// stop the rest; and other servers have a gate of their own.
import type { Clock } from '../../lib/clock.ts'

export interface Gate {
  together<Result>(work: () => Promise<Result>): Promise<Result>
  /** After all that go on; whatever comes later waits for it. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
}

export function makeGate(clock: Clock, patienceMs = 3_000): Gate {
  const running = new Set<Promise<unknown>>()
  /** The last that is or wants to be alone. */
  let last: Promise<unknown> | null = null

  const ended = async (works: readonly Promise<unknown>[]) => {
    const enough = new AbortController()
    const patience = clock.sleep(patienceMs, enough.signal).catch(() => {})
    await Promise.race([Promise.allSettled(works), patience])
    enough.abort()
  }
  return {
    together: async work => {
      for (const since = clock.monotonicMs(); last && clock.monotonicMs() - since < patienceMs; ) await ended([last])
      const mine = work()
      running.add(mine)
      try {
        return await mine
      } finally {
        running.delete(mine)
      }
    },
    alone: async work => {
      const before = [...(last ? [last] : []), ...running]
      const mine = ended(before).then(work)
      last = mine
      try {
        return await mine
      } finally {
        if (last === mine) last = null
      }
    },
  }
}
