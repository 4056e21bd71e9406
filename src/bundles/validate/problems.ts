// All that can be wrong with what a bundle says, on one screen. A complaint is a Problem whose path starts at the root of its
// document; understand.ts puts the resource before the path and looks up the place in the file.
import type { Problem } from '../../lib/problem.ts'
import { didYouMean } from '../../lib/suggest.ts'
import { longestMetadataName } from '../../resources/metadata.ts'

export interface Complaint extends Omit<Problem, 'source'> {
  /** Which place the path means: of a key that is unknown or missing, or of a wrong value. */
  readonly at?: 'key'
  readonly warning?: true
}

/** A value in words, for "must be a list, not text". Never the value itself, which may be a secret. */
function formOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'text' : `a ${typeof value}`
}

const quote = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)

// Any level
export const valueType = (path: string, wanted: string, value: unknown, hint?: string): Complaint => ({
  code: 'value.type',
  path,
  reason: `must be ${wanted}, not ${formOf(value)}`,
  ...(hint && { hint }),
})
export const valueMissing = (path: string, reason: string): Complaint => ({
  code: 'value.missing',
  path,
  reason,
  at: 'key',
})
export const keyUnknown = (path: string, key: string, known: readonly string[]): Complaint => {
  const hint = didYouMean(key, known) ?? (known.length > 0 ? `Known here: ${known.join(', ')}.` : undefined)
  return { code: 'key.unknown', path, reason: `unknown key ${quote(key)}`, ...(hint && { hint }), at: 'key' }
}

// The envelope
export const notMapping = (value: unknown): Complaint => ({
  code: 'resource.not-mapping',
  path: '',
  reason: `a resource is a mapping with kind, metadata and spec, not ${formOf(value)}`,
})
export const kindMissing = (): Complaint => ({
  code: 'kind.missing',
  path: 'kind',
  reason: 'the resource says no kind',
  hint: 'Write kind: and metadata.name: in every resource.',
  at: 'key',
})
export const kindUnknown = (kind: string, apiVersion: string, hint: string | undefined): Complaint => ({
  code: 'kind.unknown',
  path: 'kind',
  reason: `${apiVersion} has no kind ${quote(kind)}`,
  ...(hint && { hint }),
})
export const apiVersionUnknown = (path: string, apiVersion: string, known: readonly string[]): Complaint => ({
  code: 'api-version.unknown',
  path,
  reason: `there is no apiVersion ${quote(apiVersion)}; known: ${known.join(', ')}`,
  hint: didYouMean(apiVersion, known) ?? `Write apiVersion: ${known[0]}.`,
})
export const statusDropped = (): Complaint => ({
  code: 'status.dropped',
  path: 'status',
  reason: 'status is reported by Cairn and not read from a bundle',
  at: 'key',
  warning: true,
})
export const associationSpelling = (): Complaint => ({
  code: 'key.respelled',
  path: 'spec.association',
  reason: 'association is read as associations',
  hint: 'Write associations.',
  at: 'key',
  warning: true,
})

// Names
export const nameMissing = (): Complaint => ({
  code: 'name.missing',
  path: 'metadata.name',
  reason: 'the resource has no name',
  hint: 'Give it a metadata.name that no other resource of its kind has in this bundle.',
  at: 'key',
})
export const nameInvalid = (path: string, name: string, offered: string): Complaint => ({
  code: 'name.invalid',
  path,
  reason: `${quote(name)} is not a name: lower-case letters, digits, - and _, beginning and ending with a letter or digit`,
  ...(offered && { hint: `Write ${offered}.` }),
})
export const nameTooLong = (path: string, name: string, offered: string): Complaint => ({
  code: 'name.too-long',
  path,
  reason: `the name has ${name.length} characters; at most ${longestMetadataName} are allowed`,
  hint: `Write ${offered}.`,
})
export const nameDuplicate = (address: string, first: string): Complaint => ({
  code: 'name.duplicate',
  path: 'metadata.name',
  reason: `${address} has the same name as ${first}`,
  hint: 'Rename one of them.',
})
export const nameConfusable = (name: string, first: string): Complaint => ({
  code: 'name.confusable',
  path: 'metadata.name',
  reason: `${name} differs from ${first} only in - and _`,
  warning: true,
})
export const displayNameDuplicate = (path: string, displayName: string, first: string): Complaint => ({
  code: 'display-name.duplicate',
  path,
  reason: `the display name ${quote(displayName)} is also that of ${first}`,
  hint: 'Display names of this kind are unique on the platform: change spec.name of one of them.',
})
export const displayNameLength = (
  path: string,
  displayName: string,
  { least, most }: { least: number; most: number },
): Complaint => {
  const isShort = displayName.length < least
  return {
    code: isShort ? 'value.too-short' : 'value.too-long',
    path,
    reason: `the display name ${quote(displayName)} has ${displayName.length} character${displayName.length === 1 ? '' : 's'}; ${isShort ? `at least ${least} are needed` : `at most ${most} are allowed`}`,
    hint: 'Set spec.name.',
  }
}
export const displayNameCharacters = (path: string): Complaint => ({
  code: 'value.invalid',
  path,
  reason: 'the display name has control characters, or half a character',
  hint: 'Set spec.name.',
})
export const displayNamePattern = (path: string, displayName: string, pattern: RegExp): Complaint => ({
  code: 'value.invalid',
  path,
  reason: `the display name ${quote(displayName)} does not match ${pattern.source}`,
  hint: 'Set spec.name.',
})
export const movedConflict = (path: string, name: string, reason: string): Complaint => ({
  code: 'moved.conflict',
  path,
  reason: `${quote(name)} ${reason}`,
  hint: 'Take the name out of movedFrom, or rename the other resource.',
})
export const ignoreUnknown = (path: string, ignored: string, hint: string | undefined): Complaint => ({
  code: 'value.invalid',
  path,
  reason: `${quote(ignored)} is not the path of a field`,
  hint: hint ?? 'Write paths such as spec.size.',
})

// Values from outside
export const envMalformed = (path: string, reason: string, at: 'key' | 'value'): Complaint => ({
  code: 'env.malformed',
  path,
  reason,
  hint: 'Write { envRef: { key: KEY } }, with default and type if wanted.',
  ...(at === 'key' && { at }),
})
export const envType = (path: string, key: string, reason: string): Complaint => ({
  code: 'env.type',
  path,
  reason: `the value of env ${quote(key)} ${reason}`,
})
export const envUnused = (key: string, used: readonly string[]): Complaint => {
  const hint = didYouMean(key, used)
  return {
    code: 'env.unused',
    path: 'env',
    reason: `no resource uses the env value ${quote(key)}`,
    ...(hint && { hint }),
    warning: true,
  }
}
export const secretInline = (path: string, form: 'value' | 'named'): Complaint => ({
  code: 'secret.inline',
  path,
  reason: 'a secret must not stand in a bundle',
  hint: `Supply the value at apply, and write ${form === 'value' ? '{ secretRef: { key: KEY } }' : '{ name: KEY }'} here.`,
})
export const secretNotAllowed = (path: string): Complaint => ({
  code: 'secret.not-allowed',
  path,
  reason: 'a secret cannot be used here',
  hint: 'secretRef stands only in fields that are kept secret; for other values from outside there is envRef.',
})

// References
export const referenceMissing = (path: string, target: string, hint: string | undefined): Complaint => ({
  code: 'reference.missing',
  path,
  reason: `there is no ${target} in this bundle`,
  hint: hint ?? 'Add it, or write external: DISPLAY NAME for one that is already on the platform.',
})
export const referenceDuplicate = (path: string, target: string): Complaint => ({
  code: 'reference.duplicate',
  path,
  reason: `the association with ${target} stands here a second time`,
  hint: 'Take it out.',
})
export const referenceKind = (path: string, reason: string, hint?: string): Complaint => ({
  code: 'reference.kind',
  path,
  reason,
  ...(hint && { hint }),
})
export const referenceForm = (path: string, reason: string): Complaint => ({
  code: 'value.invalid',
  path,
  reason,
  hint: 'Write { name: NAME } for a resource of this bundle, or { external: DISPLAY NAME } for one on the platform.',
})
export const referenceCycle = (path: string, circle: readonly string[]): Complaint => ({
  code: 'reference.cycle',
  path,
  reason: `resources refer to each other in a circle: ${circle.join(' -> ')}`,
  hint: 'Take out one of these references: none of them could be made first.',
})

// The bundle
export const bundleEmpty = (): Complaint => ({
  code: 'bundle.empty',
  path: '',
  reason: 'the bundle has no resources',
  hint: 'To remove everything that a stack made, uninstall it.',
})
export const tooManyAssociations = (path: string, count: number, limit: number): Complaint => ({
  code: 'limit.associations',
  path,
  reason: `${count} associations; at most ${limit} are allowed`,
})
export const moreProblems = (count: number): Problem => ({
  code: 'limit.problems',
  path: '',
  reason: `and ${count} more`,
  hint: 'Correct these first.',
})
