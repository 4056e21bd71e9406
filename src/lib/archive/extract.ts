// Unpacks one archive into an empty directory. What is refused leaves parts behind: the caller removes the directory.
import { ProblemsError } from '../errors.ts'
import type { Files } from '../files.ts'
import { type ByteReader, byteReader, openArchive } from './bytes.ts'
import { type CheckedWriter, checkedWriter } from './checked-writer.ts'
import { decompressed } from './compression.ts'
import { unpackCpio } from './cpio.ts'
import { debData } from './deb.ts'
import { type ArchiveLimits, type Meter, meterOf } from './limits.ts'
import { ArchiveRefusal, problemOf } from './refusals.ts'
import { skipRpmHeaders } from './rpm.ts'
import { unpackTar } from './tar.ts'
import { unpackZip } from './zip.ts'

export type ArchiveFormat = 'tar' | 'zip' | 'deb' | 'rpm'

export interface Extraction {
  readonly files: Files
  readonly format: ArchiveFormat
  /** Path of the archive. */
  readonly archive: string
  /** Exists and is empty. */
  readonly directory: string
  readonly stripComponents: number
  readonly allowAbsoluteLinks: boolean
  readonly limits: ArchiveLimits
  readonly signal: AbortSignal
  /** Config path of the source, for Problems: `packageByNames.runc.source`. */
  readonly declaredAt: string
}

export async function extractArchive(extraction: Extraction): Promise<void> {
  const { files, archive, limits, signal, declaredAt } = extraction
  const writer = checkedWriter(extraction)
  const source = openArchive(files, archive, signal)
  try {
    await unpack(extraction, byteReader(source.chunks), writer, meterOf(limits, source.size))
    writer.finish()
  } catch (error) {
    throw error instanceof ArchiveRefusal ? new ProblemsError([problemOf(error, declaredAt)]) : error
  } finally {
    source.close()
  }
}

async function unpack(extraction: Extraction, reader: ByteReader, writer: CheckedWriter, meter: Meter) {
  const { format, archive, signal } = extraction
  const metered = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      signal.throwIfAborted()
      meter.count(chunk.length, writer.current)
      yield chunk
    }
  }
  switch (format) {
    case 'tar':
      return unpackTar(metered(decompressed(reader)), writer)
    case 'deb':
      return unpackTar(metered(decompressed(byteReader(debData(reader)))), writer)
    case 'rpm': {
      await skipRpmHeaders(reader)
      const payload = byteReader(metered(decompressed(reader)))
      return unpackCpio(payload, writer).finally(payload.close)
    }
    case 'zip':
      return unpackZip({ path: archive, head: await reader.peek(2), signal }, writer, meter)
  }
}
