// Unpacks the layers of an image, the lowest first, into one empty directory: later ones replace and take away what earlier
// ones made. `.wh.name` takes one name away, `.wh..wh..opq` all that lower layers have in its directory.
import { ProblemsError } from '../errors.ts'
import { byteReader, openArchive } from './bytes.ts'
import { type CheckedWriter, checkedWriter } from './checked-writer.ts'
import { decompressed } from './compression.ts'
import type { Extraction } from './extract.ts'
import { meterOf } from './limits.ts'
import { ArchiveRefusal, problemOf } from './refusals.ts'
import { unpackTar } from './tar.ts'

export interface LayersExtraction extends Omit<Extraction, 'archive' | 'format'> {
  readonly layers: readonly Layer[]
}

/** A tar, compressed or not; or a file that is to have a name. */
export type Layer =
  | { readonly tar: string }
  | { readonly file: string; readonly name: string; readonly executable: boolean }

export async function extractLayers(extraction: LayersExtraction): Promise<void> {
  const { layers, declaredAt } = extraction
  const writer = withWhiteouts(checkedWriter(extraction))
  try {
    for (const layer of layers) {
      await unpackLayer(extraction, layer, writer)
      writer.nextLayer()
    }
    writer.finish()
  } catch (error) {
    throw error instanceof ArchiveRefusal ? new ProblemsError([problemOf(error, declaredAt)]) : error
  }
}

async function unpackLayer({ files, limits, signal }: LayersExtraction, layer: Layer, writer: CheckedWriter) {
  const source = openArchive(files, 'tar' in layer ? layer.tar : layer.file, signal)
  const meter = meterOf(limits, source.size)
  const metered = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      meter.count(chunk.length, writer.current)
      yield chunk
    }
  }
  try {
    if ('tar' in layer) await unpackTar(metered(decompressed(byteReader(source.chunks))), writer)
    else await writer.file(layer.name, layer.executable, metered(source.chunks))
  } finally {
    source.close()
  }
}

const prefix = '.wh.'
const opaque = '.wh..wh..opq'

function withWhiteouts(writer: CheckedWriter): CheckedWriter {
  return {
    ...writer,
    get current() {
      return writer.current
    },
    async file(name, executable, content) {
      const slash = name.lastIndexOf('/') + 1
      const own = name.slice(slash)
      if (!own.startsWith(prefix)) return writer.file(name, executable, content)
      for await (const _ of content);
      if (own === opaque) writer.empty(name.slice(0, slash) || '.')
      else writer.whiteOut(`${name.slice(0, slash)}${own.slice(prefix.length)}`)
    },
  }
}
