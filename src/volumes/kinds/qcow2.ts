// What the header of a qcow2 image says, as far as Cairn needs it: how large the disk is and where its tables lie.
// Nothing in it is believed before it is checked; images that reach for other files, or are not whole, are refused.
import type { FileHandle } from 'node:fs/promises'
import {
  imageCorrupt,
  imageDirty,
  imageEncrypted,
  imageHasBackingFile,
  imageHasExternalData,
  imageInvalid,
  imageUnsupported,
} from './failures.ts'

export interface Qcow2 {
  readonly version: 2 | 3
  /** Bytes. */
  readonly clusterSize: number
  /** Of the disk that a guest sees, in bytes. */
  readonly virtualSize: number
  readonly l1: Table
  readonly refcounts: Table
  /** Width of one reference count. */
  readonly refcountBits: number
  /** Bytes of the disk behind one entry of the L1 table. */
  readonly perL1Entry: number
  readonly snapshots: number
}

/** Entries are 64 bits wide. */
export interface Table {
  readonly offset: number
  readonly entries: number
}

export const qcow2Magic = Buffer.from('QFI\xfb', 'latin1')

/** Where the fields begin that growing writes; the header ends at `end`. */
export const fields = { virtualSize: 24, refcountTable: 48, autoclear: 88, end: 104 } as const

/** More than this, and others no longer open the image. */
export const maxEntries = { l1: 4 * 2 ** 20, refcounts: 2 ** 20 } as const

/** Bits of the incompatible features. The compression type says nothing about where things lie. */
const feature = { dirty: 1n, corrupt: 2n, externalData: 4n, compressionType: 8n, extendedL2: 16n }
const known = Object.values(feature).reduce((all, bit) => all | bit)

export async function readQcow2(file: FileHandle): Promise<Qcow2> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(fields.end), 0, fields.end, 0)
  const { size } = await file.stat()
  return parseQcow2(buffer.subarray(0, bytesRead), size)
}

/** `header` is the beginning of the file, at least 104 bytes when the file has as many. */
export function parseQcow2(header: Buffer, fileSize: number): Qcow2 {
  if (header.length < 72 || !header.subarray(0, 4).equals(qcow2Magic)) throw imageInvalid('it has no whole header')
  const version = header.readUInt32BE(4)
  if (version !== 2 && version !== 3) throw imageUnsupported(`has version ${version}`)
  if (version === 3 && header.length < fields.end) throw imageInvalid('it has no whole header')
  const features = version === 3 ? header.readBigUInt64BE(72) : 0n
  refuseUnusable(header, features)

  const clusterBits = header.readUInt32BE(20)
  const refcountOrder = version === 3 ? header.readUInt32BE(96) : 4
  if (clusterBits < 9 || clusterBits > 21) throw imageInvalid(`cluster_bits is ${clusterBits}`)
  if (refcountOrder > 6) throw imageInvalid(`refcount_order is ${refcountOrder}`)
  const clusterSize = 2 ** clusterBits
  const refcountClusters = header.readUInt32BE(56)
  const image: Qcow2 = {
    version,
    clusterSize,
    virtualSize: offset(header, fields.virtualSize),
    l1: { offset: offset(header, 40), entries: header.readUInt32BE(36) },
    refcounts: { offset: offset(header, fields.refcountTable), entries: (refcountClusters * clusterSize) / 8 },
    refcountBits: 2 ** refcountOrder,
    perL1Entry: clusterSize * (clusterSize / (features & feature.extendedL2 ? 16 : 8)),
    snapshots: header.readUInt32BE(60),
  }
  if (image.l1.entries > maxEntries.l1) throw imageInvalid('its L1 table is too large')
  if (image.refcounts.entries === 0 || image.refcounts.entries > maxEntries.refcounts)
    throw imageInvalid('its refcount table is empty or too large')
  if (image.l1.entries < Math.ceil(image.virtualSize / image.perL1Entry))
    throw imageInvalid('its L1 table is too small')
  if (image.l1.entries > 0) refuseOutside('its L1 table', image.l1, clusterSize, fileSize)
  refuseOutside('its refcount table', image.refcounts, clusterSize, fileSize)
  return image
}

function refuseUnusable(header: Buffer, features: bigint) {
  if (header.readBigUInt64BE(8) !== 0n || header.readUInt32BE(16) !== 0) throw imageHasBackingFile()
  if (features & feature.externalData) throw imageHasExternalData()
  if (header.readUInt32BE(32) !== 0) throw imageEncrypted()
  if (features & feature.corrupt) throw imageCorrupt()
  if (features & feature.dirty) throw imageDirty()
  if (features & ~known) throw imageUnsupported(`has the features 0x${(features & ~known).toString(16)}`)
}

/** What lies in an image starts at a cluster behind the first one, and ends in the file. */
export function refuseOutside(what: string, { offset: at, entries }: Table, clusterSize: number, fileSize: number) {
  if (at < clusterSize || at % clusterSize !== 0) throw imageInvalid(`${what} is at ${at}`)
  if (at + entries * 8 > fileSize) throw imageInvalid(`${what} ends after the file`)
}

export async function readTable(file: FileHandle, { offset: at, entries }: Table): Promise<number[]> {
  if (entries === 0) return []
  const { buffer, bytesRead } = await file.read(Buffer.alloc(entries * 8), 0, entries * 8, at)
  if (bytesRead < buffer.length) throw imageInvalid('a table ends after the file')
  return Array.from({ length: entries }, (_, index) => offset(buffer, index * 8))
}

function offset(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64BE(at)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw imageInvalid(`the number at ${at} is ${value}`)
  return Number(value)
}
