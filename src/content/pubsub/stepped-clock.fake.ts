// A clock that stands still until a test moves it.
import type { Clock } from '../../lib/clock.ts'

export interface SteppedClock extends Clock {
  /** Wakes those whose time has come, in its order, and lets them go on. */
  advance(ms: number): Promise<void>
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

export function steppedClock(): SteppedClock {
  let now = 0
  let sleepers: Sleeper[] = []
  const settle = () => new Promise<void>(done => setImmediate(done))
  return {
    now: () => new Date(Date.UTC(2026, 0, 1) + now),
    monotonicMs: () => now,
    bootId: () => 'boot',
    sleep: (ms, signal) =>
      new Promise((wake, reject) => {
        const sleeper = { at: now + ms, wake }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter(other => other !== sleeper)
          reject(signal.reason)
        })
      }),
    advance: async ms => {
      const until = now + ms
      await settle()
      for (;;) {
        const next = sleepers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        now = next.at
        sleepers = sleepers.filter(other => other !== next)
        next.wake()
        await settle()
      }
      now = until
      await settle()
    },
  }
}
