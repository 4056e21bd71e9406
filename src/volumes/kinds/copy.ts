// A copy of an image that shares its blocks where the file system can, and else keeps its holes: what is zero is not
// written. Handles of node:fs/promises, not the Files port: gigabytes must not hold up the process.
import { constants } from 'node:fs'
import { copyFile, type FileHandle } from 'node:fs/promises'
import { isErrno } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { withFile, writeAll } from './handle.ts'

export interface Copy {
  readonly from: string
  /** Nothing is there; gets the mode 0600. What an abort or a failure leaves there, the caller removes. */
  readonly to: string
  readonly signal: AbortSignal
}

export async function copyImage(files: Files, copy: Copy): Promise<'shared' | 'copied'> {
  try {
    await copyFile(copy.from, copy.to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE)
  } catch (error) {
    if (!isErrno(error, 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOTTY', 'EINVAL', 'EXDEV')) throw error
    await copyWithHoles(copy)
    return 'copied'
  }
  // The copy came with the mode of the verified file.
  files.chmod(copy.to, 0o600)
  return 'shared'
}

const blockSize = 1024 * 1024
/** The smallest hole that is looked for. */
const holeSize = 64 * 1024
const zeros = Buffer.alloc(holeSize)

/** Looks at the signal between blocks. */
export async function copyWithHoles({ from, to, signal }: Copy): Promise<void> {
  const create = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
  await withFile(from, constants.O_RDONLY, source =>
    withFile(to, create, target => copyBlocks({ source, target, signal })),
  )
}

interface Blocks {
  readonly source: FileHandle
  readonly target: FileHandle
  readonly signal: AbortSignal
}

/** Reads one block ahead of what it writes. */
async function copyBlocks({ source, target, signal }: Blocks) {
  let [current, spare] = [Buffer.allocUnsafe(blockSize), Buffer.allocUnsafe(blockSize)]
  let at = 0
  let count = await fill(source, current, 0)
  while (count > 0) {
    signal.throwIfAborted()
    const [, ahead] = await Promise.all([
      writeData(target, current.subarray(0, count), at),
      fill(source, spare, at + count),
    ])
    ;[current, spare] = [spare, current]
    at += count
    count = ahead
  }
  await target.truncate(at)
}

/** Less than the whole buffer only at the end of the file. */
async function fill(source: FileHandle, buffer: Buffer, at: number): Promise<number> {
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await source.read(buffer, filled, buffer.length - filled, at + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

async function writeData(target: FileHandle, block: Buffer, at: number) {
  for (const [start, end] of dataIn(block)) await writeAll(target, block.subarray(start, end), at + start)
}

/** The stretches that are not zero, as start and end. */
function* dataIn(block: Buffer): Generator<[number, number]> {
  let start = -1
  for (let at = 0; at < block.length; at += holeSize) {
    const end = Math.min(at + holeSize, block.length)
    const isHole = zeros.compare(block, at, end, 0, end - at) === 0
    if (isHole && start >= 0) yield [start, at]
    if (isHole) start = -1
    else if (start < 0) start = at
  }
  if (start >= 0) yield [start, block.length]
}
