// What the status of an answer means when it is not the one that was hoped for.
import type { Clock } from '../../../lib/clock.ts'
import type { OriginFailure } from '../origin.ts'
import { busy, failing, notFound, rangeUnusable, rejected, unauthorized } from './failures.ts'
import type { Followed } from './redirects.ts'

export function statusFailure({ answer, url }: Followed, clock: Clock): OriginFailure {
  const { statusCode: status = 0, headers } = answer
  const wait = () => retryAfterMs(headers['retry-after'], clock)
  if (status === 404 || status === 410) return notFound(url)
  if (status === 401 || status === 403 || status === 407) return unauthorized(url, status)
  if (status === 416) return rangeUnusable(url, 'it has no such bytes (HTTP 416)')
  if (status === 429 || status === 503) return busy(url, status, wait())
  if (status === 408 || status >= 500) return failing(url, status, wait())
  return rejected(url, status)
}

const longestMs = 3_600_000

/** Seconds or a date; a server cannot hold us for longer than an hour. */
function retryAfterMs(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now().getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestMs)
}
