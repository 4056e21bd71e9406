// Reads back what iso9660.ts writes, from the bytes alone and in the three ways in which readers see it.

export interface SeenFile {
  readonly content: string
  /** Rock Ridge only. */
  readonly mode?: number
}

export interface SeenIso {
  readonly label: string
  readonly jolietLabel: string
  readonly sectors: number
  readonly plain: Readonly<Record<string, SeenFile>>
  readonly rockRidge: Readonly<Record<string, SeenFile>>
  readonly joliet: Readonly<Record<string, SeenFile>>
}

const sectorSize = 2048

export function readIso(image: Buffer): SeenIso {
  const primary = descriptorOf(image, 1)
  const joliet = descriptorOf(image, 2)
  descriptorOf(image, 255)
  const records = recordsOf(image, primary)
  const jolietRecords = recordsOf(image, joliet)
  return {
    label: primary.toString('latin1', 40, 72).trimEnd(),
    jolietLabel: ucs2(joliet.subarray(40, 72)).trimEnd(),
    sectors: both32(primary, 80),
    plain: Object.fromEntries(records.map(({ id, content }) => [id.toString('latin1'), { content }])),
    rockRidge: Object.fromEntries(
      records.map(({ content, extras }) => [
        extras.NM!.subarray(5).toString('latin1'),
        { content, mode: both32(extras.PX!, 4) },
      ]),
    ),
    joliet: Object.fromEntries(jolietRecords.map(({ id, content }) => [ucs2(id), { content }])),
  }
}

function descriptorOf(image: Buffer, type: number): Buffer {
  for (let at = 16; ; at++) {
    const descriptor = image.subarray(at * sectorSize, (at + 1) * sectorSize)
    if (descriptor.toString('latin1', 1, 6) !== 'CD001') throw new Error(`no descriptor of type ${type}`)
    if (descriptor[0] === type) return descriptor
  }
}

function recordsOf(image: Buffer, descriptor: Buffer) {
  const root = both32(descriptor, 156 + 2)
  for (const [at, little] of [
    [140, true],
    [148, false],
  ] as const) {
    const table = image.subarray((little ? descriptor.readUInt32LE(at) : descriptor.readUInt32BE(at)) * sectorSize)
    if ((little ? table.readUInt32LE(2) : table.readUInt32BE(2)) !== root) throw new Error('a path table is wrong')
  }
  const directory = image.subarray(root * sectorSize, root * sectorSize + both32(descriptor, 156 + 10))
  const records = []
  for (let at = 0; directory[at]!; at += directory[at]!) {
    const record = directory.subarray(at, at + directory[at]!)
    const id = record.subarray(33, 33 + record[32]!)
    const start = both32(record, 2) * sectorSize
    const content = image.subarray(start, start + both32(record, 10)).toString()
    const extras = entriesOf(record.subarray(33 + id.length + (1 - (id.length % 2))))
    if (id.length > 1) records.push({ id, content, extras })
  }
  return records
}

function entriesOf(area: Buffer): Record<string, Buffer> {
  const entries: Record<string, Buffer> = {}
  for (let at = 0; at + 4 <= area.length; at += area[at + 2]!)
    entries[area.toString('latin1', at, at + 2)] = area.subarray(at, at + area[at + 2]!)
  return entries
}

/** Written twice, in both byte orders, which must agree. */
function both32(bytes: Buffer, at: number): number {
  const value = bytes.readUInt32LE(at)
  if (bytes.readUInt32BE(at + 4) !== value) throw new Error(`the number at ${at} has two values`)
  return value
}

const ucs2 = (bytes: Buffer): string => Buffer.from(bytes).swap16().toString('utf16le')
