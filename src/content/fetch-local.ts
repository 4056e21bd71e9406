// file:// sources: mirrors on this machine or on a mounted disk, read like a download.
import { constants } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isErrno, messageOf } from '../lib/errors.ts'
import type { Files } from '../lib/files.ts'
import { notFound, unreadable } from './fetch-failure.ts'

export async function* readLocal(files: Files, url: URL): AsyncGenerator<Buffer> {
  const fd = openLocal(files, url)
  try {
    if (!files.fstat(fd).isFile()) throw unreadable(url, 'it is not a file')
    const buffer = Buffer.allocUnsafe(1024 * 1024)
    for (let count = files.read(fd, buffer); count > 0; count = files.read(fd, buffer)) {
      yield buffer.subarray(0, count)
      await setImmediate()
    }
  } finally {
    files.close(fd)
  }
}

/** O_NONBLOCK: opening a pipe must not wait for a writer. */
function openLocal(files: Files, url: URL): number {
  try {
    return files.open(fileURLToPath(url), constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) throw notFound(url)
    throw unreadable(url, messageOf(error))
  }
}
