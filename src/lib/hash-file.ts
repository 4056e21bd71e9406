// SHA-256 of a file's bytes, a chunk at a time, so that the largest file costs no more memory than a small one.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import type { Files } from './files.ts'

const chunk = Buffer.allocUnsafeSlow(1024 * 1024)

/** Lower-case hex. Follows no link. */
export function hashFile(files: Files, path: string): string {
  const hash = createHash('sha256')
  const fd = files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    for (let count = files.read(fd, chunk); count > 0; count = files.read(fd, chunk))
      hash.update(chunk.subarray(0, count))
  } finally {
    files.close(fd)
  }
  return hash.digest('hex')
}
