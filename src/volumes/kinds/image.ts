// What a disk image is, before anything is made of it: the declared format decides, and a file that says otherwise is
// refused. A guessed format would let the one who wrote the image, or a guest, choose how the host reads it.
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { VolumeConfig } from '../../content/messages.ts'
import { isErrno, messageOf, unreachable } from '../../lib/errors.ts'
import { cannotGrow, formatMismatch, imageUnreadable, maxSizeTooSmall } from './failures.ts'
import { withFile } from './handle.ts'
import { qcow2Magic, readQcow2 } from './qcow2.ts'

/** Bytes of the disk that the image holds; for formats that are only copied, of the file. */
export async function imageSize(path: string, format: VolumeConfig['format']): Promise<number> {
  try {
    return await withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, async file => {
      const stats = await file.stat()
      if (!stats.isFile()) throw imageUnreadable(path, 'it is no regular file')
      const found = await foundFormat(file)
      if (found !== format && (found !== null || format === 'qcow2')) throw formatMismatch(format, found)
      return format === 'qcow2' ? (await readQcow2(file)).virtualSize : stats.size
    })
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'ELOOP', 'ENXIO', 'EIO'))
      throw imageUnreadable(path, messageOf(error), error)
    throw error
  }
}

/** Only those that say so in their first bytes. */
async function foundFormat(file: FileHandle): Promise<VolumeConfig['format'] | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0)
  const start = buffer.subarray(0, bytesRead)
  if (start.subarray(0, 4).equals(qcow2Magic)) return 'qcow2'
  if (start.subarray(0, 4).toString('latin1') === 'KDMV') return 'vmdk'
  return start.toString('latin1') === 'vhdxfile' ? 'vhdx' : null
}

/** Throws when an image of `size` cannot become a volume of at most `maxSize`. */
export function refuseMaxSize({ format, maxSize, readOnly }: VolumeConfig, size: number) {
  if (maxSize === 0) return
  if (maxSize < size) throw maxSizeTooSmall(maxSize, size)
  if (readOnly || maxSize === size) return
  switch (format) {
    case 'raw':
    case 'qcow2':
      return
    case 'vmdk':
    case 'vhdx':
    case 'iso':
      throw cannotGrow(format, maxSize, size)
    default:
      unreachable(format)
  }
}
