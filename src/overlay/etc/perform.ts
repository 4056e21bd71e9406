// Carries out one action. Looks at the path first: as expected, it is changed; done already, it is passed over; anything
// else, and someone changed it since the plan was made: etc.changed-underfoot, and the path is left as it is.
import { constants } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import {
  linkDurably,
  litterPrefix,
  makeDirectories,
  removeIfThere,
  removeTree,
  syncDirectories,
  syncDirectory,
  temporaryNameFor,
} from '../../lib/durable.ts'
import { CairnError, isErrno, unreachable } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import { etcPath, type Layout, linkThroughStatic, statePath } from '../layout.ts'
import type { EtcTarget } from '../names.ts'
import { staticState } from '../static.ts'
import type { EtcAction, SwitchAction } from './action.ts'
import { backupPath, isBackedUp } from './backup.ts'
import { type KeepLabel, labelKeeper } from './labels.ts'
import { isFound, isMade, isSameTree } from './look.ts'
import type { Made, MadeCopy } from './made.ts'
import { discard, move } from './move.ts'

export interface EtcContext {
  readonly files: Files
  readonly layout: Layout
  /** By default the machine's own way, if it has labels. */
  readonly keepLabel?: KeepLabel
}

export interface Site extends Required<EtcContext> {
  /** Directories whose names changed; synced once at the end, not once a link. */
  readonly touched: Set<string>
  /** Directories below /etc that were seen to be real ones. */
  readonly real: Set<string>
}

type Does<K extends EtcAction['do']> = Extract<EtcAction, { do: K }>

export function openSite({ files, layout, keepLabel = labelKeeper(files) }: EtcContext): Site {
  return { files, layout, keepLabel, touched: new Set(), real: new Set(['.']) }
}

export function closeSite({ files, touched }: Site) {
  syncDirectories(files, touched)
}

export function perform(site: Site, action: EtcAction) {
  switch (action.do) {
    case 'sweep':
      return removeTree(site.files, join(site.layout.etc, action.path))
    case 'add':
      return add(site, action)
    case 'remove':
      return remove(site, action)
    case 'replace':
      return replace(site, action)
    case 'take-over':
      return takeOver(site, action)
    case 'give-back':
      return giveBack(site, action)
    case 'switch':
      return flip(site, action)
    default:
      return unreachable(action)
  }
}

function add(site: Site, { target, put }: Does<'add'>) {
  if (!inRealDirectory(site, target)) throw changedUnderfoot(target)
  place(site, target, put)
}

function remove(site: Site, { target, was }: Does<'remove'>) {
  if (!inRealDirectory(site, target)) return
  if (was.kind === 'directory') {
    removeDirectory(site, target)
    return
  }
  if (isAbsent(site, target)) return
  if (!isMade(site.files, site.layout, target, was)) throw changedUnderfoot(target)
  site.files.unlink(touch(site, target))
}

/** Nothing there is as good as what was there: whatever is put harms nobody. */
function replace(site: Site, { target, was, put, over }: Does<'replace'>) {
  const { files, layout } = site
  if (!inRealDirectory(site, target)) throw changedUnderfoot(target)
  if (isMade(files, layout, target, put)) return
  const path = touch(site, target)
  if (!isAbsent(site, target)) {
    const isExpected = isMade(files, layout, target, was) || (over !== undefined && isFound(files, path, over))
    if (!isExpected) throw changedUnderfoot(target)
    if (put.kind !== 'directory' && was.kind !== 'directory') return overwrite(site, target, put)
    clear(site, target, was)
  }
  place(site, target, put)
}

function takeOver(site: Site, { target, backup, put }: Does<'take-over'>) {
  const { files, layout } = site
  if (!inRealDirectory(site, target)) throw changedUnderfoot(target)
  const path = touch(site, target)
  const kept = backupPath(layout, backup)
  if (!files.lstat(kept)) {
    if (!isFound(files, path, backup)) throw changedUnderfoot(target)
    hideBackups(site)
    makeParents(site, kept)
    move(files, path, kept)
    if (backup.what === 'directory') forgetBelow(site, target)
  } else if (!isFound(files, kept, backup)) throw backupOccupied(kept)
  if (isMade(files, layout, target, put)) return
  if (isSameTree(files, path, kept)) discard(files, path)
  place(site, target, put, kept)
}

/** No backup means that it was given back already. A parent that lacks is made: it was there once. */
function giveBack(site: Site, { target, backup, was }: Does<'give-back'>) {
  const { files, layout } = site
  if (!isBackedUp(files, layout, backup)) return
  if (parentIs(site, target) === 'bad') throw changedUnderfoot(target)
  const path = touch(site, target)
  const kept = backupPath(layout, backup)
  const isBack = isSameTree(files, path, kept)
  if (isBack && backup.what === 'directory') discard(files, kept)
  else {
    const isOurs = isMade(files, layout, target, was)
    if (!isOurs && !isBack && !isAbsent(site, target)) throw changedUnderfoot(target)
    if (isOurs && (was.kind === 'directory' || backup.what === 'directory')) clear(site, target, was)
    makeParents(site, path)
    // Also over a file that is equal: only the kept one has its times.
    move(files, kept, path)
  }
  prune(site, dirname(kept))
}

function flip({ files, layout }: Site, { to }: SwitchAction) {
  if (to === null) removeIfThere(files, layout.static)
  else if (staticState(files, layout) !== to) return linkDurably(files, layout.static, `../states/${to}/etc`)
  syncDirectory(files, dirname(layout.static))
}

/** Where nothing is. A link is made in place at once: ten thousand of them cost one call each. */
function place(site: Site, target: EtcTarget, put: Made, labelFrom?: string) {
  const { files } = site
  const path = touch(site, target)
  if (put.kind === 'copy') {
    if (isAbsent(site, target)) renameInto(site, writeCopy(site, path, put, labelFrom), path)
    else if (!isMade(files, site.layout, target, put)) throw changedUnderfoot(target)
    return
  }
  try {
    if (put.kind === 'directory') makeDirectory(files, path)
    else files.symlink(textOf(site, target, put), path)
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
    if (!isMade(files, site.layout, target, put)) throw changedUnderfoot(target)
  }
}

/** Readable for all, whatever the umask is. */
function makeDirectory(files: Files, path: string) {
  files.mkdir(path, 0o755)
  files.chmod(path, 0o755)
}

/** One rename, so that the target is never missing. */
function overwrite(site: Site, target: EtcTarget, put: Exclude<Made, { kind: 'directory' }>) {
  const { files } = site
  const path = etcPath(site.layout, target)
  if (put.kind === 'copy') return renameInto(site, writeCopy(site, path, put, path), path)
  const temporary = temporaryNameFor(path)
  files.symlink(textOf(site, target, put), temporary)
  renameInto(site, temporary, path)
}

function renameInto({ files }: Site, temporary: string, path: string) {
  try {
    files.rename(temporary, path)
  } catch (error) {
    removeIfThere(files, temporary)
    throw error
  }
}

/** Owner, then mode: a change of owner clears special bits. Returns the temporary name. */
function writeCopy(site: Site, path: string, put: MadeCopy, labelFrom: string | undefined): string {
  const { files, layout, keepLabel } = site
  const source = join(statePath(layout, put.state), put.source)
  const content = files.readFile(source)
  if (sha256Hex(content) !== put.sha256) throw sourceChanged(source)
  const temporary = temporaryNameFor(path)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const fd = files.open(temporary, flags, 0o600)
  try {
    try {
      files.write(fd, content)
      if (put.uid !== null || put.gid !== null) files.fchown(fd, put.uid ?? -1, put.gid ?? -1)
      files.fchmod(fd, put.mode)
      files.fsync(fd)
    } finally {
      files.close(fd)
    }
  } catch (error) {
    removeIfThere(files, temporary)
    throw error
  }
  if (labelFrom !== undefined) keepLabel(labelFrom, temporary)
  return temporary
}

const textOf = ({ layout }: Site, target: EtcTarget, put: Extract<Made, { kind: 'link' | 'direct' }>) =>
  put.kind === 'link' ? linkThroughStatic(layout, target) : put.text

function clear(site: Site, target: EtcTarget, was: Made) {
  if (was.kind !== 'directory') site.files.unlink(etcPath(site.layout, target))
  else if (!removeDirectory(site, target)) throw changedUnderfoot(target)
}

/** False when something that is not ours is in it. */
function removeDirectory(site: Site, target: EtcTarget): boolean {
  const { files } = site
  const path = touch(site, target)
  if (!files.lstat(path)?.isDirectory()) return true
  const names = files.readdir(path)
  if (names.some(name => !name.startsWith(litterPrefix))) return false
  for (const name of names) removeTree(files, join(path, name))
  files.rmdir(path)
  site.real.delete(target)
  site.touched.delete(path)
  return true
}

/** A directory that was moved away as a whole. */
function forgetBelow({ layout, real, touched }: Site, target: EtcTarget) {
  const isGone = (path: string) => path === target || path.startsWith(`${target}/`)
  for (const path of real) if (isGone(path)) real.delete(path)
  for (const path of touched) if (isGone(relative(layout.etc, path))) touched.delete(path)
}

function makeParents({ files, touched }: Site, path: string) {
  for (const made of makeDirectories(files, dirname(path))) touched.add(dirname(made))
  touched.add(dirname(path))
}

/** A file may have been open to all only because its directory was not. */
function hideBackups({ files, layout }: Site) {
  const stats = files.lstat(layout.backups)
  if (stats && stats.mode & 0o077) files.chmod(layout.backups, 0o700)
}

/** Directories of the backup that nothing is in any more. */
function prune(site: Site, directory: string) {
  const { files, layout, touched } = site
  if (directory === layout.backups || !files.lstat(directory)) return
  touched.add(directory)
  if (files.readdir(directory).length > 0) return
  files.rmdir(directory)
  touched.delete(directory)
  prune(site, dirname(directory))
}

/** Nothing is ever made or removed through a link that leads elsewhere. */
const inRealDirectory = (site: Site, target: EtcTarget) => parentIs(site, target) === 'real'

function parentIs(site: Site, target: string): 'real' | 'missing' | 'bad' {
  const parent = dirname(target)
  if (site.real.has(parent)) return 'real'
  const above = parentIs(site, parent)
  if (above !== 'real') return above
  const stats = site.files.lstat(join(site.layout.etc, parent))
  if (!stats?.isDirectory()) return stats ? 'bad' : 'missing'
  site.real.add(parent)
  return 'real'
}

const isAbsent = ({ files, layout }: Site, target: EtcTarget) => files.lstat(etcPath(layout, target)) === null

function touch({ layout, touched }: Site, target: EtcTarget): string {
  const path = etcPath(layout, target)
  touched.add(dirname(path))
  return path
}

const changedUnderfoot = (target: EtcTarget) =>
  new CairnError('etc.changed-underfoot', `/etc/${target} was changed by someone else while Cairn was at work`, {
    hint: 'Nothing was done to it. Plan again.',
  })

const backupOccupied = (path: string) =>
  new CairnError('etc.backup-occupied', `${path} is in the way of a backup, and Cairn has no record of it`, {
    hint: 'Look at it, move it away, and apply again.',
  })

const sourceChanged = (path: string) =>
  new CairnError('etc.source-changed', `${path} is not what it was when it was prepared`, {
    hint: 'Repair the store: cairn node verify --repair.',
  })
