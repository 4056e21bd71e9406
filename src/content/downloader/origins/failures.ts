// Every way in which a source can fail, with its words. Addresses pass safeUrl and foreign text passes redact here, so that
// nobody else has to think of it.
import { redact } from '../../../lib/redact.ts'
import { safeUrl } from '../../../lib/safe-url.ts'
import { printSize } from '../../../lib/size.ts'
import { type FailureKind, OriginFailure } from '../origin.ts'

/** An address, or a path of this machine. */
export type Place = URL | string

export const addressInvalid = (reason: string) =>
  new OriginFailure('source.uri-invalid', 'refused', `this is no address that Cairn can fetch from: ${redact(reason)}`)

export const digestRequired = (place: Place) =>
  new OriginFailure('source.digest-required', 'refused', `${shown(place)} gives content by its digest only`)

export const withoutTags = (place: Place) =>
  new OriginFailure('source.without-tags', 'refused', `${shown(place)} is a single file and has no tags`)

export const notFound = (place: Place) =>
  new OriginFailure('source.not-found', 'missing', `${shown(place)} does not exist`)

export const unreadable = (place: Place, kind: FailureKind, reason: string) =>
  new OriginFailure('source.unreadable', kind, `${shown(place)} cannot be read: ${redact(reason)}`)

export const unauthorized = (place: Place, status: number, advice = 'Check the credentials that the server wants.') =>
  new OriginFailure('source.unauthorized', 'denied', `${shown(place)} may not be read (HTTP ${status}). ${advice}`)

export const realmRefused = (asked: URL, realm: URL | null, reason: string) =>
  new OriginFailure(
    'source.realm-refused',
    'refused',
    `${asked.host} asks to log in at ${realm ? safeUrl(realm) : 'a place that is no address'}: ${reason}`,
  )

export const rejected = (place: Place, status: number) =>
  new OriginFailure('source.rejected', 'refused', `${shown(place)} answered HTTP ${status}`)

export const failing = (place: Place, status: number, retryAfterMs: number | undefined) =>
  new OriginFailure('source.unreachable', 'passing', `${shown(place)} answered HTTP ${status}`, retryAfterMs)

export const busy = (place: Place, status: number, retryAfterMs: number | undefined) =>
  new OriginFailure('source.busy', 'busy', `${shown(place)} asks to wait (HTTP ${status})`, retryAfterMs)

export const unreachable = (url: URL, reason: string) =>
  new OriginFailure('source.unreachable', 'passing', `${url.host} cannot be reached: ${redact(reason)}`)

export const stalled = (url: URL, stallMs: number) =>
  new OriginFailure('source.stalled', 'passing', `nothing came from ${url.host} for ${stallMs / 1000} s`)

export const untrusted = (url: URL, reason: string) =>
  new OriginFailure(
    'source.untrusted',
    'refused',
    `the certificate of ${url.host} is not trusted: ${redact(reason)}. If the server is yours, give its certificate authority in the datastore.`,
  )

/** Machines boot in 1970; it passes when they have learned the time. */
export const notYetTrusted = (url: URL) =>
  new OriginFailure(
    'source.untrusted',
    'passing',
    `the certificate of ${url.host} is not valid yet. Check the clock of this machine.`,
  )

export const insecureRedirect = (from: URL, to: URL) =>
  new OriginFailure(
    'source.insecure-redirect',
    'refused',
    `${safeUrl(from)} leads to ${safeUrl(to)}, which is not encrypted`,
  )

export const redirectInvalid = (from: URL) =>
  new OriginFailure('source.redirect-invalid', 'refused', `${safeUrl(from)} leads to a place that is not http or https`)

export const tooManyRedirects = (url: URL, most: number) =>
  new OriginFailure('source.too-many-redirects', 'refused', `${safeUrl(url)} leads on more than ${most} times`)

export const truncated = (place: Place, got: number, wanted: number | null) =>
  new OriginFailure(
    'source.truncated',
    'passing',
    `${shown(place)} broke off after ${printSize(got)}${wanted === null ? '' : ` of ${printSize(wanted)}`}`,
  )

export const tooMuch = (place: Place, wanted: number) =>
  new OriginFailure('source.too-long', 'range', `${shown(place)} sends more than the ${printSize(wanted)} it promised`)

export const rangeUnusable = (place: Place, reason: string) =>
  new OriginFailure('source.range-unusable', 'range', `${shown(place)} does not go on where it broke off: ${reason}`)

export const notContent = (place: Place, reason: string) =>
  new OriginFailure('source.not-content', 'refused', `${shown(place)} answered with something else: ${reason}`)

export const digestInvalid = (place: Place) =>
  new OriginFailure('source.digest-invalid', 'refused', `${shown(place)} names a digest that is no SHA-256`)

export const tagAmbiguous = (place: Place, tag: string) =>
  new OriginFailure('source.tag-ambiguous', 'refused', `${shown(place)} has several images with the tag ${redact(tag)}`)

export const tooLarge = (place: Place, most: number) =>
  new OriginFailure('source.too-large', 'refused', `${shown(place)} is larger than ${printSize(most)}`)

const shown = (place: Place) => (typeof place === 'string' ? redact(place) : safeUrl(place))
