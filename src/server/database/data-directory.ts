// What stands where in the data directory of a server, and whose it is: one process at a time, kept by a lock.
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { litterPrefix, makeDirectories, removeTree, syncDirectories } from '../../lib/durable.ts'
import { RefusedError } from '../../lib/errors.ts'
import { realFiles } from '../../lib/files.ts'
import { acquireLock, type Lock } from '../../lib/lock.ts'

export const databaseFileIn = (dataDirectory: string): string => join(dataDirectory, 'cairn.db')
export const keyFileIn = (dataDirectory: string): string => join(dataDirectory, 'vault.key')

/** Private to its owner. */
export function makeDataDirectory(path: string): void {
  const made = makeDirectories(realFiles, path, 0o700)
  for (const directory of made) chmodSync(directory, directory === path ? 0o700 : 0o755)
  syncDirectories(
    realFiles,
    made.map(directory => join(directory, '..')),
  )
}

const day = 24 * 60 * 60 * 1000

/** What a backup or restore left that was killed. A backup may be under way; none takes a day. */
export function removeLitter(dataDirectory: string, clock: Clock): void {
  for (const name of realFiles.readdir(dataDirectory)) {
    if (!name.startsWith(litterPrefix)) continue
    const path = join(dataDirectory, name)
    const age = clock.now().getTime() - (realFiles.lstat(path)?.mtimeMs ?? 0)
    if (age > day) removeTree(realFiles, path)
  }
}

/** Refuses with `database.in-use`, naming who has it. */
export async function lockDataDirectory(path: string, command: string, clock: Clock): Promise<Lock> {
  try {
    return await acquireLock(join(path, 'lock'), { command, clock })
  } catch (error) {
    if (!(error instanceof RefusedError) || error.code !== 'lock.busy') throw error
    throw new RefusedError('database.in-use', `the data directory ${path} is in use: ${error.message}`, {
      hint: 'One server uses one data directory. End that one, or give another with --data.',
      cause: error,
    })
  }
}
