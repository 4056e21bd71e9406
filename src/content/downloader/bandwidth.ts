// One token bucket for all downloads: bytes are paid for after they came, so that a large chunk makes the next one wait.
import type { Clock } from '../../lib/clock.ts'

export interface Bandwidth {
  /** Bytes a second; undefined and 0 are no cap. Holds from the next wait on. */
  limit(rate: number | undefined): void
  /** Undefined when there is nothing to wait for. */
  take(bytes: number, signal: AbortSignal): Promise<void> | undefined
}

/** What may come at once after a pause, as time at the full rate. */
const burstSeconds = 0.25
/** Nobody sleeps longer, so that a new rate is felt soon. */
const longestSleepMs = 1000

export function createBandwidth(clock: Clock): Bandwidth {
  let rate = 0
  let tokens = 0
  let filledAt = 0

  const fill = () => {
    const now = clock.monotonicMs()
    tokens = Math.min(tokens + ((now - filledAt) / 1000) * rate, rate * burstSeconds)
    filledAt = now
  }
  const pay = async (bytes: number, signal: AbortSignal) => {
    for (fill(); rate > 0 && tokens < 0; fill())
      await clock.sleep(Math.min(Math.ceil((-tokens / rate) * 1000), longestSleepMs), signal)
    tokens -= bytes
  }
  return {
    limit(next = 0) {
      if (next === rate) return
      rate = next
      tokens = 0
      filledAt = clock.monotonicMs()
    },
    take: (bytes, signal) => (rate > 0 ? pay(bytes, signal) : undefined),
  }
}
