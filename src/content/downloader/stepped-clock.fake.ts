// A clock that stands still until it is stepped. Sleepers wake in the order of their time.
import type { Clock } from '../../lib/clock.ts'

export interface SteppedClock extends Clock {
  /** Wakes all who sleep until then, one after another, letting each do what it does. */
  step(ms: number): Promise<void>
  /** How long each sleeper still sleeps, shortest first. */
  readonly sleepers: readonly number[]
}

const start = Date.UTC(2026, 0, 1)

export function steppedClock(): SteppedClock {
  let now = 0
  const sleeping = new Set<{ at: number; wake: () => void }>()

  const next = (until: number) =>
    [...sleeping]
      .filter(({ at }) => at <= until)
      .reduce<{ at: number; wake: () => void } | null>(
        (first, one) => (first && first.at <= one.at ? first : one),
        null,
      )
  return {
    now: () => new Date(start + now),
    monotonicMs: () => now,
    bootId: () => 'boot',
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const abort = () => {
          sleeping.delete(sleeper)
          reject(signal?.reason)
        }
        const sleeper = {
          at: now + ms,
          wake: () => {
            sleeping.delete(sleeper)
            signal?.removeEventListener('abort', abort)
            resolve()
          },
        }
        signal?.addEventListener('abort', abort, { once: true })
        sleeping.add(sleeper)
      }),
    async step(ms) {
      await quiet()
      const until = now + ms
      for (let sleeper = next(until); sleeper; sleeper = next(until)) {
        now = sleeper.at
        sleeper.wake()
        await quiet()
      }
      now = until
      await quiet()
    },
    get sleepers() {
      return [...sleeping].map(({ at }) => at - now).sort((one, other) => one - other)
    },
  }
}

/** Long enough for what does not wait for the disk. */
async function quiet() {
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
}
