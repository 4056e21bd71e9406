// Reads a manifest from verified/. Its digest is looked at once more: what a tree is made of is decided here.
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import type { Sha256 } from '../../content/messages.ts'
import { maxManifestSize, type Parsed, parseManifest } from '../../content/oci/manifest.ts'
import type { ManagerContext } from '../../content/process/calls.ts'
import { sha256Hex } from '../../lib/json.ts'
import type { Failure } from '../switchboard/protocol.ts'
import { failureOf } from './jobs.ts'

export interface VerifiedManifest {
  readonly sha256: Sha256
  readonly path: string
  readonly mediaType: string | undefined
}

export function readVerified(
  context: ManagerContext,
  { sha256, path, mediaType }: VerifiedManifest,
): Parsed | { passing: Failure } {
  if (dirname(path) !== context.layout.verified)
    return { passing: { code: 'content.unsafe-file', text: `${path} is not a verified file` } }
  try {
    const bytes = readSome(context, path)
    if (bytes.length <= maxManifestSize && sha256Hex(bytes) !== sha256)
      return { passing: { code: 'content.digest-mismatch', text: `${path} is not what its name says` } }
    return parseManifest(bytes, mediaType)
  } catch (error) {
    return { passing: { ...failureOf(error), code: 'content.read-failed' } }
  }
}

/** One byte more than is allowed tells that it is too large. */
function readSome({ files }: ManagerContext, path: string): Buffer {
  const fd = files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const size = Math.min(files.fstat(fd).size, maxManifestSize + 1)
    const bytes = Buffer.alloc(size)
    let at = 0
    while (at < size) {
      const read = files.read(fd, bytes.subarray(at))
      if (read === 0) break
      at += read
    }
    return bytes.subarray(0, at)
  } finally {
    files.close(fd)
  }
}
