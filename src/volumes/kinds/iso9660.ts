// Writes a small ISO 9660 image with all files in its root: short names for all readers, Rock Ridge and Joliet for the
// real ones. There is no clock in it: the same files give the same bytes.
// Sectors: 16 primary descriptor, 17 Joliet descriptor, 18 end of descriptors, 19 to 22 path tables, 23 root, 24 root for
// Joliet, 25 what Rock Ridge says of itself, then the files.

export interface IsoFile {
  /** As Rock Ridge and Joliet show it. */
  readonly name: string
  /** Up to eight of `A-Z 0-9 _`. */
  readonly shortName: string
  readonly content: Uint8Array
}

export interface Iso {
  /** At most 16 characters of ASCII. */
  readonly label: string
  /** In the order of their names and of their short names. */
  readonly files: readonly IsoFile[]
}

const sectorSize = 2048
const sector = { primary: 16, joliet: 17, end: 18, pathTables: 19, root: 23, jolietRoot: 24, rockRidge: 25, files: 26 }
const time = { year: 2000, month: 1, day: 1 }

export function isoImage({ label, files }: Iso): Buffer {
  const placed = place(files)
  const sectors = placed.reduce((end, file) => end + sectorsFor(file.content.length), sector.files)
  const image = Buffer.alloc(sectors * sectorSize)
  const put = (at: number, bytes: Uint8Array) => image.set(bytes, at * sectorSize)

  put(sector.primary, descriptor({ label, sectors, names: ascii, pathTable: sector.pathTables, root: sector.root }))
  put(
    sector.joliet,
    descriptor({ label, sectors, names: ucs2, pathTable: sector.pathTables + 2, root: sector.jolietRoot }),
  )
  put(sector.end, Buffer.concat([Buffer.of(255), ascii('CD001'), Buffer.of(1)]))
  for (const [nth, root] of [sector.root, sector.jolietRoot].entries()) {
    put(sector.pathTables + 2 * nth, pathTable(root, 'little'))
    put(sector.pathTables + 2 * nth + 1, pathTable(root, 'big'))
  }
  put(sector.root, rootDirectory(placed))
  put(sector.jolietRoot, jolietRootDirectory(placed))
  put(sector.rockRidge, extensionReference)
  for (const file of placed) put(file.at, file.content)
  return image
}

interface Placed extends IsoFile {
  /** Its first sector. */
  readonly at: number
}

function place(files: readonly IsoFile[]): Placed[] {
  let at = sector.files
  return files.map(file => {
    const placed = { ...file, at }
    at += sectorsFor(file.content.length)
    return placed
  })
}

/** An empty file has a sector too, so that each has a place of its own inside the image. */
const sectorsFor = (bytes: number): number => Math.max(1, Math.ceil(bytes / sectorSize))

// --- volume descriptors

type Encode = (text: string) => Buffer
const ascii: Encode = text => Buffer.from(text, 'latin1')
const ucs2: Encode = text => Buffer.from(text, 'utf16le').swap16()

interface Descriptor {
  readonly label: string
  readonly sectors: number
  /** How names are written, which is what makes the second descriptor that of Joliet. */
  readonly names: Encode
  readonly pathTable: number
  readonly root: number
}

function descriptor({ label, sectors, names, pathTable, root }: Descriptor): Buffer {
  const padded = (text: string, width: number) => {
    const space = names(' ')
    const rest = (width - names(text).length) / space.length
    return Buffer.concat([
      names(text),
      ...Array<Buffer>(Math.floor(rest)).fill(space),
      Buffer.alloc(width % space.length),
    ])
  }
  const isJoliet = names === ucs2
  return Buffer.concat([
    Buffer.of(isJoliet ? 2 : 1),
    ascii('CD001'),
    Buffer.of(1, 0),
    padded('', 32),
    padded(label, 32),
    Buffer.alloc(8),
    both32(sectors),
    // The escape sequence says UCS-2, level 3.
    Buffer.concat([ascii(isJoliet ? '%/E' : '')], 32),
    both16(1),
    both16(1),
    both16(sectorSize),
    both32(pathTableSize),
    little32(pathTable),
    little32(0),
    big32(pathTable + 1),
    big32(0),
    directoryRecord({ id: Buffer.of(0), at: root, size: sectorSize, isDirectory: true }),
    ...[128, 128, 128, 128, 37, 37, 37].map(width => padded('', width)),
    longTime(time),
    longTime(time),
    longTime({ year: 0, month: 0, day: 0 }),
    longTime({ year: 0, month: 0, day: 0 }),
    Buffer.of(1),
  ])
}

const longTime = ({ year, month, day }: typeof time): Buffer =>
  ascii(`${digits(year, 4)}${digits(month, 2)}${digits(day, 2)}00000000\0`)

const digits = (value: number, width: number): string => String(value).padStart(width, '0')

// --- path tables: the root, which is its own parent

const pathTableSize = 10

function pathTable(root: number, order: 'little' | 'big'): Buffer {
  const isLittle = order === 'little'
  return Buffer.concat([
    Buffer.of(1, 0),
    isLittle ? little32(root) : big32(root),
    isLittle ? Buffer.of(1, 0) : Buffer.of(0, 1),
    Buffer.of(0, 0),
  ])
}

// --- directories; each fits in one sector

interface RecordOf {
  readonly id: Buffer
  readonly at: number
  readonly size: number
  readonly isDirectory?: boolean
  /** Rock Ridge. */
  readonly more?: readonly Buffer[]
}

function directoryRecord({ id, at, size, isDirectory = false, more = [] }: RecordOf): Buffer {
  const record = Buffer.concat([
    Buffer.of(0, 0),
    both32(at),
    both32(size),
    shortTime,
    Buffer.of(isDirectory ? 2 : 0, 0, 0),
    both16(1),
    Buffer.of(id.length),
    id,
    Buffer.alloc(1 - (id.length % 2)),
    ...more,
  ])
  const even = Buffer.concat([record, Buffer.alloc(record.length % 2)])
  even[0] = even.length
  return even
}

const shortTime = Buffer.of(time.year - 1900, time.month, time.day, 0, 0, 0, 0)

function rootDirectory(files: readonly Placed[]): Buffer {
  const folder = [attributes(0o040500, 2), times]
  return Buffer.concat([
    rootRecord({ id: 0, at: sector.root, more: [sharing, ...folder, continuation] }),
    rootRecord({ id: 1, at: sector.root, more: folder }),
    ...files.map(({ name, shortName, content, at }) =>
      directoryRecord({
        id: ascii(`${shortName}.;1`),
        at,
        size: content.length,
        more: [attributes(0o100400, 1), times, longName(name)],
      }),
    ),
  ])
}

const jolietRootDirectory = (files: readonly Placed[]): Buffer =>
  Buffer.concat([
    rootRecord({ id: 0, at: sector.jolietRoot }),
    rootRecord({ id: 1, at: sector.jolietRoot }),
    ...files.map(({ name, content, at }) => directoryRecord({ id: ucs2(`${name};1`), at, size: content.length })),
  ])

/** 0 is the directory itself, 1 its parent, which for the root is the same. */
const rootRecord = ({ id, at, more = [] }: { id: 0 | 1; at: number; more?: readonly Buffer[] }): Buffer =>
  directoryRecord({ id: Buffer.of(id), at, size: sectorSize, isDirectory: true, more })

// --- Rock Ridge: entries of two letters, length and version

const entry = (letters: string, ...fields: Buffer[]): Buffer => {
  const content = Buffer.concat(fields)
  return Buffer.concat([ascii(letters), Buffer.of(content.length + 4, 1), content])
}

const sharing = entry('SP', Buffer.of(0xbe, 0xef, 0))
/** Owned by root and for nobody else: user data may be secret. */
const attributes = (mode: number, links: number) => entry('PX', both32(mode), both32(links), both32(0), both32(0))
/** Of change, of use, of attributes. */
const times = entry('TF', Buffer.of(0b1110), shortTime, shortTime, shortTime)
const longName = (name: string) => entry('NM', Buffer.of(0), ascii(name))

/** The texts are those that the protocol prescribes. */
const extensionTexts = [
  'RRIP_1991A',
  'THE ROCK RIDGE INTERCHANGE PROTOCOL PROVIDES SUPPORT FOR POSIX FILE SYSTEM SEMANTICS',
  'PLEASE CONTACT DISC PUBLISHER FOR SPECIFICATION SOURCE.  SEE PUBLISHER IDENTIFIER IN PRIMARY VOLUME DESCRIPTOR FOR CONTACT INFORMATION.',
].map(ascii)
const extensionReference = entry('ER', Buffer.of(...extensionTexts.map(text => text.length), 1), ...extensionTexts)
const continuation = entry('CE', both32(sector.rockRidge), both32(0), both32(extensionReference.length))

// --- numbers, in one byte order or in both

function little32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function big32(value: number): Buffer {
  return little32(value).swap32()
}

function both32(value: number): Buffer {
  return Buffer.concat([little32(value), big32(value)])
}

function both16(value: number): Buffer {
  return Buffer.of(value & 255, value >> 8, value >> 8, value & 255)
}
