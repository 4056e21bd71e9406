// What the downloads of one host share: its few places, and the pause that it asked for.
// Holds: never more than `perHost` connections read from one host; who finds no place waits, first come first served.
import type { Clock } from '../../lib/clock.ts'
import { innerDelayMs, innerTries, longestRetryAfterMs, outerDelayMs } from './backoff.ts'

export interface Hosts {
  /** Waits for a place; the result gives it back. Null is this machine, which has places for all. */
  enter(host: string | null, signal: AbortSignal): Promise<() => void>
  /** It asked to be left alone: for this long, or, when it did not say, longer each time. */
  slow(host: string | null, retryAfterMs: number | undefined): void
  /** It answered. */
  fine(host: string | null): void
  /** On the monotonic clock; 0 when it may be asked. */
  heldUntil(host: string | null): number
  /** The limits may have changed. */
  lookAgain(): void
}

export interface HostLimits {
  readonly perHost: number
  readonly longestPauseMs: number
}

interface Host {
  inside: number
  readonly waiting: (() => void)[]
  until: number
  /** Answers in a row that asked for a pause. */
  strikes: number
}

export function createHosts(clock: Clock, random: () => number, limits: () => HostLimits): Hosts {
  const hosts = new Map<string, Host>()

  const hostOf = (name: string): Host => {
    const known = hosts.get(name) ?? { inside: 0, waiting: [], until: 0, strikes: 0 }
    hosts.set(name, known)
    return known
  }
  const letIn = (host: Host) => {
    while (host.inside < limits().perHost && host.waiting.length > 0) {
      host.inside++
      host.waiting.shift()!()
    }
  }
  return {
    async enter(name, signal) {
      if (name === null) return () => {}
      const host = hostOf(name)
      await new Promise<void>((resolve, reject) => {
        const giveUp = () => {
          host.waiting.splice(host.waiting.indexOf(go), 1)
          reject(signal.reason)
        }
        const go = () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        signal.throwIfAborted()
        signal.addEventListener('abort', giveUp, { once: true })
        host.waiting.push(go)
        letIn(host)
      })
      return () => {
        host.inside--
        letIn(host)
      }
    },
    slow(name, retryAfterMs) {
      if (name === null) return
      const host = hostOf(name)
      host.strikes++
      const own =
        host.strikes <= innerTries
          ? innerDelayMs(host.strikes, random)
          : outerDelayMs(host.strikes - innerTries, limits().longestPauseMs, random)
      const pause = Math.min(retryAfterMs ?? own, longestRetryAfterMs)
      host.until = Math.max(host.until, clock.monotonicMs() + pause)
    },
    fine(name) {
      const host = name === null ? undefined : hosts.get(name)
      if (host) host.strikes = 0
    },
    heldUntil(name) {
      const until = name === null ? 0 : (hosts.get(name)?.until ?? 0)
      return until > clock.monotonicMs() ? until : 0
    },
    lookAgain() {
      for (const host of hosts.values()) letIn(host)
    },
  }
}
