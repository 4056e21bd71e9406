// Files of this machine, or of a disk that was put in: read like a download.
import { constants, read } from 'node:fs'
import { promisify } from 'node:util'
import { isErrno, messageOf } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import { type Opened, type OpenRequest, OriginFailure } from '../origin.ts'
import { notFound, rangeUnusable, truncated, unreadable } from './failures.ts'
import { beginningOf } from './range.ts'

export async function openFile(path: string, request: OpenRequest, files: Files): Promise<Opened> {
  request.signal.throwIfAborted()
  const fd = openRegular(path, files)
  let isOpen = true
  const close = () => {
    if (isOpen) files.close(fd)
    isOpen = false
  }
  try {
    const { size, mtimeMs, ino } = files.fstat(fd)
    const validator = `${mtimeMs}-${size}-${ino}`
    const isSame = request.validator === undefined || request.validator === validator
    const offset = isSame ? beginningOf(request) : 0
    if (offset > size) throw rangeUnusable(path, 'it is shorter than that')
    const body = bytesOf({ fd, path, offset, end: size, signal: request.signal, close })
    return { offset, total: size, validator, contentType: null, body, close }
  } catch (error) {
    close()
    throw error
  }
}

/** O_NONBLOCK: opening a pipe must not wait for a writer. */
function openRegular(path: string, files: Files): number {
  try {
    const fd = files.open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (files.fstat(fd).isFile()) return fd
    files.close(fd)
  } catch (error) {
    throw fileFailure(path, error)
  }
  throw unreadable(path, 'refused', 'it is not a regular file')
}

interface Reading {
  readonly fd: number
  readonly path: string
  readonly offset: number
  readonly end: number
  readonly signal: AbortSignal
  close(): void
}

const blockSize = 1024 * 1024
// Not by Files, which would hold up everything else while a slow disk turns.
const readAt = promisify(read)

async function* bytesOf({ fd, path, offset, end, signal, close }: Reading): AsyncGenerator<Buffer, void, undefined> {
  try {
    for (let at = offset; at < end; ) {
      signal.throwIfAborted()
      const block = Buffer.allocUnsafeSlow(Math.min(blockSize, end - at))
      const { bytesRead } = await readAt(fd, block, 0, block.length, at)
      if (bytesRead === 0) throw truncated(path, at, end)
      at += bytesRead
      yield block.subarray(0, bytesRead)
    }
  } catch (error) {
    throw error === signal.reason ? error : fileFailure(path, error)
  } finally {
    close()
  }
}

function fileFailure(path: string, error: unknown): OriginFailure {
  if (error instanceof OriginFailure) return error
  if (isErrno(error, 'ENOENT', 'ENOTDIR')) return notFound(path)
  const kind = isErrno(error, 'EACCES', 'EPERM', 'ERR_ACCESS_DENIED') ? 'denied' : 'passing'
  return unreadable(path, kind, messageOf(error))
}
