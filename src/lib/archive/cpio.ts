// cpio in its "newc" form, as rpm packages carry it. Files with several names come with their bytes at the last of them.
import type { ByteReader } from './bytes.ts'
import type { CheckedWriter } from './checked-writer.ts'
import { badFormat, nameInvalid, specialFile, truncated, unsupported } from './refusals.ts'
import { ownerMayExecute, unixKind } from './unix-kind.ts'

interface CpioHeader {
  readonly name: string
  readonly mode: number
  readonly links: number
  readonly size: number
  /** The same for all names of one file. */
  readonly inode: string
}

const headerSize = 110
const longestName = 4096

export async function unpackCpio(reader: ByteReader, writer: CheckedWriter) {
  /** Names that wait for the bytes of their file. */
  const waiting = new Map<string, CpioHeader[]>()
  for (let header = await readHeader(reader); header.name !== 'TRAILER!!!'; header = await readHeader(reader)) {
    await unpackEntry(header, reader, writer, waiting)
    await reader.skip(padding(header.size))
  }
  for (const [first, ...others] of waiting.values()) {
    if (!first) continue
    await writer.file(first.name, ownerMayExecute(first.mode), nothing())
    for (const other of others) writer.hardlink(other.name, first.name)
  }
  // To the very end, so that a compressed stream can tell whether it was whole.
  for await (const _ of reader.chunks());
}

async function unpackEntry(
  header: CpioHeader,
  reader: ByteReader,
  writer: CheckedWriter,
  waiting: Map<string, CpioHeader[]>,
) {
  const { name, mode, size } = header
  const kind = unixKind(mode)
  if (kind === 'file') return unpackFile(header, reader, writer, waiting)
  if (kind === 'directory') {
    writer.directory(name)
    return reader.skip(size)
  }
  if (kind !== 'link') throw specialFile(name, kind)
  if (size > longestName) throw nameInvalid(name, 'has a link text that is too long')
  writer.symlink(name, (await reader.take(size)).toString('utf8'))
}

async function unpackFile(
  header: CpioHeader,
  reader: ByteReader,
  writer: CheckedWriter,
  waiting: Map<string, CpioHeader[]>,
) {
  const { name, mode, links, size, inode } = header
  const others = waiting.get(inode) ?? []
  if (links > 1 && size === 0) {
    waiting.set(inode, [...others, header])
    return
  }
  waiting.delete(inode)
  await writer.file(name, ownerMayExecute(mode), reader.chunks(size))
  for (const other of others) writer.hardlink(other.name, name)
}

async function readHeader(reader: ByteReader): Promise<CpioHeader> {
  const bytes = await reader.take(headerSize)
  const magic = bytes.toString('latin1', 0, 6)
  if (magic === '07070X') throw unsupported('the package has a file of more than 4 GiB')
  if (magic !== '070701' && magic !== '070702') throw badFormat('it is not a cpio archive, or it is damaged')
  const field = (at: number) => {
    const text = bytes.toString('latin1', 6 + at * 8, 14 + at * 8)
    if (!/^[0-9a-fA-F]{8}$/.test(text)) throw badFormat('the cpio archive is damaged')
    return Number.parseInt(text, 16)
  }
  const nameSize = field(11)
  if (nameSize < 1 || nameSize > longestName) throw badFormat('the cpio archive is damaged: a name is too long')
  const name = await reader.take(nameSize)
  await reader.skip(padding(headerSize + nameSize))
  if (name.at(-1) !== 0) throw truncated(null)
  return {
    name: name.toString('utf8', 0, nameSize - 1),
    mode: field(1),
    links: field(4),
    size: field(6),
    inode: `${field(0)} ${field(7)} ${field(8)}`,
  }
}

const padding = (size: number) => (4 - (size % 4)) % 4

async function* nothing(): AsyncGenerator<Buffer> {}
