// Puts damaged states right: builds each again beside the old one, and only when the result has the recorded hash, puts it
// in its place by two renames. New inodes throughout, so that a state which shares files with others repairs itself alone.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { ContentDoor } from '../../content/door.ts'
import { removeTree, syncDirectory } from '../../lib/durable.ts'
import { ProblemsError } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import type { Progress } from '../../lib/progress.ts'
import { type Layout, statePath } from '../layout.ts'
import type { StateName } from '../names.ts'
import { isUnreadable } from './damage.ts'
import { forgetInodes } from './dedup.ts'
import { stateNameOf } from './fingerprint.ts'
import type { StoreContext } from './gc/lock.ts'
import { type BuiltState, buildState } from './install.ts'
import { writeListing } from './listing.ts'
import type { Package } from './package.ts'
import { type StateRecord, writeRecord } from './record.ts'
import { syncTree } from './seal.ts'
import { registerTempRoots } from './temp-roots.ts'
import { moveToTrash } from './trash.ts'
import { walkTree } from './tree.ts'

export interface RepairContext extends StoreContext {
  readonly content: ContentDoor
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** The package that gives this state, as the configs of the generations describe it; null when none does. */
export type Rebuild = (record: StateRecord) => Package | null

export interface RepairReport {
  readonly repaired: readonly StateName[]
  readonly notRepaired: readonly { readonly state: StateName; readonly reason: string }[]
}

/** One that cannot be repaired stays as it is and does not keep the others. */
export async function repairStates(
  damaged: readonly StateRecord[],
  context: RepairContext,
  rebuild: Rebuild,
): Promise<RepairReport> {
  const repaired: StateName[] = []
  const notRepaired: { state: StateName; reason: string }[] = []
  const roots = await registerTempRoots(
    damaged.map(record => record.state),
    context,
    { command: 'cairn node verify --repair' },
  )
  try {
    for (const record of damaged) {
      const reason = await repair(record, context, rebuild)
      if (reason === null) repaired.push(record.state)
      else notRepaired.push({ state: record.state, reason })
    }
  } finally {
    roots.release()
  }
  return { repaired, notRepaired }
}

/** Null, or why it could not be done. */
async function repair(record: StateRecord, context: RepairContext, rebuild: Rebuild): Promise<string | null> {
  const { files, layout, signal } = context
  signal.throwIfAborted()
  const fresh = join(layout.states, `.${record.name}-tmp-${randomBytes(6).toString('hex')}`)
  let built: BuiltState | undefined
  try {
    const pkg = rebuild(record)
    if (!pkg) return 'no kept generation says what it is made of'
    if (stateNameOf(pkg) !== record.state) return 'its config now describes another state'
    built = await buildState(context, pkg, fresh)
    syncTree(files, fresh)
    if (built.record.contentSha256 !== record.contentSha256)
      return 'its source now gives other bytes than those recorded'
    exchange(files, layout, record, fresh)
    writeListing(files, layout, { state: record.state, text: built.listing })
    return null
  } catch (error) {
    signal.throwIfAborted()
    return reasonOf(error)
  } finally {
    built?.release()
    removeTree(files, fresh)
  }
}

/** What a source, a disk or a config refuses is a reason; anything else is a mistake of ours and stays an error. */
function reasonOf(error: unknown): string {
  if (error instanceof ProblemsError) return error.problems.map(({ reason }) => reason).join('; ')
  if (error instanceof Error && 'code' in error) return error.message
  throw error
}

/** The record is written again: who looks between the two renames finds it void and drops it. */
function exchange(files: Files, layout: Layout, record: StateRecord, fresh: string) {
  const place = statePath(layout, record.state)
  let trash: string | null = null
  if (files.lstat(place)) {
    forgetInodes(files, layout, sharedInodes(files, place))
    trash = moveToTrash(files, layout, record.state)
  }
  files.rename(fresh, place)
  syncDirectory(files, layout.states)
  writeRecord(files, layout, record)
  if (trash) removeTree(files, trash)
}

function sharedInodes(files: Files, directory: string): Set<number> {
  const inodes = new Set<number>()
  try {
    for (const { path, kind } of walkTree(files, directory)) {
      const stats = kind === 'file' ? files.lstat(join(directory, path)) : null
      if (stats && stats.nlink > 1) inodes.add(stats.ino)
    }
  } catch (error) {
    // Part of the damage; what cannot be reached here cannot be linked to either.
    if (!isUnreadable(error)) throw error
  }
  return inodes
}
