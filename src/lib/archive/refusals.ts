// Why an archive is not unpacked, each with the entry that is at fault. Thrown while unpacking; who began
// it makes the Problem, because only that one knows which source the archive belongs to.
import type { Problem, ProblemCode } from '../problem.ts'
import { printSize } from '../size.ts'

export class ArchiveRefusal extends Error {
  readonly code: ProblemCode
  readonly hint: string | undefined

  constructor(code: ProblemCode, reason: string, hint?: string) {
    super(reason)
    this.code = code
    this.hint = hint
  }
}

/** `declaredAt` is the config path of the source. */
export function problemOf({ code, message, hint }: ArchiveRefusal, declaredAt: string): Problem {
  const problem = { code, path: `${declaredAt}.uri`, reason: message }
  return hint === undefined ? problem : { ...problem, hint }
}

/** Names come from outside: quoted, so that a line feed or an escape sequence in one stays visible as such. */
export const quoted = (name: string) => JSON.stringify(name.length > 300 ? `${name.slice(0, 300)}…` : name)

export const traversal = (entry: string) =>
  new ArchiveRefusal('archive.traversal', `the entry ${quoted(entry)} would be written outside the package`)

export const nameInvalid = (entry: string, why: string) =>
  new ArchiveRefusal('archive.name-invalid', `the entry ${quoted(entry)} ${why}`)

export const throughLink = (entry: string, link: string) =>
  new ArchiveRefusal(
    'archive.link-escape',
    `the entry ${quoted(entry)} would be written through the link ${quoted(link)}`,
  )

export const linkEscape = (entry: string, text: string, why: string) =>
  new ArchiveRefusal('archive.link-escape', `the link ${quoted(entry)} to ${quoted(text)} ${why}`)

export const absoluteLink = (entry: string, text: string) =>
  new ArchiveRefusal(
    'archive.link-escape',
    `the link ${quoted(entry)} to ${quoted(text)} is absolute`,
    'Set source.allowAbsoluteLinks if it is meant to leave the package.',
  )

export const hardlinkMissing = (entry: string, target: string) =>
  new ArchiveRefusal(
    'archive.link-missing',
    `the hard link ${quoted(entry)} names ${quoted(target)}, which is not a file that came before it`,
  )

export const specialFile = (entry: string, what: string) =>
  new ArchiveRefusal('archive.special-file', `the entry ${quoted(entry)} is a ${what}`)

export const conflict = (entry: string, before: string, now: string) =>
  new ArchiveRefusal('archive.conflict', `the entry ${quoted(entry)} is a ${before} and again a ${now}`)

export const tooMany = (entry: string, most: number) =>
  new ArchiveRefusal('archive.limit', `the archive is too large: at ${quoted(entry)} it has more than ${most} entries`)

export const tooDeep = (entry: string, most: number) =>
  new ArchiveRefusal('archive.limit', `the entry ${quoted(entry)} lies more than ${most} directories deep`)

export const tooLarge = (entry: string, most: number) =>
  new ArchiveRefusal(
    'archive.limit',
    `the archive is too large: at ${quoted(entry)} it has given more than ${printSize(most)}`,
  )

export const tooDense = (entry: string, ratio: number) =>
  new ArchiveRefusal(
    'archive.limit',
    `the archive is too large: at ${quoted(entry)} it has given more than ${ratio} times its own size`,
  )

export const truncated = (entry: string | null) =>
  new ArchiveRefusal(
    'archive.truncated',
    entry === null ? 'the archive breaks off' : `the archive breaks off at ${quoted(entry)}`,
  )

export const badFormat = (reason: string, hint?: string) => new ArchiveRefusal('archive.format', reason, hint)

export const unsupported = (reason: string, hint?: string) => new ArchiveRefusal('archive.unsupported', reason, hint)
