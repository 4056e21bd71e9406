// Hashes a file, and copies it while it does so: each block is hashed from the same memory that is written, so the digest is
// that of the copy whatever happens to the original meanwhile. Reading, hashing and writing overlap, with two buffers.
import { createHash } from 'node:crypto'
import { letGo } from '../let-go.ts'
import type { Sha256 } from '../messages.ts'
import type { Bulk } from './bulk.ts'

export interface CopyOrder {
  readonly from: number
  /** Null: only hash. */
  readonly to: number | null
  /** More than this is not read. */
  readonly limit: number
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
}

/** `sha256` is null when there was more than the limit. */
export interface Copied {
  readonly size: number
  readonly sha256: Sha256 | null
}

/** Smaller ones cost much: 64 KiB about two thirds more time. */
const blockSize = 2 ** 20

/** Does not end before its last read and write have, so that the descriptors may be closed then. */
export async function copyHashing(bulk: Bulk, order: CopyOrder): Promise<Copied> {
  // A small file needs small buffers; one byte more than the limit shows that it is passed.
  const length = Math.max(1, Math.min(blockSize, order.limit + 1))
  const buffers = [Buffer.allocUnsafeSlow(length), Buffer.allocUnsafeSlow(length)] as const
  try {
    return await copyThrough(buffers, bulk, order)
  } finally {
    for (const buffer of buffers) letGo(buffer)
  }
}

type Buffers = readonly [Buffer, Buffer]

async function copyThrough(buffers: Buffers, bulk: Bulk, order: CopyOrder): Promise<Copied> {
  const { from, to, limit, signal, onProgress } = order
  const hash = createHash('sha256')
  let [current, next] = buffers
  let size = 0
  for (let count = await bulk.read(from, current); count > 0; ) {
    signal.throwIfAborted()
    size += count
    if (size > limit) return { size, sha256: null }
    const block = current.subarray(0, count)
    const reading = bulk.read(from, next)
    const writing = to === null ? undefined : bulk.write(to, block)
    hash.update(block)
    const [wasRead, written] = await Promise.allSettled([reading, writing])
    if (written.status === 'rejected') throw written.reason
    if (wasRead.status === 'rejected') throw wasRead.reason
    onProgress(size)
    count = wasRead.value
    ;[current, next] = [next, current]
  }
  return { size, sha256: hash.digest('hex') as Sha256 }
}
