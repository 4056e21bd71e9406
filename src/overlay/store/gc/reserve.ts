// A megabyte set aside: on a full disk even removing needs room (a lock file, a directory), and this is given up first.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { removeIfThere } from '../../../lib/durable.ts'
import { isErrno } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import { writeNew } from '../../../lib/write-new.ts'
import type { Layout } from '../../layout.ts'

const reservedBytes = 1024 * 1024

const reservePath = (layout: Layout) => join(layout.locks, 'reserve')

/** Idempotent; a disk without room for it goes without. */
export function makeReserve(files: Files, layout: Layout) {
  const path = reservePath(layout)
  if (files.lstat(path)) return
  try {
    // Random, so that a file system which compresses or leaves out zeros really gives the room.
    writeNew(files, path, randomBytes(reservedBytes), 0o600)
  } catch (error) {
    if (!isErrno(error, 'ENOSPC', 'EDQUOT', 'EEXIST')) throw error
    if (!isErrno(error, 'EEXIST')) removeIfThere(files, path)
  }
}

export function freeReserve(files: Files, layout: Layout) {
  removeIfThere(files, reservePath(layout))
}
