// Why bytes could not be had, before it is known who asked for them: the one who asked makes a Problem of it.
import { type Checksum, spellChecksum } from '../lib/checksum.ts'
import type { Problem, ProblemCode } from '../lib/problem.ts'
import { safeUrl } from '../lib/safe-url.ts'
import { printSize } from '../lib/size.ts'

export class FetchFailure extends Error {
  readonly code: ProblemCode
  readonly hint: string | undefined
  /** Trying again may help. */
  readonly passing: boolean
  /** What the server asked for. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ProblemCode,
    reason: string,
    {
      hint,
      passing = false,
      retryAfterMs,
    }: { hint?: string; passing?: boolean; retryAfterMs?: number | undefined } = {},
  ) {
    super(reason)
    this.code = code
    this.hint = hint
    this.passing = passing
    this.retryAfterMs = retryAfterMs
  }
}

/** `path` is the config path of the source that asked. */
export function problemOf(failure: FetchFailure, path: string): Problem {
  const field = failure.code === 'source.checksum-mismatch' ? 'checksum' : 'uri'
  const problem = { code: failure.code, path: `${path}.${field}`, reason: failure.message }
  return failure.hint === undefined ? problem : { ...problem, hint: failure.hint }
}

export const schemeUnknown = (url: URL) =>
  new FetchFailure('source.uri-invalid', `Cairn cannot fetch from ${url.protocol}//`, {
    hint: 'Write https://…, http://… or file://….',
  })

export const notFound = (url: URL) => new FetchFailure('source.not-found', `${safeUrl(url)} does not exist`)

export const unauthorized = (url: URL, status: number) =>
  new FetchFailure('source.unauthorized', `${safeUrl(url)} may not be read (HTTP ${status})`, {
    hint: 'Check the credentials that the server wants.',
  })

export const rejected = (url: URL, status: number) =>
  new FetchFailure('source.rejected', `${safeUrl(url)} answered HTTP ${status}`)

export const unreadable = (url: URL, reason: string) =>
  new FetchFailure('source.unreadable', `${safeUrl(url)} cannot be read: ${reason}`)

export const untrusted = (url: URL, reason: string) =>
  new FetchFailure('source.untrusted', `the certificate of ${url.host} is not trusted: ${reason}`, {
    hint: 'If the server is yours, start Cairn with NODE_EXTRA_CA_CERTS=<file of its certificate authority>.',
  })

export const insecureRedirect = (from: URL, to: URL) =>
  new FetchFailure('source.insecure-redirect', `${safeUrl(from)} leads to ${safeUrl(to)}, which is not encrypted`)

export const redirectInvalid = (from: URL) =>
  new FetchFailure('source.redirect-invalid', `${safeUrl(from)} leads to a place that is not http or https`)

export const tooManyRedirects = (url: URL, most: number) =>
  new FetchFailure('source.too-many-redirects', `${safeUrl(url)} leads on more than ${most} times`)

export const tooLarge = (url: URL, most: number) =>
  new FetchFailure('source.too-large', `${safeUrl(url)} is larger than ${printSize(most)}`)

export const checksumMismatch = (url: URL, wanted: Checksum, got: string) =>
  new FetchFailure(
    'source.checksum-mismatch',
    `${safeUrl(url)}: wanted ${spellChecksum(wanted)}, got ${wanted.algorithm}:${got}`,
    { hint: 'The file changed at its source, or something else was sent. Check it before you change the checksum.' },
  )

export const unreachable = (url: URL, reason: string) =>
  new FetchFailure('source.unreachable', `${url.host} cannot be reached: ${reason}`, { passing: true })

export const busy = (url: URL, status: number, retryAfterMs: number | undefined) =>
  new FetchFailure('source.unreachable', `${safeUrl(url)} answered HTTP ${status}`, { passing: true, retryAfterMs })

export const truncated = (url: URL, got: number, wanted: number | null) =>
  new FetchFailure(
    'source.truncated',
    `${safeUrl(url)} broke off after ${printSize(got)}${wanted === null ? '' : ` of ${printSize(wanted)}`}`,
    { passing: true },
  )

export const rangeUnusable = (url: URL) =>
  new FetchFailure('source.truncated', `${safeUrl(url)} does not go on where it broke off`, { passing: true })
