// Unpacks the layers of an image into an empty directory. What is refused leaves parts behind: the caller removes them.
import { createHash } from 'node:crypto'
import type { Sha256 } from '../../../content/messages.ts'
import { byteReader, openArchive } from '../../../lib/archive/bytes.ts'
import { decompressed } from '../../../lib/archive/compression.ts'
import { type ArchiveLimits, defaultLimits, meterOf } from '../../../lib/archive/limits.ts'
import { ArchiveRefusal } from '../../../lib/archive/refusals.ts'
import { CairnError } from '../../../lib/errors.ts'
import { type ContainerImage, type ImageLayer, layerMismatch } from '../image.ts'
import { entryFailure, layerEntries } from './layer-entries.ts'
import { type TreeWriter, treeWriter, type WriterOptions, type Written } from './tree-writer.ts'

export interface Unpacking extends WriterOptions {
  readonly image: ContainerImage
  readonly pathOf: (sha256: Sha256) => string
  readonly limits: ArchiveLimits
  readonly signal: AbortSignal
}

/** Entries and bytes of all layers together; the ratio is that of each. */
export const imageLimits: ArchiveLimits = { ...defaultLimits, entries: 2_000_000, bytes: 128 * 2 ** 30, depth: 128 }

export async function unpackImage(unpacking: Unpacking): Promise<Written> {
  const writer = treeWriter(unpacking)
  let left = unpacking.limits.bytes
  try {
    for (const layer of unpacking.image.layers) {
      writer.beginLayer()
      left -= await unpackLayer(layer, writer, { ...unpacking, limits: { ...unpacking.limits, bytes: left } })
    }
    return await writer.finish()
  } catch (error) {
    if (!(error instanceof ArchiveRefusal)) throw error
    const details = error.hint === undefined ? {} : { hint: error.hint }
    throw new CairnError(error.code, `the image cannot be unpacked: ${error.message}`, details)
  }
}

/** Returns how many bytes the layer had, uncompressed. */
async function unpackLayer(layer: ImageLayer, writer: TreeWriter, unpacking: Unpacking): Promise<number> {
  const { files, pathOf, limits, signal } = unpacking
  const source = openArchive(files, pathOf(layer.sha256), signal)
  const meter = meterOf(limits, source.size)
  const hash = createHash('sha256')
  let size = 0
  const uncompressed = async function* (): AsyncGenerator<Buffer> {
    const reader = byteReader(source.chunks)
    for await (const chunk of isCompressed(await reader.peek(4)) ? decompressed(reader) : reader.chunks()) {
      signal.throwIfAborted()
      meter.count(chunk.length, writer.current)
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  try {
    for await (const entry of layerEntries(uncompressed())) await writer.put(entry)
  } catch (error) {
    throw entryFailure(error, writer.current)
  } finally {
    source.close()
  }
  const found = hash.digest('hex')
  if (found !== layer.diffId) throw layerMismatch(layer, found)
  return size
}

/** By its first bytes, since builders mislabel. What is neither gzip nor zstd is read as tar. */
const isCompressed = (head: Buffer): boolean =>
  head.length === 4 && (head.readUInt16BE() === 0x1f8b || head.readUInt32LE() === 0xfd2fb528)
