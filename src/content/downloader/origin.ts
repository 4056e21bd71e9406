// Reading from sources, as the downloads see it: one open at a time, nothing kept and nothing repeated. Who speaks HTTP,
// registries, authentication and redirects is below this; tries, resuming and mirrors are above it.
import type { Datastore, ResolveConfig, ResolveStatus, Sha256 } from '../messages.ts'
import type { Source } from '../source.ts'

export interface OpenRequest {
  readonly source: Source
  readonly sha256?: Sha256 | undefined
  readonly as: 'manifest' | 'blob'
  readonly mediaType?: string | undefined
  /** The first byte that is wanted. */
  readonly from: number
  /** The size of the whole when it is known, so that a closed range can be asked for. */
  readonly total?: number | undefined
  /** Of the bytes before `from`, where no digest names the object: the range holds only if it is still the same. */
  readonly validator?: string | undefined
  readonly signal: AbortSignal
}

export interface Opened {
  /** Where the body begins: `from`, or 0 when the source sends all of it again. */
  readonly offset: number
  /** Size of the whole; null when the source does not say. */
  readonly total: number | null
  /** A strong ETag or a date, for going on later; null when there is none. */
  readonly validator: string | null
  readonly contentType: string | null
  /** Fails with an OriginFailure; read it to its end or call close. */
  readonly body: AsyncIterable<Buffer>
  /** Nobody has any use for this chunk of the body any more. */
  letGo?(chunk: Buffer): void
  close(): void
}

export type FailureKind =
  /** Trying again may help: cut, stalled, 5xx. */
  | 'passing'
  /** The host asks to be left alone for a while: 429, 503. */
  | 'busy'
  /** 401, 403. */
  | 'denied'
  /** 404, 410, a file that is not there. */
  | 'missing'
  /** 416, or a 206 that does not go on where it was asked to: begin anew. */
  | 'range'
  /** Will not change by itself: a scheme, a redirect that may not be followed, an answer that is no such thing. */
  | 'refused'

export class OriginFailure extends Error {
  readonly code: `${string}.${string}`
  readonly kind: FailureKind
  readonly retryAfterMs: number | undefined

  /** The message has passed safeUrl and redact. */
  constructor(code: `${string}.${string}`, kind: FailureKind, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'OriginFailure'
    this.code = code
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

export interface Origins {
  open(request: OpenRequest): Promise<Opened>
  resolve(
    source: Source,
    what: ResolveConfig['what'],
    signal: AbortSignal,
  ): Promise<NonNullable<ResolveStatus['found']>>
  /** From the next open on; drops tokens that were had with other credentials. */
  configure(datastores: readonly Datastore[], stallMs: number): void
  /** What limits per host count; null for places of this machine. */
  hostOf(source: Source): string | null
  /** The source itself with the mirrors of its host before it, in order. */
  withMirrors(source: Source): readonly Source[]
}
