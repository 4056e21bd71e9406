// A file's bytes, piece by piece, however large it is. A chunk is valid until the next one is asked for.
import { constants } from 'node:fs'
import type { Files } from './files.ts'

export function* readChunks(files: Files, path: string): Generator<Buffer> {
  const fd = files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const buffer = Buffer.allocUnsafe(1024 * 1024)
    for (let count = files.read(fd, buffer); count > 0; count = files.read(fd, buffer)) yield buffer.subarray(0, count)
  } finally {
    files.close(fd)
  }
}
