// Going on in the middle: what is asked of a server, and whether its answer is that. Pure.
// Holds: bytes are only ever added to bytes of the same object; a digest or a validator says that it is the same.
import type { IncomingHttpHeaders } from 'node:http'
import type { OpenRequest } from '../origin.ts'
import { type Place, rangeUnusable } from './failures.ts'

type Wanted = Pick<OpenRequest, 'from' | 'total' | 'validator' | 'sha256'>

/** Where to begin: anew, when nothing says that the bytes before `from` are of the same object. */
export const beginningOf = ({ from, validator, sha256 }: Wanted): number =>
  sha256 === undefined && validator === undefined ? 0 : from

export function rangeHeaders(wanted: Wanted): Record<string, string> {
  const { total, validator, sha256 } = wanted
  const from = beginningOf(wanted)
  if (from === 0) return {}
  // Closed where it can be: some servers answer 416 to an open one.
  const last = total !== undefined && total > from ? total - 1 : ''
  return {
    range: `bytes=${from}-${last}`,
    ...(sha256 === undefined && validator !== undefined && { 'if-range': validator }),
  }
}

export interface Part {
  readonly offset: number
  /** Of the whole; null when the server does not say. */
  readonly total: number | null
  /** Of the body; null when the server does not say. */
  readonly length: number | null
}

/** What a 206 holds; throws when that is not what was asked for. */
export function partOf(headers: IncomingHttpHeaders, wanted: Wanted, place: Place): Part {
  const [, first, last, whole] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '') ?? []
  if (first === undefined) throw rangeUnusable(place, 'it does not say which part it sends')
  const [offset, end] = [Number(first), Number(last) + 1]
  const total = whole === '*' ? (wanted.total ?? null) : Number(whole)
  if (offset !== beginningOf(wanted)) throw rangeUnusable(place, 'it sends another part')
  if (end <= offset || (total !== null && end > total)) throw rangeUnusable(place, 'it sends a part that cannot be')
  if (wanted.total !== undefined && total !== wanted.total) throw rangeUnusable(place, 'its size is another one')
  const { validator, sha256 } = wanted
  const now = validatorOf(headers)
  if (sha256 === undefined && validator !== undefined && now !== null && now !== validator)
    throw rangeUnusable(place, 'it has changed')
  return { offset, total, length: end - offset }
}

/** A strong ETag, else a date; a weak ETag does not promise equal bytes. */
export function validatorOf({ etag, 'last-modified': lastModified }: IncomingHttpHeaders): string | null {
  return etag?.startsWith('"') ? etag : (lastModified ?? null)
}
