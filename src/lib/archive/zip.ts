// zip, by its central directory. Unix modes and links come from the external attributes; checksums are checked.
import { crc32 } from 'node:zlib'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import type { CheckedWriter } from './checked-writer.ts'
import type { Meter } from './limits.ts'
import { badFormat, quoted, specialFile, truncated, unsupported } from './refusals.ts'
import { ownerMayExecute, unixKind } from './unix-kind.ts'

export interface ZipSource {
  readonly path: string
  /** Its first bytes: they tell a zip that was cut from something else. */
  readonly head: Buffer
  readonly signal: AbortSignal
}

const longestLink = 4096

export async function unpackZip(source: ZipSource, writer: CheckedWriter, meter: Meter) {
  const zip = await openZip(source)
  try {
    for await (const entry of entriesOf(zip)) {
      source.signal.throwIfAborted()
      const name = nameOf(entry)
      await unpackEntry(name, entry, writer, () => contentOf(zip, entry, name, meter, source.signal))
    }
  } finally {
    zip.close()
  }
}

/** Many programs write no kind bits, or no mode at all: then a name that ends in a slash is a directory. */
async function unpackEntry(
  name: string,
  entry: Entry,
  writer: CheckedWriter,
  content: () => AsyncGenerator<Buffer>,
): Promise<void> {
  const mode = entry.externalFileAttributes >>> 16
  const kind = name.endsWith('/') ? 'directory' : kindOf(mode)
  if (kind === 'directory') return writer.directory(name)
  if (kind === 'link') return writer.symlink(name, await linkText(name, entry, content()))
  if (kind === 'file') return writer.file(name, ownerMayExecute(mode), content())
  throw specialFile(name, kind)
}

const kindOf = (mode: number) => (mode < 0o010000 ? 'file' : unixKind(mode))

async function linkText(name: string, entry: Entry, content: AsyncIterable<Buffer>): Promise<string> {
  if (entry.uncompressedSize > longestLink)
    throw badFormat(`the link ${quoted(name)} is longer than ${longestLink} bytes`)
  return Buffer.concat(await Array.fromAsync(content)).toString('utf8')
}

async function openZip({ path, head }: ZipSource): Promise<ZipFile> {
  try {
    return await yauzl.openPromise(path, { decodeStrings: false, autoClose: false })
  } catch (error) {
    const isZip = head.toString('latin1') === 'PK'
    if (/^End of central directory/.test((error as Error).message))
      throw isZip ? truncated(null) : badFormat('it is not a zip archive')
    throw translated(error, null)
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    yield* zip.eachEntry()
  } catch (error) {
    throw translated(error, null)
  }
}

/** Backslashes, which some programs write on Windows, become slashes. */
const nameOf = (entry: Entry): string =>
  yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)

async function* contentOf(
  zip: ZipFile,
  entry: Entry,
  name: string,
  meter: Meter,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  if (entry.isEncrypted()) throw unsupported(`the entry ${quoted(name)} is encrypted`)
  if (!entry.canDecodeFileData())
    throw unsupported(`the entry ${quoted(name)} is compressed with method ${entry.compressionMethod}`, 'Use deflate.')
  let checksum = 0
  for await (const chunk of readEntry(zip, entry, name)) {
    signal.throwIfAborted()
    meter.count(chunk.length, name)
    checksum = crc32(chunk, checksum)
    yield chunk
  }
  if (checksum !== entry.crc32) throw badFormat(`the entry ${quoted(name)} is damaged: its checksum differs`)
}

async function* readEntry(zip: ZipFile, entry: Entry, name: string): AsyncGenerator<Buffer> {
  try {
    yield* await zip.openReadStreamPromise(entry)
  } catch (error) {
    throw translated(error, name)
  }
}

function translated(error: unknown, name: string | null): unknown {
  if (!(error instanceof Error) || 'syscall' in error) return error
  const { message } = error
  if (/EOF|end of file|overflows file bounds/.test(message)) return truncated(name)
  return badFormat(`the zip archive is damaged${name === null ? '' : ` at ${quoted(name)}`}: ${message}`)
}
