// Time as a port: injected, never global, so that a test can step it.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  now(): Date
  /** Milliseconds that never go backwards and count from boot; compare only within one `bootId`. */
  monotonicMs(): number
  bootId(): string
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const realClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => Math.round(Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000),
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal ? { signal } : {})
  },
}
