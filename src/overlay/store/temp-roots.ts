// States that a running process is about to use, before any generation names them. Registered under the gc lock, so that a
// collector either sees them or has already removed the states' records, which the process then finds missing.
// They last as long as the process: nothing is synced, and what a dead process left behind counts for nothing.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { litterPrefix, removeIfThere } from '../../lib/durable.ts'
import { isErrno } from '../../lib/errors.ts'
import { isAlive, type ProcessIdentity, thisProcess } from '../../lib/process-identity.ts'
import { writeNew } from '../../lib/write-new.ts'
import type { StateName } from '../names.ts'
import { type StoreContext, type TakeLock, takeStoreLock } from './gc/lock.ts'

export interface TempRoots {
  /** After this the states live only by other roots. */
  release(): void
}

/** `temp-roots/<pid>-<start time>-<random>.json`: one for each registration that its process has not released. */
export interface TempRootFile extends ProcessIdentity {
  readonly states: readonly StateName[]
}

export interface LiveTempRoots extends TempRootFile {
  readonly file: string
}

/** Any number of states with one lock and one write. */
export async function registerTempRoots(
  states: readonly StateName[],
  context: StoreContext,
  { command, takeLock = takeStoreLock }: { command: string; takeLock?: TakeLock },
): Promise<TempRoots> {
  const lock = await takeLock(context, { name: 'gc', command })
  try {
    const file = writeTempRoots(context, states)
    return { release: () => removeIfThere(context.files, file) }
  } finally {
    lock.release()
  }
}

/** Only under the gc lock. In one rename: who lists them without the lock sees whole files. */
export function writeTempRoots({ files, layout, clock }: StoreContext, states: readonly StateName[]): string {
  const me = thisProcess(clock)
  const name = `${me.pid}-${me.startTime}-${randomBytes(4).toString('hex')}.json`
  const temporary = join(layout.tempRoots, `${litterPrefix}${name}`)
  writeNew(files, temporary, JSON.stringify({ ...me, states } satisfies TempRootFile))
  files.rename(temporary, join(layout.tempRoots, name))
  return join(layout.tempRoots, name)
}

/** Of processes that run now. Changes nothing. */
export function liveTempRoots(context: StoreContext): LiveTempRoots[] {
  return readAll(context).flatMap(({ roots, file }) =>
    roots && isAlive(roots, context.clock) ? [{ ...roots, file }] : [],
  )
}

/** Removes what dead processes left. Only under the gc lock: nobody is in the middle of registering then. */
export function sweepTempRoots(context: StoreContext) {
  for (const { roots, file } of readAll(context))
    if (!roots || !isAlive(roots, context.clock)) removeIfThere(context.files, file)
}

/** `roots` is null for a file that its process did not live to finish. */
function readAll({ files, layout }: StoreContext): { file: string; roots: TempRootFile | null }[] {
  if (!files.lstat(layout.tempRoots)) return []
  return files.readdir(layout.tempRoots).map(name => {
    const file = join(layout.tempRoots, name)
    return { file, roots: name.startsWith('.') ? null : readRoots(() => files.readFile(file)) }
  })
}

function readRoots(read: () => Buffer): TempRootFile | null {
  try {
    return JSON.parse(read().toString('utf8')) as TempRootFile
  } catch (error) {
    // Released between the listing and now, or cut short by a crash of the machine.
    if (error instanceof SyntaxError || isErrno(error, 'ENOENT')) return null
    throw error
  }
}
