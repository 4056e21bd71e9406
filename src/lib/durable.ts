// Changes that survive a power cut: after each of these returns, the new content and its name are on disk;
// at every moment before, the old ones are. A crash can leave a temporary file, whose name says that it is ours.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isErrno } from './errors.ts'
import type { Files } from './files.ts'
import { syncFileSystemNow } from './sync-file-system.ts'

/** Names of files that a crash may leave behind: hidden, random, with this prefix. */
export const litterPrefix = '.cairn-tmp-'

export const temporaryNameFor = (path: string): string =>
  join(dirname(path), `${litterPrefix}${randomBytes(6).toString('hex')}-${basename(path).slice(0, 100)}`)

export interface FileAttributes {
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
}

/** Replaces or creates a file as a whole. Owner first, then mode: a change of owner clears special bits. */
export function writeDurably(
  files: Files,
  path: string,
  content: string | Uint8Array,
  attributes: FileAttributes = {},
) {
  const temporary = temporaryNameFor(path)
  const fd = files.open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  )
  try {
    try {
      files.write(fd, typeof content === 'string' ? Buffer.from(content) : content)
      if (attributes.uid !== undefined || attributes.gid !== undefined)
        files.fchown(fd, attributes.uid ?? -1, attributes.gid ?? -1)
      files.fchmod(fd, attributes.mode ?? 0o644)
      files.fsync(fd)
    } finally {
      files.close(fd)
    }
    files.rename(temporary, path)
  } catch (error) {
    removeIfThere(files, temporary)
    throw error
  }
  syncDirectory(files, dirname(path))
}

/** Replaces or creates a symbolic link in one rename. */
export function linkDurably(files: Files, path: string, text: string) {
  const temporary = temporaryNameFor(path)
  files.symlink(text, temporary)
  try {
    files.rename(temporary, path)
  } catch (error) {
    removeIfThere(files, temporary)
    throw error
  }
  syncDirectory(files, dirname(path))
}

export function renameDurably(files: Files, from: string, to: string) {
  files.rename(from, to)
  syncDirectory(files, dirname(to))
  if (dirname(from) !== dirname(to)) syncDirectory(files, dirname(from))
}

export const syncDirectory = (files: Files, path: string) =>
  sync(files, path, constants.O_RDONLY | constants.O_DIRECTORY)

export const syncFile = (files: Files, path: string) => sync(files, path, constants.O_RDONLY | constants.O_NOFOLLOW)

function sync(files: Files, path: string, flags: number) {
  const fd = files.open(path, flags)
  try {
    files.fsync(fd)
  } finally {
    files.close(fd)
  }
}

/** Past this many, one flush of their file systems is faster. */
const fewDirectories = 64

export function syncDirectories(files: Files, paths: Iterable<string>) {
  const all = [...paths]
  if (all.length > fewDirectories && syncFileSystemNow(all)) return
  for (const path of all) syncDirectory(files, path)
}

/** Makes the directory and its missing parents; returns those it made, outermost first. */
export function makeDirectories(files: Files, path: string, mode = 0o755): string[] {
  if (files.lstat(path)) return []
  const made = makeDirectories(files, dirname(path), mode)
  try {
    files.mkdir(path, mode)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return made
    throw error
  }
  return [...made, path]
}

/** Removes a file, a link or a whole tree, also a read-only one; nothing there is fine. Follows no link. */
export function removeTree(files: Files, path: string) {
  const stats = files.lstat(path)
  if (!stats) return
  if (!stats.isDirectory()) return removeIfThere(files, path)
  if ((stats.mode & 0o700) !== 0o700) files.chmod(path, 0o700)
  for (const entry of files.readdirTypes(path)) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) removeTree(files, child)
    else removeIfThere(files, child)
  }
  files.rmdir(path)
}

export function removeIfThere(files: Files, path: string) {
  try {
    files.unlink(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
  }
}
