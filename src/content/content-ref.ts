// A request for content from what a person gave: a reference, and what stands beside it in flags or fields.
import { canonicalJson, sha256Hex } from '../lib/json.ts'
import type { Problem } from '../lib/problem.ts'
import { type ContentRef, mediaTypeSchema, type Platform, type Trust } from './messages.ts'
import { thisPlatform } from './oci/platform.ts'
import { parseDigest, parseReference } from './reference.ts'

export interface ContentWish {
  readonly text: string
  /** Absolute; relative paths in the text start here. */
  readonly baseDirectory: string
  /** As people write it; see parseDigest. */
  readonly sha256?: string | undefined
  readonly mediaType?: string | undefined
  readonly size?: number | undefined
  /** Default: this machine's. */
  readonly platform?: Platform | undefined
  /** Default: nobody has to have signed it. */
  readonly trust?: Trust | undefined
}

export function contentRefOf(wish: ContentWish): ContentRef | Problem[] {
  const { text, baseDirectory, size = 0, platform = thisPlatform(), trust = noTrust } = wish
  const mediaType = wish.mediaType?.toLowerCase()
  const digest = wish.sha256 === undefined ? undefined : parseDigest(wish.sha256)
  const sha256 = typeof digest === 'object' ? undefined : digest
  const reference = parseReference(text, { baseDirectory, sha256 })

  const problems: Problem[] = Array.isArray(reference) ? reference : []
  if (typeof digest === 'object') problems.push({ ...digest, path: 'sha256' })
  if (mediaType !== undefined && !mediaTypeSchema.safeParse(mediaType).success) problems.push(badMediaType())
  if (!Number.isSafeInteger(size) || size < 0) problems.push(badSize())
  if (problems.length > 0 || Array.isArray(reference)) return problems
  return { ...reference, ...(mediaType && { mediaType }), size, platform, trust }
}

/** The same for equal wishes, whatever else changes; short enough for a file name. */
export function contentIdOf({ name, sources, sha256, platform, trust }: ContentRef): string {
  return sha256Hex(canonicalJson({ name, sources, sha256, platform, trust })).slice(0, 20)
}

const noTrust: Trust = { policy: 'none', keys: [], certificates: [] }

const badMediaType = (): Problem => ({
  code: 'reference.media-type-invalid',
  path: 'mediaType',
  reason: 'this is no media type',
  hint: 'Write it as type/subtype: application/vnd.oci.image.manifest.v1+json.',
})

const badSize = (): Problem => ({
  code: 'reference.size-invalid',
  path: 'size',
  reason: 'the size is no whole number of bytes',
  hint: 'Leave it out when it is not known.',
})
