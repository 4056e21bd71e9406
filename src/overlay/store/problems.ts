// All that can be wrong with a package's source, as the config declares it or as it was found.
import { type Checksum, spellChecksum } from '../../lib/checksum.ts'
import type { Problem, Warning } from '../../lib/problem.ts'

/** `at` is the config path of the package: packageByNames.nginx */
type At = string

export const fieldMissing = (at: At, type: string, field: string): Problem => ({
  code: 'source.field-missing',
  path: `${at}.source.${field}`,
  reason: `a source of type ${type} needs ${field}`,
})

export const fieldUnused = (at: At, type: string, field: string): Warning => ({
  code: 'source.field-unused',
  path: `${at}.source.${field}`,
  reason: `${field} means nothing for a source of type ${type} and is not used`,
})

export const uriInvalid = (at: At, type: string, reason: string): Problem => ({
  code: 'source.uri-invalid',
  path: `${at}.source.uri`,
  reason,
  hint: type === 'oci' ? 'Write registry.example/name:tag.' : 'Write https://…, http://… or file://….',
})

export const pathInvalid = (at: At, path: string): Problem => ({
  code: 'source.path-invalid',
  path: `${at}.source.path`,
  reason: `"${path}" is not a plain path inside the package`,
  hint: 'Write a relative path without "..", such as bin/tool.',
})

export const modeInvalid = (at: At, mode: string): Problem => ({
  code: 'source.mode-invalid',
  path: `${at}.source.mode`,
  reason: `"${mode}" is not an octal mode without special bits`,
  hint: 'Write 0555 for a program, 0444 for anything else.',
})

export const checksumSyntax = (at: At, checksum: string): Problem => ({
  code: 'source.checksum-syntax',
  path: `${at}.source.checksum`,
  reason: `"${checksum}" is not a checksum`,
  hint: 'Write sha256:<64 hexadecimal digits>, or an SRI string such as sha256-<base64>.',
})

export const unpinned = (at: At): Problem => ({
  code: 'source.unpinned',
  path: `${at}.source.checksum`,
  reason: 'the source has no checksum, so whatever the server sends is installed',
  hint: 'Add checksum: sha256:<hex>; the record and the report say which hash was seen.',
})

export const sourceNotFound = (at: At, uri: string): Problem => ({
  code: 'source.not-found',
  path: `${at}.source.uri`,
  reason: `${uri} does not exist`,
})

export const sourceUnreadable = (at: At, reason: string): Problem => ({
  code: 'source.unreadable',
  path: `${at}.source.uri`,
  reason,
})

export const sourceSpecialFile = (at: At, file: string): Problem => ({
  code: 'source.special-file',
  path: `${at}.source.uri`,
  reason: `${file} is neither a file, a directory nor a symbolic link`,
})

export const sourceNameInvalid = (at: At, file: string): Problem => ({
  code: 'source.name-invalid',
  path: `${at}.source.uri`,
  reason: `${file} has a name or a link text that is not UTF-8`,
})

export const sourceLinkEscape = (at: At, link: string, fault: string): Problem => ({
  code: 'source.link-escape',
  path: `${at}.source.uri`,
  reason: `the link ${link} ${fault}`,
  hint: 'Make it relative and keep it inside, or set source.allowAbsoluteLinks if it is absolute on purpose.',
})

export const checksumMismatch = (at: At, what: string, wanted: Checksum, got: string): Problem => ({
  code: 'source.checksum-mismatch',
  path: `${at}.source.checksum`,
  reason: `${what}: wanted ${spellChecksum(wanted)}, got ${wanted.algorithm}:${got}`,
})

export const sourceChanged = (at: At): Problem => ({
  code: 'source.changed',
  path: `${at}.source.uri`,
  reason: 'the source changed while it was read',
  hint: 'Try again when nothing writes to it.',
})

export const recordCorrupt = (path: string, kept: string): Warning => ({
  code: 'record.corrupt',
  path,
  reason: `the record cannot be read; it was moved to ${kept}, and its state is installed again when it is needed`,
})
