// How a volume appears: made under a temporary name, synced, renamed, its directory synced. At every moment before the
// rename there is nothing under its name; whatever fails or is aborted leaves nothing at all.
import { basename, dirname, join } from 'node:path'
import { halfMadeName } from '../../content/half-made.ts'
import type { ManagerContext } from '../../content/process/calls.ts'
import { removeTree } from '../../lib/durable.ts'
import { messageOf } from '../../lib/errors.ts'
import { exists, volumeFailure } from './failures.ts'
import type { Created, CreateRequest } from './kind.ts'

export async function putInPlace(
  { target, signal }: Pick<CreateRequest, 'target' | 'signal'>,
  context: ManagerContext,
  make: (temporary: string) => unknown,
): Promise<Created> {
  const { files, durability } = context
  const directory = dirname(target)
  const name = halfMadeName(basename(target), context.random)
  const temporary = join(directory, name)
  let renamed = false
  try {
    signal.throwIfAborted()
    if (files.lstat(target)) throw exists(target)
    await make(temporary)
    signal.throwIfAborted()
    await durability.sync(directory, files.lstat(temporary)?.isDirectory() ? [] : [name])
    signal.throwIfAborted()
    // Only the manager writes here, and nothing of it runs between these two lines.
    if (files.lstat(target)) throw exists(target)
    files.rename(temporary, target)
    renamed = true
    await durability.sync(directory, [])
    return { path: target, usedSize: usedSize(context, target) }
  } catch (error) {
    discard(context, renamed ? target : temporary)
    throw volumeFailure(error, target)
  }
}

/** Of a file, holes not counted; what is in a directory belongs to those who use it. */
export const usedSize = ({ files }: ManagerContext, path: string): number => {
  const stats = files.lstat(path)
  return stats?.isFile() ? stats.blocks * 512 : 0
}

function discard({ files, log }: ManagerContext, path: string) {
  try {
    removeTree(files, path)
  } catch (error) {
    // What went wrong first is what counts; a temporary name is removed at the next start.
    log(`${path} could not be removed: ${messageOf(error)}`)
  }
}
