// Reads a stream of chunks by counts: for the formats that Cairn takes apart itself.
import { constants } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Files } from '../files.ts'
import { truncated } from './refusals.ts'

export interface ByteReader {
  /** Does not move on. Fewer than asked for only at the end. */
  peek(count: number): Promise<Buffer>
  /** Exactly so many; the archive breaks off otherwise. */
  take(count: number): Promise<Buffer>
  /** The next `count` bytes as they come, or all that follow. Read them to the end before going on. */
  chunks(count?: number): AsyncGenerator<Buffer>
  skip(count: number): Promise<void>
  /** Gives the source up; call it when not everything was read. */
  close(): Promise<void>
}

export function byteReader(source: AsyncIterable<Buffer>): ByteReader {
  const iterator = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)

  const more = async (): Promise<boolean> => {
    const next = await iterator.next()
    if (next.done) return false
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value])
    return true
  }
  const shift = (count: number): Buffer => {
    const bytes = held.subarray(0, count)
    held = held.subarray(bytes.length)
    return bytes
  }
  const reader: ByteReader = {
    async peek(count) {
      while (held.length < count && (await more()));
      return held.subarray(0, count)
    },
    async take(count) {
      while (held.length < count) if (!(await more())) throw truncated(null)
      return shift(count)
    },
    async *chunks(count) {
      for (let left = count ?? Number.POSITIVE_INFINITY; left > 0; ) {
        if (held.length === 0 && !(await more())) {
          if (count === undefined) return
          throw truncated(null)
        }
        const chunk = shift(left)
        left -= chunk.length
        yield chunk
      }
    },
    async skip(count) {
      for await (const _ of reader.chunks(count));
    },
    async close() {
      await iterator.return?.()
    },
  }
  return reader
}

export interface ArchiveFile {
  readonly size: number
  readonly chunks: AsyncIterable<Buffer>
  /** Ends the chunks as well, whoever still reads them. */
  close(): void
}

const chunkSize = 256 * 1024

/** Lets other work go on between the chunks, and stops when that is asked for. */
export function openArchive(files: Files, path: string, signal: AbortSignal): ArchiveFile {
  const fd = files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  let open = true
  return {
    size: files.fstat(fd).size,
    chunks: (async function* () {
      while (open) {
        signal.throwIfAborted()
        const buffer = Buffer.allocUnsafe(chunkSize)
        const count = files.read(fd, buffer)
        if (count === 0) return
        yield buffer.subarray(0, count)
        await setImmediate()
      }
    })(),
    close() {
      if (open) files.close(fd)
      open = false
    },
  }
}
