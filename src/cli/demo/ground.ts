// The directory in which the demo lays out its machines. It is the demo's own: made by it, locked by it, and removed with
// all that is in it. What a demo that was killed has left is cleared away first; what is not a demo's is not touched.
import { join } from 'node:path'
import { realClock } from '../../lib/clock.ts'
import { makeDirectories, removeTree } from '../../lib/durable.ts'
import { isErrno, RefusedError } from '../../lib/errors.ts'
import { realFiles as files } from '../../lib/files.ts'
import { acquireLock } from '../../lib/lock.ts'
import { openRunner } from '../../overlay/systemd/runner/runner.ts'

export interface Ground {
  readonly directory: string
  remove(): void
}

/** The lock is also the mark that tells a demo's directory from any other. */
const lockName = 'lock'

export async function takeGround(directory: string): Promise<Ground> {
  const made = makeDirectories(files, directory)
  const before = files.readdir(directory)
  if (before.length > 0 && !before.includes(lockName))
    throw new RefusedError('demo.directory-occupied', `${directory} is not empty, and not a demo's`, {
      hint: 'Name another one with --directory DIR.',
    })
  const lock = await acquireLock(join(directory, lockName), { command: 'cairn demo', clock: realClock })
  for (const name of before.filter(name => name !== lockName)) await clear(join(directory, name))
  return {
    directory,
    remove() {
      removeTree(files, directory)
      for (const parent of made.toReversed()) removeIfEmpty(parent)
      lock.release()
    },
  }
}

/** A runner that is opened ends what the last one left running; then the machine can go. */
async function clear(root: string) {
  if (files.lstat(join(root, 'run/cairn'))) await (await openRunner({ root })).end()
  removeTree(files, root)
}

function removeIfEmpty(directory: string) {
  try {
    files.rmdir(directory)
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
  }
}
