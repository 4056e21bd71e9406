// The entries of an image layer, with everything that a root file system keeps of them. Reads only; trusts no name.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, type Header } from 'tar-stream'
import { ArchiveRefusal, badFormat, truncated } from '../../../lib/archive/refusals.ts'
import { unsupportedEntry } from './refusals.ts'

export interface LayerEntry {
  /** As the layer has it. */
  readonly name: string
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink' | 'character device' | 'block device' | 'fifo'
  /** Text of a symbolic link, or the name that a hard link means; '' otherwise. */
  readonly link: string
  readonly attributes: EntryAttributes
  /** How many extended attributes it has. */
  readonly extended: number
  /** Of a file; what is not read is skipped. */
  readonly content: AsyncIterable<Buffer>
}

export interface EntryAttributes {
  /** Permissions with the three special bits. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Seconds since the epoch, with a fraction. */
  readonly mtime: number
}

/** What tar-stream gives beyond its types: `type` is null for a kind that it does not know. */
interface TarHeader extends Omit<Header, 'type' | 'pax' | 'linkname'> {
  readonly type: Header['type'] | null
  readonly pax: Readonly<Record<string, string>> | null
  readonly linkname: string | null
}

/** Ends with the stream; whether that is the end of the layer is decided by its digest. */
export async function* layerEntries(stream: AsyncIterable<Buffer>): AsyncGenerator<LayerEntry> {
  const parser = extract()
  const fed = pipeline(Readable.from(stream), parser)
  fed.catch(() => {})
  for await (const entry of parser) {
    yield layerEntry(entry.header as unknown as TarHeader, entry as AsyncIterable<Buffer>)
    entry.resume()
  }
  await fed
}

/** What the parser has against a layer, which may come out of the entries as well as of the content of one. */
export function entryFailure(error: unknown, entry: string): unknown {
  if (error instanceof ArchiveRefusal || !(error instanceof Error)) return error
  if (error.message === 'Unexpected end of data') return truncated(entry || null)
  return /^Invalid (tar )?header|^Header exceeds/.test(error.message) ? badFormat('a layer is no tar archive') : error
}

function layerEntry(header: TarHeader, content: AsyncIterable<Buffer>): LayerEntry {
  const { name, mode, linkname, pax } = header
  return {
    name,
    kind: kindOf(header),
    link: linkname ?? '',
    attributes: {
      mode: mode & 0o7777,
      uid: number(pax?.uid) ?? header.uid,
      gid: number(pax?.gid) ?? header.gid,
      mtime: number(pax?.mtime) ?? (header.mtime?.getTime() ?? 0) / 1000,
    },
    extended: Object.keys(pax ?? {}).filter(key => key.startsWith('SCHILY.xattr.')).length,
    content,
  }
}

function kindOf({ name, type, pax }: TarHeader): LayerEntry['kind'] {
  if (Object.keys(pax ?? {}).some(key => key.startsWith('GNU.sparse.'))) throw unsupportedEntry(name)
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return name.endsWith('/') ? 'directory' : 'file' // how tar wrote directories before it had a type for them
    case 'link':
      return 'hardlink'
    case 'character-device':
      return 'character device'
    case 'block-device':
      return 'block device'
    case 'directory':
    case 'symlink':
    case 'fifo':
      return type
    default:
      throw unsupportedEntry(name)
  }
}

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d{1,15}(?:\.\d{1,12})?$/.test(text) ? Number(text) : undefined
