// A disk from a verified image. Read/write it is a copy of its own, grown to its size; read-only it is the verified file
// itself, which stays where it is and is never removed from here.
import { constants } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { BlobStatus, ContentStatus, VolumeConfig } from '../../content/messages.ts'
import type { ManagerContext } from '../../content/process/calls.ts'
import { removeIfThere } from '../../lib/durable.ts'
import { unreachable } from '../../lib/errors.ts'
import { copyImage } from './copy.ts'
import { cannotGrow, maxSizeTooSmall, noDiskImage, volumeFailure } from './failures.ts'
import { withFile } from './handle.ts'
import { imageSize, refuseMaxSize } from './image.ts'
import type { Created, CreateRequest, VolumeKind } from './kind.ts'
import { refuseLargerThanDisk } from './larger-than-disk.ts'
import { putInPlace, usedSize } from './put-in-place.ts'
import { growQcow2 } from './qcow2-grow.ts'

export const diskKind: VolumeKind = {
  create: createDisk,
  grow: (request, context) => (request.config.readOnly ? createDisk : growDisk)(request, context),
  destroy: destroyDisk,
}

async function createDisk(request: CreateRequest, context: ManagerContext): Promise<Created> {
  const { config, signal } = request
  const from = imageOf(request.content)
  const size = await imageSize(from, config.format)
  refuseMaxSize(config, size)
  if (config.readOnly) return { path: from, usedSize: usedSize(context, from) }
  return await putInPlace(request, context, async to => {
    await copyImage(context.files, { from, to, signal })
    // Nobody sees the file yet: it is synced as a whole.
    if (config.maxSize > size) await growTo(to, config, async () => {})
  })
}

/** The file that is the disk: the content itself, or the one layer of an artifact. */
function imageOf(content: ContentStatus | undefined): string {
  const blobs = content?.blobs.filter(({ role }) => role === 'blob' || role === 'layer') ?? []
  const [blob, ...others] = blobs as [BlobStatus?, ...BlobStatus[]]
  if (!blob || others.length > 0) throw noDiskImage(`the content has ${blobs.length}`)
  if (blob.path === undefined) throw noDiskImage(`${blob.sha256} is not verified yet`)
  return blob.path
}

/** For disks that were made blank as well. What a guest wrote decides nothing: a raw disk stays raw. */
export async function growDisk({ config, target }: CreateRequest, context: ManagerContext): Promise<Created> {
  const sync = () => context.durability.sync(dirname(target), [basename(target)])
  try {
    await growTo(target, config, sync)
  } catch (error) {
    throw volumeFailure(error, target)
  }
  return { path: target, usedSize: usedSize(context, target) }
}

async function growTo(path: string, { format, maxSize }: VolumeConfig, sync: () => Promise<void>): Promise<void> {
  if (maxSize === 0) return
  await withFile(path, constants.O_RDWR, async file => {
    const { size } = await file.stat()
    switch (format) {
      case 'qcow2':
        return await growQcow2(file, maxSize, sync)
      case 'raw':
        if (maxSize < size) throw maxSizeTooSmall(maxSize, size)
        if (maxSize === size) return
        await refuseLargerThanDisk(path, maxSize)
        await file.truncate(maxSize)
        return await sync()
      case 'vmdk':
      case 'vhdx':
      case 'iso':
        throw cannotGrow(format, maxSize, size)
      default:
        return unreachable(format)
    }
  })
}

export async function destroyDisk(target: string, { files, durability }: ManagerContext): Promise<void> {
  try {
    removeIfThere(files, target)
    await durability.sync(dirname(target), [])
  } catch (error) {
    throw volumeFailure(error, target)
  }
}
