// The reference counts of the clusters of a qcow2 image: a table points to blocks, a block holds one count a cluster.
import type { FileHandle } from 'node:fs/promises'
import { imageInvalid } from './failures.ts'
import { writeAll } from './handle.ts'
import { type Qcow2, readTable, refuseOutside } from './qcow2.ts'

export interface Refcounts {
  /** Where the blocks lie, by their index in the table; those that are not there count nothing. May be added to. */
  readonly blocks: Map<number, number>
  blockOf(cluster: number): number
  /** The first cluster from `end` on behind which none is counted. */
  firstFree(end: number): Promise<number>
  /** All of the clusters have a block. */
  set(clusters: readonly number[], count: 0 | 1): Promise<void>
}

export async function readRefcounts(file: FileHandle, image: Qcow2): Promise<Refcounts> {
  const { clusterSize, refcountBits } = image
  const { size: fileSize } = await file.stat()
  const perBlock = (clusterSize * 8) / refcountBits
  const blocks = new Map([...(await readTable(file, image.refcounts)).entries()].filter(([, offset]) => offset > 0))
  const blockOf = (cluster: number) => Math.floor(cluster / perBlock)
  const readBlock = async (index: number): Promise<Buffer> => {
    const offset = blocks.get(index)
    if (offset === undefined) throw imageInvalid(`refcount block ${index} is missing`)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(clusterSize), 0, clusterSize, offset)
    if (bytesRead < clusterSize) throw imageInvalid(`refcount block ${index} ends after the file`)
    return buffer
  }
  for (const offset of blocks.values())
    refuseOutside('a refcount block', { offset, entries: clusterSize / 8 }, clusterSize, fileSize)

  return {
    blocks,
    blockOf,
    firstFree: async end => {
      const behind = [...blocks.keys()].filter(index => index >= blockOf(end)).sort((a, b) => b - a)
      // Several may share one place in a broken image; each is read once.
      const empty = new Set<number | undefined>()
      for (const index of behind) {
        if (empty.has(blocks.get(index))) continue
        const last = lastCounted(await readBlock(index), refcountBits)
        if (last >= 0) return Math.max(end, index * perBlock + last + 1)
        empty.add(blocks.get(index))
      }
      return end
    },
    set: async (clusters, count) => {
      for (const [index, inBlock] of Map.groupBy(clusters, blockOf)) {
        const block = await readBlock(index)
        for (const cluster of inBlock) setCount(block, { bits: refcountBits, at: cluster % perBlock, count })
        await writeAll(file, block, blocks.get(index)!)
      }
    },
  }
}

/** The index of the last count that is not 0; -1 without one. */
function lastCounted(block: Buffer, bits: number): number {
  const last = block.findLastIndex(byte => byte !== 0)
  if (last < 0 || bits >= 8) return Math.floor(last / (bits / 8))
  return last * (8 / bits) + Math.floor((31 - Math.clz32(block[last]!)) / bits)
}

/** Counts narrower than a byte fill it from its low end; wider ones are big-endian. */
function setCount(block: Buffer, { bits, at, count }: { bits: number; at: number; count: 0 | 1 }) {
  if (bits >= 8) {
    const bytes = bits / 8
    block.fill(0, at * bytes, (at + 1) * bytes)
    block[(at + 1) * bytes - 1] = count
    return
  }
  const byte = Math.floor((at * bits) / 8)
  const shift = (at * bits) % 8
  block[byte] = (block[byte]! & ~((2 ** bits - 1) << shift)) | (count << shift)
}
