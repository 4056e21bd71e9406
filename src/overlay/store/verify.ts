// Compares states with their records, bit for bit, and names what differs. Changes nothing.
// A sound state costs one pass over its bytes; only a damaged one is looked at entry by entry (damage.ts).
import type { Files } from '../../lib/files.ts'
import { type Layout, statePath } from '../layout.ts'
import type { StateName } from '../names.ts'
import { type Damage, findDamage, isUnreadable } from './damage.ts'
import type { StateRecord } from './record.ts'
import { hashTree, walkTree } from './tree.ts'

export interface DamagedState {
  readonly state: StateName
  /** Never empty; sorted by path. */
  readonly damage: readonly Damage[]
}

/** Those that are damaged, in the order given. */
export function verifyStates(
  files: Files,
  layout: Layout,
  records: readonly StateRecord[],
  onVerified: (record: StateRecord) => void = () => {},
): DamagedState[] {
  const damaged: DamagedState[] = []
  for (const record of records) {
    if (!isSound(files, layout, record))
      damaged.push({ state: record.state, damage: findDamage(files, layout, record) })
    onVerified(record)
  }
  return damaged
}

/** Is the directory there, with as many entries and bytes as it should have? Reads no file. */
export function quickCheck(files: Files, layout: Layout, record: StateRecord): boolean {
  const directory = statePath(layout, record.state)
  if (!files.lstat(directory)?.isDirectory()) return false
  let entries = 0
  let size = 0
  for (const { path, kind } of walkTree(files, directory)) {
    entries++
    if (kind === 'file') size += files.lstat(`${directory}/${path}`)?.size ?? 0
  }
  return entries === record.entries && size === record.size
}

/** The hash does not cover all bits of a mode: a sealed tree has 0555 for directories, 0444 or 0555 for files. */
function isSound(files: Files, layout: Layout, record: StateRecord): boolean {
  const directory = statePath(layout, record.state)
  const stats = files.lstat(directory)
  if (!stats?.isDirectory()) return false
  let sealed = (stats.mode & 0o7777) === 0o555
  try {
    const { contentSha256 } = hashTree(files, directory, {
      directory: path => {
        sealed &&= ((files.lstat(`${directory}/${path}`)?.mode ?? 0) & 0o7777) === 0o555
      },
      file: (_path, _fd, { mode }) => {
        sealed &&= (mode & 0o7777) === 0o444 || (mode & 0o7777) === 0o555
      },
    })
    return sealed && contentSha256 === record.contentSha256
  } catch (error) {
    if (isUnreadable(error)) return false
    throw error
  }
}
