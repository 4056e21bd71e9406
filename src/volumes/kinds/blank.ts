// A volume from nothing: a sparse raw disk, with a file system when one is asked for, or an empty directory.
import { constants } from 'node:fs'
import type { ManagerContext } from '../../content/process/calls.ts'
import { createDirectory, destroyDirectory } from './directory.ts'
import { destroyDisk, growDisk } from './disk.ts'
import { formatUnsupported, sizeRequired } from './failures.ts'
import { withFile } from './handle.ts'
import type { Created, CreateRequest, VolumeKind } from './kind.ts'
import { refuseLargerThanDisk } from './larger-than-disk.ts'
import { putInPlace } from './put-in-place.ts'

export const blankKind: VolumeKind = {
  create: (request, context) =>
    request.config.kind === 'container' ? createDirectory(request, context) : createBlankDisk(request, context),
  /** The disk, not the file system in it: that is the guest's. A directory has no size of its own. */
  grow: async (request, context) => {
    if (request.config.kind === 'container') return { path: request.target, usedSize: 0 }
    return await growDisk(request, context)
  },
  destroy: (target, context) =>
    context.files.lstat(target)?.isDirectory() ? destroyDirectory(target, context) : destroyDisk(target, context),
}

async function createBlankDisk(request: CreateRequest, context: ManagerContext): Promise<Created> {
  const { format, maxSize, fileSystem } = request.config
  if (format !== 'raw') throw formatUnsupported(format)
  if (maxSize === 0) throw sizeRequired()
  await refuseLargerThanDisk(request.target, maxSize)
  return await putInPlace(request, context, async temporary => {
    await withFile(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, file => file.truncate(maxSize))
    request.signal.throwIfAborted()
    if (fileSystem) await context.calls.mkfs(temporary, fileSystem)
  })
}
