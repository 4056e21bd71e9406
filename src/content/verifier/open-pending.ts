// Opens a downloaded file so that nothing but a plain file of the downloader's is ever read: no link is followed, no FIFO or
// device waited for, and no name outside pending/ opened. It is never renamed: a writer may still hold it open.
import { constants } from 'node:fs'
import { basename, join } from 'node:path'
import { isErrno } from '../../lib/errors.ts'
import { pendingMissing, type Setback, systemSetback, unsafeFile } from './setback.ts'
import type { Tools } from './tools.ts'

export type Opened = { readonly fd: number; readonly size: number } | { readonly setback: Setback }

type Opening = Pick<Tools, 'files' | 'layout' | 'downloaderUid'>

export function openPending({ files, layout, downloaderUid }: Opening, path: string): Opened {
  if (path !== join(layout.pending, basename(path))) return { setback: unsafeFile('is not directly in pending/') }
  let fd: number
  try {
    fd = files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    return { setback: setbackOfOpen(error) }
  }
  const stats = files.fstat(fd)
  const setback = stats.nlink === 0 ? pendingMissing() : whyUnsafe(stats, downloaderUid)
  if (!setback) return { fd, size: stats.size }
  files.close(fd)
  return { setback }
}

function setbackOfOpen(error: unknown): Setback {
  if (isErrno(error, 'ENOENT')) return pendingMissing()
  if (isErrno(error, 'ELOOP')) return unsafeFile('is a symbolic link')
  // A socket, or a device that is not there.
  if (isErrno(error, 'ENXIO', 'ENODEV')) return unsafeFile('is not a regular file')
  return systemSetback(error)
}

interface Found {
  readonly uid: number
  readonly nlink: number
  isFile(): boolean
}

function whyUnsafe(stats: Found, downloaderUid: number | undefined): Setback | null {
  if (!stats.isFile()) return unsafeFile('is not a regular file')
  if (stats.nlink !== 1) return unsafeFile(`has ${stats.nlink} names`)
  if (downloaderUid !== undefined && stats.uid !== downloaderUid)
    return unsafeFile(`belongs to user ${stats.uid} and not to the downloader`)
  return null
}
