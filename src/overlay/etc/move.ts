// Moves a thing with all its metadata, as a whole: at each moment it is complete at one end, or at both. Between file
// systems it is copied and synced first; a crash then leaves a copy with a name of ours.
import { constants, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeTree, syncDirectory, temporaryNameFor } from '../../lib/durable.ts'
import { CairnError, isErrno } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'

/** Replaces a file or link at `to`. The caller makes the directory and syncs both. */
export function move(files: Files, from: string, to: string) {
  try {
    files.rename(from, to)
  } catch (error) {
    if (!isErrno(error, 'EXDEV')) throw error
    const temporary = temporaryNameFor(to)
    try {
      copyTree(files, from, temporary)
      files.rename(temporary, to)
    } catch (error) {
      removeTree(files, temporary)
      throw error
    }
    syncDirectory(files, dirname(to))
    discard(files, from)
  }
}

/** Out of sight in one rename, so that nobody meets half of it. */
export function discard(files: Files, path: string) {
  const temporary = temporaryNameFor(path)
  files.rename(path, temporary)
  removeTree(files, temporary)
}

function copyTree(files: Files, from: string, to: string) {
  const stats = files.lstat(from)
  if (stats?.isFile()) copyFile(files, from, to, stats)
  else if (stats?.isSymbolicLink()) {
    files.symlink(files.readlink(from), to)
    files.lchown(to, stats.uid, stats.gid)
    files.lutimes(to, stats.atimeMs / 1000, stats.mtimeMs / 1000)
  } else if (stats?.isDirectory()) {
    files.mkdir(to, 0o700)
    for (const name of files.readdir(from)) copyTree(files, join(from, name), join(to, name))
    files.lchown(to, stats.uid, stats.gid)
    files.chmod(to, stats.mode & 0o7777)
    files.lutimes(to, stats.atimeMs / 1000, stats.mtimeMs / 1000)
    syncDirectory(files, to)
  } else
    throw new CairnError('etc.backup-impossible', `${from} cannot be copied to another file system`, {
      hint: 'Move it away by hand: it is a device, a pipe or a socket.',
    })
}

function copyFile(files: Files, from: string, to: string, { uid, gid, mode, atimeMs, mtimeMs }: Stats) {
  const source = files.open(from, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const fd = files.open(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    try {
      const chunk = Buffer.allocUnsafe(256 * 1024)
      for (let length = files.read(source, chunk); length > 0; length = files.read(source, chunk))
        files.write(fd, chunk.subarray(0, length))
      files.fchown(fd, uid, gid)
      files.fchmod(fd, mode & 0o7777)
      files.futimes(fd, atimeMs / 1000, mtimeMs / 1000)
      files.fsync(fd)
    } finally {
      files.close(fd)
    }
  } finally {
    files.close(source)
  }
}
