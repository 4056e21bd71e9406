// Why a volume could not be made: every code of the kinds on one screen. Texts carry the numbers and no content.
import type { VolumeConfig } from '../../content/messages.ts'
import { CairnError, isErrno, messageOf } from '../../lib/errors.ts'

export const exists = (target: string) =>
  new CairnError('volume.exists', `${target} is there already; a volume is never overwritten`, {
    hint: 'Move it away, or ask for a new generation.',
  })

export const maxSizeTooSmall = (maxSize: number, needed: number) =>
  new CairnError('volume.max-size-too-small', `maxSize is ${maxSize} bytes, the image needs ${needed}`, {
    hint: 'Raise maxSize, or set it to 0 for the size of the image.',
  })

export const maxSizeTooLarge = (maxSize: number, possible: number) =>
  new CairnError(
    'volume.max-size-too-large',
    `maxSize is ${maxSize} bytes, this qcow2 can grow to ${possible} at most`,
    {
      hint: 'Convert the image to larger clusters, or lower maxSize.',
    },
  )

export const cannotGrow = (format: VolumeConfig['format'], maxSize: number, size: number) =>
  new CairnError('volume.cannot-grow', `a ${format} image of ${size} bytes cannot be grown to ${maxSize}`, {
    hint: 'Set maxSize to 0, or use a raw or qcow2 image.',
  })

export const formatMismatch = (format: VolumeConfig['format'], found: VolumeConfig['format'] | null) =>
  new CairnError(
    'volume.format-mismatch',
    `the image is declared as ${format}, but ${found === null ? 'does not begin like one' : `it is ${found}`}`,
    { hint: 'Correct the format of the volume, or the image.' },
  )

export const formatUnsupported = (format: VolumeConfig['format']) =>
  new CairnError('volume.format-unsupported', `a blank disk is raw, not ${format}`, { hint: 'Set the format to raw.' })

export const noDiskImage = (reason: string) =>
  new CairnError('volume.no-disk-image', `a disk is made from one file: ${reason}`)

export const sizeRequired = () =>
  new CairnError('volume.size-required', 'a blank disk needs a maxSize of more than 0 bytes')

export const largerThanDisk = (size: number, disk: number) =>
  new CairnError('volume.larger-than-disk', `a volume of ${size} bytes is larger than its file system of ${disk} bytes`)

export const cloudInitRequired = () =>
  new CairnError('volume.cloud-init-required', 'a cloud-init volume needs cloudInit with its userData')

export const cloudInitTooLarge = (file: string, size: number, limit: number) =>
  new CairnError('volume.cloud-init-too-large', `${file} has ${size} bytes, ${limit} are allowed`)

export const imageUnreadable = (path: string, reason: string, cause?: unknown) =>
  new CairnError('volume.image-unreadable', `${path} cannot be read: ${reason}`, { cause })

export const imageInvalid = (reason: string) =>
  new CairnError('volume.image-invalid', `the qcow2 image is not well-formed: ${reason}`)

export const imageUnsupported = (what: string) =>
  new CairnError('volume.image-unsupported', `the qcow2 image ${what}, which is not supported`, {
    hint: 'Convert it: qemu-img convert -O qcow2 old.qcow2 new.qcow2',
  })

export const imageHasBackingFile = () =>
  new CairnError('volume.image-has-backing-file', 'the qcow2 image refers to a backing file, which is not part of it', {
    hint: 'Flatten it: qemu-img convert -O qcow2 old.qcow2 new.qcow2',
  })

export const imageHasExternalData = () =>
  new CairnError('volume.image-has-external-data', 'the qcow2 image keeps its data in another file', {
    hint: 'Flatten it: qemu-img convert -O qcow2 old.qcow2 new.qcow2',
  })

export const imageHasSnapshots = (count: number) =>
  new CairnError('volume.image-has-snapshots', `the qcow2 image has ${count} internal snapshots and cannot be grown`, {
    hint: 'Delete them (qemu-img snapshot -d), or set maxSize to 0.',
  })

export const imageEncrypted = () => new CairnError('volume.image-encrypted', 'the qcow2 image is encrypted')

export const imageDirty = () =>
  new CairnError('volume.image-dirty', 'the qcow2 image was not closed cleanly, or is in use', {
    hint: 'Repair it: qemu-img check -r leaks',
  })

export const imageCorrupt = () =>
  new CairnError('volume.image-corrupt', 'the qcow2 image is marked as corrupt', {
    hint: 'Repair it: qemu-img check -r all',
  })

/** What the system answered, as a failure of this volume; everything else as it is. */
export function volumeFailure(error: unknown, target: string): unknown {
  if (isErrno(error, 'ENOSPC', 'EDQUOT'))
    return new CairnError('content.no-space', `there is no room left for ${target}`, { cause: error })
  if (isErrno(error, 'EFBIG'))
    return new CairnError('volume.larger-than-disk', `${target} would be larger than its file system can hold`, {
      cause: error,
    })
  if (error instanceof Error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code)))
    return new CairnError('volume.write-failed', `${target} cannot be written: ${messageOf(error)}`, { cause: error })
  return error
}
