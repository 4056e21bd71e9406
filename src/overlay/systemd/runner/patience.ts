// Waiting with an end.
import { setTimeout as delay } from 'node:timers/promises'

/** The most that a timer can wait. */
const longestMs = 2 ** 31 - 1

export const timerMs = (ms: number | null): number => Math.min(ms ?? longestMs, longestMs)

/** What the work gives, or 'late'; the work itself goes on. Null is for ever. */
export async function inTime<T>(work: Promise<T>, ms: number | null): Promise<T | 'late'> {
  const over = new AbortController()
  const late = delay(timerMs(ms), 'late' as const, { signal: over.signal })
  late.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
