// Looks at one path: is it still what we made, is it still what we found, what is there at all. Follows no link.
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { CairnError, isErrno } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { hashFile } from '../../lib/hash-file.ts'
import { sha256Hex } from '../../lib/json.ts'
import { etcPath, type Layout, linkThroughStatic } from '../layout.ts'
import type { EtcTarget, Sha256 } from '../names.ts'
import type { Backup } from './entry.ts'
import type { Found, Made, MadeCopy } from './made.ts'

export function isMade(files: Files, layout: Layout, target: EtcTarget, made: Made): boolean {
  const path = etcPath(layout, target)
  const stats = files.lstat(path)
  if (!stats) return false
  switch (made.kind) {
    case 'directory':
      return stats.isDirectory()
    case 'copy':
      return stats.isFile() && metadataChanged(stats, made).length === 0 && hashOfFile(files, path) === made.sha256
    case 'link':
      return stats.isSymbolicLink() && files.readlink(path) === linkThroughStatic(layout, target)
    case 'direct':
      return stats.isSymbolicLink() && files.readlink(path) === made.text
  }
}

export function metadataChanged(stats: Stats, { mode, uid, gid }: MadeCopy): ('mode' | 'owner')[] {
  const changed: ('mode' | 'owner')[] = []
  if ((stats.mode & 0o7777) !== mode) changed.push('mode')
  if ((uid !== null && stats.uid !== uid) || (gid !== null && stats.gid !== gid)) changed.push('owner')
  return changed
}

/** Times are not compared: what only differs in them may be moved and put back all the same. */
export function isFound(files: Files, path: string, found: Omit<Backup, 'target'>): boolean {
  const stats = files.lstat(path)
  if (!stats) return false
  const now = foundOf(files, path, stats, { hash: found.what === 'file' })
  return (
    now.what === found.what &&
    now.uid === found.uid &&
    now.gid === found.gid &&
    now.mode === found.mode &&
    (found.sha256 === null || now.sha256 === found.sha256)
  )
}

/** The bytes of a file are read only when `hash` is set. */
export function foundOf(files: Files, path: string, stats: Stats, { hash }: { hash: boolean }): Found {
  const { uid, gid, mtimeMs, size } = stats
  const common = { mode: stats.mode & 0o7777, uid, gid, mtimeMs, size }
  if (stats.isSymbolicLink()) {
    const text = files.readlink(path)
    return { what: 'link', ...common, sha256: sha256Hex(text) as Sha256, text }
  }
  if (stats.isFile()) return { what: 'file', ...common, sha256: hash ? hashOfFile(files, path) : null }
  return { what: stats.isDirectory() ? 'directory' : 'special', ...common, sha256: null }
}

/** Names, kinds, metadata, texts and bytes all the way down; times left out. */
export function isSameTree(files: Files, a: string, b: string): boolean {
  const [one, other] = [files.lstat(a), files.lstat(b)]
  if (!one || !other) return false
  const found = foundOf(files, a, one, { hash: true })
  if (found.what === 'special' || !isFound(files, b, found)) return false
  if (found.what !== 'directory') return true
  const names = files.readdir(a)
  return (
    names.length === files.readdir(b).length && names.every(name => isSameTree(files, join(a, name), join(b, name)))
  )
}

export function hashOfFile(files: Files, path: string): Sha256 {
  try {
    return hashFile(files, path) as Sha256
  } catch (cause) {
    if (!isErrno(cause, 'EACCES', 'EPERM')) throw cause
    throw new CairnError('etc.unreadable', `${path} cannot be read`, { hint: 'Run this as root.', cause })
  }
}
