// SHA-256 of a file's bytes, a chunk at a time, so that the largest file costs no more memory than a small one.
import { createHash } from 'node:crypto'
import type { Files } from './files.ts'
import { readChunks } from './read-chunks.ts'

/** Lower-case hex. Follows no link. */
export function hashFile(files: Files, path: string): string {
  const hash = createHash('sha256')
  for (const chunk of readChunks(files, path)) hash.update(chunk)
  return hash.digest('hex')
}
