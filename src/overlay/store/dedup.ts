// Equal files of different states become one inode: each content has a name in the pool, `.links/<2 characters>/<sha256>`
// with an x at the end for programs, and every copy becomes a hard link to it. Only recorded states are touched: nobody
// writes to those. Readers see the old inode or the new one, with the same bytes.
import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { litterPrefix, makeDirectories, removeIfThere } from '../../lib/durable.ts'
import { isErrno } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { hashFile } from '../../lib/hash-file.ts'
import { type Layout, statePath } from '../layout.ts'
import type { StateName } from '../names.ts'
import { recordPath } from './record.ts'
import { walkTree } from './tree.ts'

export interface DedupReport {
  /** Files that are now links to bytes that were there already. */
  readonly linked: number
  readonly savedBytes: number
  /** Files that stay as they are: too many links, no room, or a file system without links. */
  readonly skipped: number
}

/** Below this a file does not take a block more than its link would. */
const smallest = 4096

export function dedupStates(files: Files, layout: Layout, states: readonly StateName[]): DedupReport {
  const report = { linked: 0, savedBytes: 0, skipped: 0 }
  const isPooled = poolInodes(files, layout)
  for (const state of states) {
    if (!files.lstat(recordPath(layout, state))) continue
    const directory = statePath(layout, state)
    for (const { path, kind } of walkTree(files, directory)) {
      if (kind !== 'file') continue
      const file = join(directory, path)
      const stats = files.lstat(file)!
      if (stats.size < smallest || (stats.nlink > 1 && isPooled(stats.ino))) continue
      const result = shareOrSkip(files, layout, file, stats)
      if (result === 'skipped') report.skipped++
      if (result !== 'linked') continue
      report.linked++
      if (stats.nlink === 1) report.savedBytes += stats.size
    }
  }
  return report
}

/** Removes the names of contents that no state has any more. */
export function sweepPool(files: Files, layout: Layout) {
  for (const { entry, stats } of poolEntries(files, layout)) if (stats.nlink === 1) removeIfThere(files, entry)
}

/** Makes the pool forget inodes, so that no further state is linked to them. */
export function forgetInodes(files: Files, layout: Layout, inodes: ReadonlySet<number>) {
  for (const { entry, stats } of poolEntries(files, layout)) if (inodes.has(stats.ino)) removeIfThere(files, entry)
}

function* poolEntries(files: Files, layout: Layout): Generator<{ entry: string; stats: Stats }> {
  if (!files.lstat(layout.pool)) return
  for (const shard of files.readdir(layout.pool))
    for (const name of files.readdir(join(layout.pool, shard))) {
      const entry = join(layout.pool, shard, name)
      const stats = files.lstat(entry)
      if (stats) yield { entry, stats }
    }
}

/** Read when first asked for: a fresh state has no links, and then nobody asks. */
function poolInodes(files: Files, layout: Layout): (inode: number) => boolean {
  let inodes: Set<number> | null = null
  return inode => {
    inodes ??= new Set(poolEntries(files, layout).map(({ stats }) => stats.ino))
    return inodes.has(inode)
  }
}

type Shared = 'first' | 'linked' | 'skipped'

function shareOrSkip(files: Files, layout: Layout, file: string, stats: Stats): Shared {
  try {
    return share(files, layout, file, stats)
  } catch (error) {
    // ENOENT, EEXIST: a collection or another Prepare changed the pool between two steps.
    if (isErrno(error, 'EMLINK', 'ENOSPC', 'EDQUOT', 'EXDEV', 'EPERM', 'ENOENT', 'EEXIST')) return 'skipped'
    throw error
  }
}

function share(files: Files, layout: Layout, file: string, stats: Stats): Shared {
  const sha256 = hashFile(files, file)
  const shard = join(layout.pool, sha256.slice(0, 2))
  const entry = join(shard, stats.mode & 0o100 ? `${sha256}x` : sha256)
  const found = files.lstat(entry)
  if (found && isSound(files, entry, found, { sha256, size: stats.size })) {
    const temporary = join(shard, `${litterPrefix}${randomBytes(6).toString('hex')}`)
    files.link(entry, temporary)
    try {
      replace(files, temporary, file)
    } catch (error) {
      removeIfThere(files, temporary)
      throw error
    }
    return 'linked'
  }
  if (found) removeIfThere(files, entry)
  makeDirectories(files, shard)
  files.link(file, entry)
  return 'first'
}

/** A damaged inode in the pool must not take the place of a good file. */
const isSound = (files: Files, entry: string, found: Stats, wanted: { sha256: string; size: number }) =>
  found.size === wanted.size && hashFile(files, entry) === wanted.sha256

/** The directory of a state is read-only and shows no time of change; it does so again afterwards. */
function replace(files: Files, temporary: string, file: string) {
  const directory = dirname(file)
  try {
    files.rename(temporary, file)
  } catch (error) {
    if (!isErrno(error, 'EACCES')) throw error
    files.chmod(directory, 0o755)
    files.rename(temporary, file)
    files.chmod(directory, 0o555)
  }
  files.lutimes(directory, 1, 1)
}
