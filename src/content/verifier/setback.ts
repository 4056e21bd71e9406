// Every way in which verifying can go wrong, with its code and whether it passes by itself. None of them ends the process.

import { isErrno, messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { Failure } from '../content-error.ts'
import type { ContentError, Sha256 } from '../messages.ts'

export interface Setback extends Failure {
  /** Worth another look after a while, with nothing changed. */
  readonly passes: boolean
}

const lasting = (code: Failure['code'], text: string): Setback => ({ code, text, passes: false })
const passing = (code: Failure['code'], text: string): Setback => ({ code, text, passes: true })

/** The file in pending/ is not what a download leaves there: somebody may have put it there. */
export const unsafeFile = (what: string): Setback =>
  lasting('content.unsafe-file', `the downloaded file ${what}; this may be an attack, and nothing of it was read`)

export const pendingMissing = (): Setback => lasting('content.pending-missing', 'the downloaded file is not there')

export const sizeMismatch = ({ found, declared }: { found: string; declared: number }): Setback =>
  lasting('content.size-mismatch', `the downloaded file has ${found} bytes, and ${declared} were declared`)

export const digestMismatch = ({ computed, expected }: { computed: Sha256; expected: Sha256 }): Setback =>
  lasting('content.digest-mismatch', `the bytes have sha256 ${computed}, and ${expected} was expected`)

export const noSpace = (text: string): Setback => passing('content.no-space', text)

export const mediaTypeTooLong = (mediaType: string): Setback =>
  lasting('content.media-type-too-long', `no file can be named after the media type ${mediaType}`)

export const badManifest = ({ code, reason }: { code: Failure['code']; reason: string }): Setback =>
  lasting(code, `the document is not one of its media type: ${reason}`)

export const bitRot = (text: string): Setback => lasting('content.bit-rot', text)

export const verifyCrash = (deaths: number): Setback =>
  passing('content.verify-crash', `the verifier died ${deaths} times while it worked on this blob, and leaves it alone`)

/** What the system said about one file. */
export function systemSetback(error: unknown): Setback {
  // The supervisor, who syncs, calls it disk.full.
  if (isErrno(error, 'ENOSPC', 'EDQUOT', 'disk.full')) return noSpace('there is no room left for the verified copy')
  return passing('content.verify-failed', redact(messageOf(error)))
}

/** The first time stays for as long as the same thing is wrong. */
export const sinceOf = (previous: ContentError | undefined, code: Failure['code'], now: Date): Date =>
  previous?.code === code ? new Date(previous.since) : now
