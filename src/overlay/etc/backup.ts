// Where backups lie: a file or a link at etc/backup/<target>, a whole directory under one flat name, so that what is in
// it is never taken for the backup of a target below.
import { join } from 'node:path'
import type { Files } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import type { Layout } from '../layout.ts'
import type { Backup } from './entry.ts'

const longestName = 255

/** Begins like nothing that may be a target. */
const directories = '.cairn-directories'

export function backupPath(layout: Layout, { target, what }: Pick<Backup, 'target' | 'what'>): string {
  if (what !== 'directory') return join(layout.backups, target)
  const name = target.replaceAll('%', '%25').replaceAll('/', '%2F')
  return join(layout.backups, directories, Buffer.byteLength(name) > longestName ? sha256Hex(target) : name)
}

export function isBackedUp(files: Files, layout: Layout, backup: Backup): boolean {
  const stats = files.lstat(backupPath(layout, backup))
  return stats !== null && stats.isDirectory() === (backup.what === 'directory')
}
