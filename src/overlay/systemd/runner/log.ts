// What a unit writes, in one file of bounded size: when it is full, its older half is dropped at the end of a line.
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectories, temporaryNameFor } from '../../../lib/durable.ts'
import type { Files } from '../../../lib/files.ts'

export interface Log {
  write(bytes: Uint8Array): void
  /** The last lines, oldest first. */
  tail(lines: number): string[]
}

const logLimit = 256 * 1024

/** Opens the file for each write: a unit writes seldom, and nothing has to be closed. */
export function logAt(files: Files, path: string, limit = logLimit): Log {
  makeDirectories(files, dirname(path))
  return {
    write(bytes) {
      try {
        const size = files.lstat(path)?.size ?? 0
        if (size + bytes.length <= limit) append(files, path, bytes)
        else
          replace(files, path, endOf(Buffer.concat([size > 0 ? files.readFile(path) : Buffer.of(), bytes]), limit / 2))
      } catch {
        // What cannot be written is lost: a log must not end what it tells of.
      }
    },
    tail(lines) {
      if (!files.lstat(path)) return []
      const text = files.readFile(path).toString('utf8')
      return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n').slice(-lines)
    },
  }
}

function append(files: Files, path: string, bytes: Uint8Array) {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
  const fd = files.open(path, flags, 0o600)
  try {
    files.write(fd, bytes)
  } finally {
    files.close(fd)
  }
}

function replace(files: Files, path: string, bytes: Uint8Array) {
  const temporary = temporaryNameFor(path)
  append(files, temporary, bytes)
  files.rename(temporary, path)
}

/** At most `most` bytes of the end, from the beginning of a line where there is one. */
function endOf(bytes: Buffer, most: number): Buffer {
  const end = bytes.subarray(-most)
  const start = end.indexOf('\n') + 1
  return start === end.length ? end : end.subarray(start)
}
