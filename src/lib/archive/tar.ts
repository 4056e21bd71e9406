// tar: PAX and GNU long names are understood; sparse files and what only backups need are refused.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, type Header } from 'tar-stream'
import type { CheckedWriter } from './checked-writer.ts'
import { ArchiveRefusal, badFormat, quoted, specialFile, truncated, unsupported } from './refusals.ts'
import { ownerMayExecute } from './unix-kind.ts'

/** What tar-stream gives beyond its types: `type` is null for a kind that it does not know. */
interface TarHeader extends Omit<Header, 'type' | 'pax' | 'linkname'> {
  readonly type: Header['type'] | null
  readonly pax: Readonly<Record<string, string>> | null
  readonly linkname: string | null
  /** Where the content starts in the stream. */
  readonly byteOffset: number
}

const blockSize = 512
/** Two blocks of zeros end an archive; without them it was cut between two entries. */
const trailerSize = 2 * blockSize

export async function unpackTar(stream: AsyncIterable<Buffer>, writer: CheckedWriter) {
  const parser = extract()
  const end = endWatcher(stream)
  let entryEnd = 0
  let last: string | null = null
  const fed = pipeline(Readable.from(end.stream), parser)
  fed.catch(() => {})
  try {
    for await (const entry of parser) {
      const header = entry.header as unknown as TarHeader
      last = header.name
      entryEnd = header.byteOffset + (header.type === 'directory' ? 0 : roundUp(header.size))
      await unpackEntry(header, entry as AsyncIterable<Buffer>, writer)
    }
    await fed
  } catch (error) {
    if (error instanceof ArchiveRefusal || !(error instanceof Error)) throw error
    if (error.message === 'Unexpected end of data') throw end.isText() ? notTar() : truncated(last)
    if (/^Invalid (tar )?header|^Header exceeds/.test(error.message)) throw notTar()
    throw error
  }
  if (end.size() - entryEnd < trailerSize || !end.isZero()) throw truncated(last)
}

async function unpackEntry(header: TarHeader, entry: AsyncIterable<Buffer>, writer: CheckedWriter) {
  const { name, mode, linkname, pax } = header
  if (Object.keys(pax ?? {}).some(key => key.startsWith('GNU.sparse.'))) throw sparse(name)
  switch (header.type) {
    case 'file':
    case 'contiguous-file':
      if (name.endsWith('/')) break // how tar wrote directories before it had a type for them
      return writer.file(name, ownerMayExecute(mode), entry)
    case 'directory':
      break
    case 'symlink':
      writer.symlink(name, linkname ?? '')
      return drain(entry)
    case 'link':
      writer.hardlink(name, linkname ?? '')
      return drain(entry)
    case 'character-device':
    case 'block-device':
    case 'fifo':
      throw specialFile(name, header.type.replace('-', ' '))
    default:
      throw sparse(name)
  }
  writer.directory(name)
  return drain(entry)
}

const notTar = () => badFormat('it is not a tar archive, or it is damaged')

async function drain(entry: AsyncIterable<Buffer>) {
  for await (const _ of entry);
}

const sparse = (name: string) =>
  unsupported(
    `the entry ${quoted(name)} is sparse or of a kind that only backups have`,
    'Pack it with: tar --format=pax, without --sparse.',
  )

const roundUp = (size: number) => Math.ceil(size / blockSize) * blockSize

/** Remembers how long the stream was and how it ended. */
function endWatcher(source: AsyncIterable<Buffer>) {
  let size = 0
  let tail: Buffer = Buffer.alloc(0)
  return {
    stream: (async function* () {
      for await (const chunk of source) {
        size += chunk.length
        tail = Buffer.concat([tail, chunk.subarray(-trailerSize)]).subarray(-trailerSize)
        yield chunk
      }
    })(),
    size: () => size,
    /** Shorter than a header and without the zeros that fill one: an error message, perhaps. */
    isText: () => size < blockSize && !tail.includes(0),
    isZero: () => tail.length === trailerSize && tail.every(byte => byte === 0),
  }
}
