// A directory as a volume: made empty, used by containers, removed with all that they left in it.
import { chmod, lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { halfMadeName } from '../../content/half-made.ts'
import type { ManagerContext } from '../../content/process/calls.ts'
import { volumeFailure } from './failures.ts'
import type { Created, CreateRequest } from './kind.ts'
import { putInPlace } from './put-in-place.ts'

export const createDirectory = (request: CreateRequest, context: ManagerContext): Promise<Created> =>
  putInPlace(request, context, temporary => context.files.mkdir(temporary, 0o755))

/** It loses its name first, so that half of it is never taken for a volume. */
export async function destroyDirectory(target: string, context: ManagerContext): Promise<void> {
  const { files, durability, random } = context
  const aside = join(dirname(target), halfMadeName(basename(target), random))
  try {
    files.rename(target, aside)
    await durability.sync(dirname(target), [])
    await removeTreeGently(aside)
  } catch (error) {
    throw volumeFailure(error, target)
  }
}

/** Of node:fs/promises, not the Files port: millions of files must not hold up the process. Follows no link. */
async function removeTreeGently(path: string): Promise<void> {
  if (((await lstat(path)).mode & 0o700) !== 0o700) await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await removeTreeGently(child)
    else await unlink(child)
  }
  await rmdir(path)
}
