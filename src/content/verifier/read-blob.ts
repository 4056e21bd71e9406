// A small file of the verifier's own, as a whole: its bytes, hashed again as they are read, or nothing.
import { constants } from 'node:fs'
import type { Files } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import type { Sha256 } from '../messages.ts'

/** Null when it is longer than `max` or not what its digest says. Throws what the system says. */
export function readBlob(files: Files, path: string, { sha256, max }: { sha256: Sha256; max: number }): Buffer | null {
  const bytes = readSmall(files, path, max)
  return bytes && sha256Hex(bytes) === sha256 ? bytes : null
}

/** Null when it is no regular file or longer than `max`. Follows no link. */
export function readSmall(files: Files, path: string, max: number): Buffer | null {
  const fd = files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = files.fstat(fd)
    if (!stats.isFile() || stats.size > max) return null
    const buffer = Buffer.alloc(stats.size + 1)
    let length = 0
    for (let count = -1; count !== 0 && length < buffer.length; length += count)
      count = files.read(fd, buffer.subarray(length))
    return length > stats.size ? null : buffer.subarray(0, length)
  } finally {
    files.close(fd)
  }
}
