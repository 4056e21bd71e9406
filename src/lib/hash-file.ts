// The hash of a file's bytes, a chunk at a time, so that the largest file costs no more memory than a small one.
import { createHash } from 'node:crypto'
import type { Files } from './files.ts'
import { readChunks } from './read-chunks.ts'

/** Lower-case hex. Follows no link. */
export function hashFile(files: Files, path: string, algorithm: 'sha256' | 'sha384' | 'sha512' = 'sha256'): string {
  const hash = createHash(algorithm)
  for (const chunk of readChunks(files, path)) hash.update(chunk)
  return hash.digest('hex')
}
