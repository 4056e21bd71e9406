// Makes the disk in a qcow2 image larger, in place. When the L1 table has no room it is moved to new clusters at the end.
// Holds: at each sync the image is whole, with its old size or its new one. A crash leaks clusters at most: the header is
// changed in one write, after all that it will point to, and what it no longer points to is given free after it.
import type { FileHandle } from 'node:fs/promises'
import { imageHasSnapshots, imageInvalid, imageUnsupported, maxSizeTooLarge, maxSizeTooSmall } from './failures.ts'
import { writeAll } from './handle.ts'
import { fields, maxEntries, type Qcow2, readQcow2, type Table } from './qcow2.ts'
import { type Refcounts, readRefcounts } from './qcow2-refcounts.ts'

const sectorSize = 512

/** `maxSize` is rounded down to whole sectors. `sync` makes durable what was written so far. */
export async function growQcow2(file: FileHandle, maxSize: number, sync: () => Promise<void>): Promise<void> {
  const image = await readQcow2(file)
  const virtualSize = maxSize - (maxSize % sectorSize)
  if (maxSize < image.virtualSize) throw maxSizeTooSmall(maxSize, image.virtualSize)
  if (virtualSize <= image.virtualSize) return
  if (image.snapshots > 0) throw imageHasSnapshots(image.snapshots)
  const entries = Math.max(Math.ceil(virtualSize / image.perL1Entry), image.l1.entries)
  if (entries > maxEntries.l1) throw maxSizeTooLarge(maxSize, maxEntries.l1 * image.perL1Entry)

  // It says that bitmaps and the like are up to date, and nobody here looks after them.
  if (image.version === 3) await writeAll(file, Buffer.alloc(8), fields.autoclear)
  if (clustersFor(entries, image) > clustersFor(image.l1.entries, image))
    return await moveL1(file, { image, virtualSize, entries }, sync)
  const end = image.l1.offset + image.l1.entries * 8
  await writeAll(file, Buffer.alloc((entries - image.l1.entries) * 8), end)
  await sync()
  await writeHeader(file, { ...image, virtualSize, l1: { ...image.l1, entries } })
  await sync()
}

interface Move {
  readonly image: Qcow2
  readonly virtualSize: number
  /** Of the L1 table, when it is done. */
  readonly entries: number
}

async function moveL1(file: FileHandle, { image, virtualSize, entries }: Move, sync: () => Promise<void>) {
  const { clusterSize } = image
  const { size: fileSize } = await file.stat()
  const refcounts = await readRefcounts(file, image)
  const room = layOut(image, refcounts, {
    first: await refcounts.firstFree(Math.ceil(fileSize / clusterSize)),
    clusters: clustersFor(entries, image),
  })
  const l1 = { offset: room.first * clusterSize, entries }
  const isNew = (cluster: number) => room.blocks.has(refcounts.blockOf(cluster))
  const taken = range(room.first, room.end)
  for (const [index, cluster] of room.blocks) refcounts.blocks.set(index, cluster * clusterSize)

  // Clusters that nothing points to yet.
  await file.truncate(room.end * clusterSize)
  await copyWithin(file, image.l1, l1.offset)
  await refcounts.set(taken.filter(isNew), 1)
  if (room.table) await writeTable(file, room.table, refcounts.blocks)
  await sync()
  await refcounts.set(
    taken.filter(cluster => !isNew(cluster)),
    1,
  )
  await sync()
  if (!room.table && room.blocks.size > 0) {
    await writeTable(file, image.refcounts, refcounts.blocks)
    await sync()
  }
  await writeHeader(file, { ...image, virtualSize, l1, refcounts: room.table ?? image.refcounts })
  await sync()
  await refcounts.set(clustersOf(image.l1, image), 0)
  if (room.table) await refcounts.set(clustersOf(image.refcounts, image), 0)
  await sync()
}

/** New clusters, one after the other: those of the L1 table, then refcount blocks, then a refcount table. */
interface Room {
  readonly first: number
  /** Behind the last one. */
  readonly end: number
  /** By index in the refcount table. */
  readonly blocks: ReadonlyMap<number, number>
  /** Absent when the old one is large enough. */
  readonly table?: Table
}

/** What counts clusters takes clusters itself, which are counted too: the numbers only rise, and soon stand still. */
function layOut(image: Qcow2, refcounts: Refcounts, l1: { first: number; clusters: number }): Room {
  const { first } = l1
  const afterL1 = first + l1.clusters
  let missing: readonly number[] = []
  let tableClusters = 0
  for (;;) {
    const afterBlocks = afterL1 + missing.length
    const end = afterBlocks + tableClusters
    const lastBlock = refcounts.blockOf(end - 1)
    const found = range(refcounts.blockOf(first), lastBlock + 1).filter(index => !refcounts.blocks.has(index))
    const needed = lastBlock < image.refcounts.entries ? 0 : clustersFor(lastBlock + 1, image)
    if (found.length === missing.length && needed === tableClusters) {
      const blocks = new Map(missing.map((index, nth) => [index, afterL1 + nth]))
      if (needed === 0) return { first, end, blocks }
      const entries = (needed * image.clusterSize) / 8
      if (entries > maxEntries.refcounts) throw imageUnsupported('has no room for more clusters')
      return { first, end, blocks, table: { offset: afterBlocks * image.clusterSize, entries } }
    }
    missing = found
    tableClusters = needed
  }
}

/** Virtual size, L1 table and refcount table lie in one sector. */
async function writeHeader(file: FileHandle, { virtualSize, l1, refcounts, clusterSize }: Qcow2) {
  const { buffer } = await file.read(Buffer.alloc(36), 0, 36, fields.virtualSize)
  buffer.writeBigUInt64BE(BigInt(virtualSize), 0)
  buffer.writeUInt32BE(l1.entries, 12)
  buffer.writeBigUInt64BE(BigInt(l1.offset), 16)
  buffer.writeBigUInt64BE(BigInt(refcounts.offset), 24)
  buffer.writeUInt32BE((refcounts.entries * 8) / clusterSize, 32)
  await writeAll(file, buffer, fields.virtualSize)
}

async function writeTable(file: FileHandle, { offset, entries }: Table, blocks: ReadonlyMap<number, number>) {
  const bytes = Buffer.alloc(entries * 8)
  for (const [index, block] of blocks) bytes.writeBigUInt64BE(BigInt(block), index * 8)
  await writeAll(file, bytes, offset)
}

async function copyWithin(file: FileHandle, { offset, entries }: Table, to: number) {
  if (entries === 0) return
  const { buffer, bytesRead } = await file.read(Buffer.alloc(entries * 8), 0, entries * 8, offset)
  if (bytesRead < buffer.length) throw imageInvalid('its L1 table ends after the file')
  await writeAll(file, buffer, to)
}

const clustersFor = (entries: number, { clusterSize }: Qcow2): number => Math.ceil((entries * 8) / clusterSize)

function clustersOf({ offset, entries }: Table, image: Qcow2): number[] {
  const first = offset / image.clusterSize
  return range(first, first + clustersFor(entries, image))
}

const range = (start: number, end: number): number[] => Array.from({ length: end - start }, (_, index) => start + index)
