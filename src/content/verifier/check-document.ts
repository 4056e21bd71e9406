// An index or a manifest is read as strictly here as in the manager, before it may be called verified: its type is part of
// what it says. All other types are names that a parent gave, and say nothing about the bytes.
import type { Files } from '../../lib/files.ts'
import { maxManifestSize, parseManifest } from '../oci/manifest.ts'
import { manifestKindOf } from '../oci/media-types.ts'
import type { BlobName } from './names.ts'
import { readBlob } from './read-blob.ts'
import { badManifest, type Setback } from './setback.ts'

/** The bytes of `path` are known to be those of the digest. */
export function checkDocument(files: Files, path: string, { sha256, mediaType }: BlobName): Setback | null {
  if (manifestKindOf(mediaType) === null) return null
  const bytes = readBlob(files, path, { sha256, max: maxManifestSize })
  if (!bytes)
    return badManifest({ code: 'content.manifest-too-large', reason: `it has more than ${maxManifestSize} bytes` })
  const parsed = parseManifest(bytes, mediaType)
  return parsed.ok ? null : badManifest(parsed)
}
