// Clocks for tests of the engine. No two looks at them give the same time, so that a moved `updatedAt` shows.
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'

export interface MovableClock extends Clock {
  advance(ms: number): void
}

/** Real sleeps; the time of day can be moved forward. For suites over real databases. */
export function movableClock(): MovableClock {
  let ahead = 0
  let last = 0
  const ms = () => {
    last = Math.max(last + 1, Date.now() + ahead)
    return last
  }
  return {
    now: () => new Date(ms()),
    monotonicMs: ms,
    bootId: () => 'boot',
    sleep: (time, signal) => delay(time, undefined, signal ? { signal } : {}),
    advance: by => {
      ahead += by
    },
  }
}

/** Who sleeps is woken as soon as nobody has anything else to do; the time jumps there. Only for work in memory. */
export function hurryingClock(): MovableClock {
  let now = Date.UTC(2026, 0, 1)
  const sleepers: { at: number; wake: () => void }[] = []
  let watching = false

  const watch = async () => {
    watching = true
    while (sleepers.length > 0) {
      for (let turn = 0; turn < 12; turn++) await new Promise(setImmediate)
      sleepers.sort((a, b) => a.at - b.at)
      const next = sleepers.shift()
      if (!next) break
      now = Math.max(now, next.at)
      next.wake()
    }
    watching = false
  }

  return {
    now: () => new Date(++now),
    monotonicMs: () => ++now,
    bootId: () => 'boot',
    sleep: (ms, signal) =>
      new Promise((wake, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const sleeper = { at: now + ms, wake }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          const place = sleepers.indexOf(sleeper)
          if (place >= 0) sleepers.splice(place, 1)
          reject(signal.reason)
        })
        if (!watching) void watch()
      }),
    advance: by => {
      now += by
    },
  }
}
