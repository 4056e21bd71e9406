// Small writers for each archive format that do exactly as they are told, so that a test can lie with them.
import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib'

export interface FakeEntry {
  readonly name: string
  readonly kind?: 'file' | 'directory' | 'symlink' | 'hardlink' | 'character-device' | 'block-device' | 'fifo'
  readonly content?: string | Uint8Array
  readonly mode?: number
  /** Text of a symbolic link, or the name that a hard link means. */
  readonly link?: string
}

export type Writer = (entries: readonly FakeEntry[]) => Buffer

export const gzip = (bytes: Buffer): Buffer => gzipSync(bytes)
export const zstd = (bytes: Buffer): Buffer => zstdCompressSync(bytes)
export const plain = (bytes: Buffer): Buffer => bytes

// --- tar

const tarTypes = {
  file: '0',
  hardlink: '1',
  symlink: '2',
  'character-device': '3',
  'block-device': '4',
  directory: '5',
  fifo: '6',
} as const

export interface TarOptions {
  readonly longNames?: 'pax' | 'gnu'
  readonly trailer?: boolean
}

export function tarOf(entries: readonly FakeEntry[], { longNames = 'pax', trailer = true }: TarOptions = {}): Buffer {
  const blocks = entries.flatMap(entry => {
    const { name, kind = 'file', link = '', mode = 0o644 } = entry
    const content = kind === 'file' ? Buffer.from(entry.content ?? '') : Buffer.alloc(0)
    const header = tarHeader({ name, link, mode, type: tarTypes[kind], size: content.length })
    return [...(longNames === 'pax' ? paxBlocks(name, link) : gnuBlocks(name, link)), header, padded(content, 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(trailer ? 1024 : 0)])
}

export interface RawTarHeader {
  readonly name: string
  readonly type: string
  readonly size: number
  readonly link?: string
  readonly mode?: number
}

export function tarHeader({ name, type, size, link = '', mode = 0o644 }: RawTarHeader): Buffer {
  const header = Buffer.alloc(512)
  const octal = (value: number, at: number, width: number) =>
    header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1')
  Buffer.from(name).copy(header, 0, 0, 100)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(1, 136, 12)
  header.write(type, 156, 'latin1')
  Buffer.from(link).copy(header, 157, 0, 100)
  header.write('ustar\x0000', 257, 'latin1')
  header.write('        ', 148, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

const isLong = (name: string) => Buffer.byteLength(name) > 100

export function paxHeader(fields: Record<string, string>): Buffer {
  const records = Buffer.from(Object.entries(fields).map(paxRecord).join(''))
  return Buffer.concat([tarHeader({ name: 'PaxHeader', type: 'x', size: records.length }), padded(records, 512)])
}

function paxBlocks(name: string, link: string): Buffer[] {
  const fields = { ...(isLong(name) && { path: name }), ...(isLong(link) && { linkpath: link }) }
  return Object.keys(fields).length > 0 ? [paxHeader(fields)] : []
}

function paxRecord([key, value]: [string, string]): string {
  const rest = ` ${key}=${value}\n`
  const length = Buffer.byteLength(rest)
  const digits = String(length + String(length).length).length
  return `${length + digits}${rest}`
}

function gnuBlocks(name: string, link: string): Buffer[] {
  const block = (type: string, text: string) => {
    const content = Buffer.from(`${text}\0`)
    return [tarHeader({ name: '././@LongLink', type, size: content.length }), padded(content, 512)]
  }
  return [...(isLong(link) ? block('K', link) : []), ...(isLong(name) ? block('L', name) : [])]
}

const padded = (bytes: Buffer, to: number) => Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)])

// --- zip

const unixModes = {
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  hardlink: 0o100000,
  'character-device': 0o020000,
  'block-device': 0o060000,
  fifo: 0o010000,
} as const

const contentOf = ({ kind = 'file', content = '', link = '' }: FakeEntry) =>
  kind === 'symlink' ? Buffer.from(link) : kind === 'file' ? Buffer.from(content) : Buffer.alloc(0)

export function zipOf(entries: readonly FakeEntry[], { zip64 = false, deflate = true } = {}): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const content = contentOf(entry)
    const data = deflate ? deflateRawSync(content) : content
    const common = Buffer.alloc(26)
    common.writeUInt16LE(zip64 ? 45 : 20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt16LE(deflate ? 8 : 0, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(zip64 ? 0xffffffff : data.length, 14)
    common.writeUInt32LE(zip64 ? 0xffffffff : content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const extra = zip64 ? zip64Extra(content.length, data.length) : Buffer.alloc(0)
    common.writeUInt16LE(extra.length, 24)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(((unixModes[entry.kind ?? 'file'] | (entry.mode ?? 0o644)) << 16) >>> 0, 6)
    tail.writeUInt32LE(offset, 10)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, extra, data])
    locals.push(local)
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, tail, name, extra]))
    offset += local.length
  }
  const central = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(zip64 ? 0xffff : entries.length, 8)
  end.writeUInt16LE(zip64 ? 0xffff : entries.length, 10)
  end.writeUInt32LE(zip64 ? 0xffffffff : central.length, 12)
  end.writeUInt32LE(zip64 ? 0xffffffff : offset, 16)
  const end64 = zip64 ? zip64End(entries.length, central.length, offset) : Buffer.alloc(0)
  return Buffer.concat([...locals, central, end64, end])
}

function zip64Extra(size: number, compressed: number): Buffer {
  const extra = Buffer.alloc(20)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(16, 2)
  extra.writeBigUInt64LE(BigInt(size), 4)
  extra.writeBigUInt64LE(BigInt(compressed), 12)
  return extra
}

function zip64End(entries: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(56 + 20)
  end.write('PK\x06\x06', 0, 'latin1')
  end.writeBigUInt64LE(44n, 4)
  end.writeBigUInt64LE(BigInt(entries), 24)
  end.writeBigUInt64LE(BigInt(entries), 32)
  end.writeBigUInt64LE(BigInt(size), 40)
  end.writeBigUInt64LE(BigInt(offset), 48)
  end.write('PK\x06\x07', 56, 'latin1')
  end.writeBigUInt64LE(BigInt(offset + size), 64)
  end.writeUInt32LE(1, 72)
  return end
}

// --- deb

export function debOf(entries: readonly FakeEntry[], compress = zstd): Buffer {
  return arOf([
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', gzip(tarOf([{ name: './control', content: 'Package: x\n' }]))],
    ['data.tar.zst', compress(tarOf(entries))],
  ])
}

export function arOf(members: readonly (readonly [string, Buffer])[]): Buffer {
  const parts = members.flatMap(([name, content]) => [
    Buffer.from(
      `${name.padEnd(16)}${'0'.padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}${String(content.length).padEnd(10)}\`\n`,
    ),
    padded(content, 2),
  ])
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}

// --- rpm

export function rpmOf(entries: readonly FakeEntry[], compress = gzip): Buffer {
  const lead = Buffer.alloc(96)
  lead.writeUInt32BE(0xedabeedb, 0)
  return Buffer.concat([lead, padded(rpmHeader(13), 8), rpmHeader(21), compress(cpioOf(entries))])
}

function rpmHeader(size: number): Buffer {
  const header = Buffer.alloc(16 + 16 + size)
  header.writeUInt32BE(0x8eade801, 0)
  header.writeUInt32BE(1, 8)
  header.writeUInt32BE(size, 12)
  return header
}

/** Hard links come as rpm writes them: equal inode, the bytes with the last name. */
export function cpioOf(entries: readonly FakeEntry[]): Buffer {
  const inodes = new Map<string, number>()
  const sharedWith = new Set(entries.flatMap(entry => (entry.kind === 'hardlink' ? [entry.link] : [])))
  const blocks = entries.map((entry, index) => {
    const { name, kind = 'file', mode = 0o644 } = entry
    const first = kind === 'hardlink' ? (entry.link ?? '') : name
    const inode = inodes.get(first) ?? index + 1
    inodes.set(first, inode)
    const isShared = kind === 'hardlink' || sharedWith.has(name)
    const last = entries.findLastIndex(other => other.kind === 'hardlink' && other.link === first)
    const bytes =
      kind === 'hardlink' ? contentOf(entries.find(other => other.name === first) ?? { name }) : contentOf(entry)
    return cpioEntry(name, {
      inode,
      mode: unixModes[kind] | mode,
      links: isShared ? 2 : 1,
      content: isShared && index !== last ? Buffer.alloc(0) : bytes,
    })
  })
  return Buffer.concat([...blocks, cpioEntry('TRAILER!!!', { inode: 0, mode: 0, links: 1, content: Buffer.alloc(0) })])
}

function cpioEntry(
  name: string,
  { inode, mode, links, content }: { inode: number; mode: number; links: number; content: Buffer },
): Buffer {
  const bytes = Buffer.from(`${name}\0`)
  const fields = [inode, mode, 0, 0, links, 1, content.length, 0, 0, 0, 0, bytes.length, 0]
  const header = `070701${fields.map(field => field.toString(16).padStart(8, '0')).join('')}`
  return Buffer.concat([padded(Buffer.concat([Buffer.from(header), bytes]), 4), padded(content, 4)])
}
