// Lists of what an image index names, as far as the downloader has to understand them: to find a tag or what refers to a
// digest. What is found decides nothing; the verifier reads the same bytes again. Pure.
import * as z from 'zod'
import { mediaTypeSchema, type ResolveStatus, type Sha256, sha256Schema } from '../../messages.ts'
import { parseJson } from './json.ts'

export type Found = NonNullable<ResolveStatus['found']>[number]

export interface Descriptor extends Found {
  readonly annotations: Readonly<Record<string, string>>
}

/** Larger ones are no manifests. */
export const mostManifestBytes = 4 * 1024 * 1024
/** A status names no more. */
const mostFound = 64

const indexSchema = z.object({
  manifests: z.array(
    z.object({
      digest: z.string(),
      mediaType: z.unknown(),
      size: z.unknown(),
      annotations: z.record(z.string(), z.string()).optional().catch(undefined),
    }),
  ),
})

/** Null when it is no index. Entries with a digest other than SHA-256 are left out: nobody could fetch them. */
export function parseIndex(body: Buffer): Descriptor[] | null {
  const index = indexSchema.safeParse(parseJson(body))
  if (!index.success) return null
  return index.data.manifests.flatMap(({ digest, mediaType, size, annotations = {} }) => {
    const sha256 = parseDigest(digest)
    return sha256 ? [{ ...found(sha256, mediaType, size), annotations }] : []
  })
}

/** Null when it is no SHA-256 in its one spelling. */
export function parseDigest(digest: string): Sha256 | null {
  const [, hex] = /^sha256:(.*)$/s.exec(digest) ?? []
  return sha256Schema.safeParse(hex).data ?? null
}

/** What others say of type and size goes along as far as it makes sense. */
export function found(sha256: Sha256, mediaType: unknown, size: unknown): Found {
  const type = mediaTypeSchema.safeParse(mediaType)
  const known = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
  return { sha256, ...(type.success && { mediaType: type.data }), size: known ? size : 0 }
}

/** Each digest once, in the order of the lists. */
export function withoutRepeats(lists: readonly (readonly Found[])[]): Found[] {
  const bySha = new Map<Sha256, Found>()
  for (const { sha256, mediaType, size } of lists.flat())
    if (!bySha.has(sha256)) bySha.set(sha256, { sha256, ...(mediaType !== undefined && { mediaType }), size })
  return [...bySha.values()].slice(0, mostFound)
}
