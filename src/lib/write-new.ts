// A file that must not exist yet, in a directory that nobody else sees yet; the caller makes the whole durable later.
import { constants } from 'node:fs'
import type { Files } from './files.ts'

export function writeNew(files: Files, path: string, content: string | Uint8Array, mode = 0o644) {
  const fd = files.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode)
  try {
    files.write(fd, typeof content === 'string' ? Buffer.from(content) : content)
  } finally {
    files.close(fd)
  }
}
