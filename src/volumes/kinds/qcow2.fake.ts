// Small qcow2 images for tests, and a look at every cluster of one: what points where, and whether it is counted so.

export interface ImageOptions {
  readonly version?: 2 | 3
  readonly clusterBits?: number
  readonly refcountOrder?: number
  readonly virtualSize?: number
  /** The first cluster of the disk holds it. */
  readonly data?: Buffer
}

/** Clusters: header, refcount table, refcount block, L1 table (as many as it needs), L2 table, data. */
export function qcow2Image(options: ImageOptions = {}): Buffer {
  const { version = 3, clusterBits = 9, refcountOrder = 4, virtualSize = 64 * 1024 } = options
  const clusterSize = 2 ** clusterBits
  const l1Entries = Math.ceil(virtualSize / (clusterSize * (clusterSize / 8)))
  const l1Clusters = Math.ceil((l1Entries * 8) / clusterSize)
  const l2 = (3 + l1Clusters) * clusterSize
  const image = Buffer.alloc(l2 + 2 * clusterSize)
  const put64 = (value: number, at: number, flags = 0n) => image.writeBigUInt64BE(BigInt(value) | flags, at)

  image.write('QFI\xfb', 'latin1')
  image.writeUInt32BE(version, 4)
  image.writeUInt32BE(clusterBits, 20)
  put64(virtualSize, 24)
  image.writeUInt32BE(l1Entries, 36)
  put64(3 * clusterSize, 40)
  put64(clusterSize, 48)
  image.writeUInt32BE(1, 56)
  if (version === 3) {
    image.writeUInt32BE(refcountOrder, 96)
    image.writeUInt32BE(104, 100)
  }
  put64(2 * clusterSize, clusterSize)
  for (let cluster = 0; cluster < image.length / clusterSize; cluster++)
    setCount(image, { at: 2 * clusterSize, bits: 2 ** refcountOrder, cluster })
  put64(l2, 3 * clusterSize, copied)
  put64(l2 + clusterSize, l2, copied)
  image.set(options.data ?? Buffer.alloc(clusterSize, 0xda), l2 + clusterSize)
  return image
}

const copied = 1n << 63n
const offsets = (1n << 56n) - 512n

export interface Findings {
  readonly virtualSize: number
  /** The first cluster of the disk. */
  readonly data: Buffer
  /** Clusters that something points to and that are not counted, or are pointed to twice. */
  readonly errors: readonly number[]
  /** Clusters that are counted and that nothing points to. */
  readonly leaks: readonly number[]
}

export function checkQcow2(image: Buffer): Findings {
  const clusterSize = 2 ** image.readUInt32BE(20)
  const bits = image.readUInt32BE(4) === 3 ? 2 ** image.readUInt32BE(96) : 16
  const at64 = (at: number) => Number(image.readBigUInt64BE(at) & offsets)
  const virtualSize = Number(image.readBigUInt64BE(24))
  const l1 = { at: at64(40), entries: image.readUInt32BE(36) }
  const table = { at: at64(48), clusters: image.readUInt32BE(56) }
  const clusters = Math.ceil(image.length / clusterSize)
  const pointed = new Map<number, number>()
  const point = (at: number, length = clusterSize) => {
    for (let cluster = at / clusterSize; cluster < (at + length) / clusterSize; cluster++)
      pointed.set(cluster, (pointed.get(cluster) ?? 0) + 1)
  }
  if (l1.entries * clusterSize * (clusterSize / 8) < virtualSize) throw new Error('the L1 table is too small')

  point(0)
  point(table.at, table.clusters * clusterSize)
  point(l1.at, l1.entries * 8)
  let data: Buffer = Buffer.alloc(clusterSize)
  for (let entry = 0; entry < l1.entries; entry++) {
    const l2 = at64(l1.at + entry * 8)
    if (l2) point(l2)
    for (let nth = 0; l2 && nth < clusterSize / 8; nth++) {
      const cluster = at64(l2 + nth * 8)
      if (cluster) point(cluster)
      if (cluster && entry + nth === 0) data = image.subarray(cluster, cluster + clusterSize)
    }
  }
  const perBlock = (clusterSize * 8) / bits
  for (let entry = 0; entry < (table.clusters * clusterSize) / 8; entry++)
    if (at64(table.at + entry * 8)) point(at64(table.at + entry * 8))
  const counted = (cluster: number) => {
    const entry = Math.floor(cluster / perBlock)
    const block = entry < (table.clusters * clusterSize) / 8 ? at64(table.at + entry * 8) : 0
    return block ? countAt(image, { at: block, bits, cluster: cluster % perBlock }) : 0
  }
  const all = Array.from({ length: clusters }, (_, cluster) => cluster)
  return {
    virtualSize,
    data,
    errors: [...pointed]
      .filter(([cluster, times]) => times !== 1 || counted(cluster) !== 1)
      .map(([cluster]) => cluster),
    leaks: all.filter(cluster => !pointed.has(cluster) && counted(cluster) !== 0),
  }
}

interface Count {
  /** Of the refcount block. */
  readonly at: number
  readonly bits: number
  readonly cluster: number
}

function setCount(image: Buffer, { at, bits, cluster }: Count) {
  if (bits < 8) image[at + Math.floor((cluster * bits) / 8)]! |= 1 << ((cluster * bits) % 8)
  else image[at + ((cluster + 1) * bits) / 8 - 1] = 1
}

function countAt(image: Buffer, { at, bits, cluster }: Count): number {
  if (bits < 8) return (image[at + Math.floor((cluster * bits) / 8)]! >> ((cluster * bits) % 8)) & (2 ** bits - 1)
  const first = at + (cluster * bits) / 8
  return Number(BigInt(`0x${image.subarray(first, first + bits / 8).toString('hex')}`))
}
