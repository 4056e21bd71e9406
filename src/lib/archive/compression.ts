// Undoes the compression around an archive, chosen by its first bytes and never by a file's name.
// gzip and zstd are Node's own; xz is the machine's program, where it has one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pipeline, Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { findProgram } from '../run.ts'
import type { ByteReader } from './bytes.ts'
import { badFormat, truncated, unsupported } from './refusals.ts'

type Compression = 'none' | 'gzip' | 'zstd' | 'xz' | 'bzip2' | 'lzma'

const magicNumbers: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['lzma', [0x5d, 0x00, 0x00]],
]

export async function* decompressed(reader: ByteReader): AsyncGenerator<Buffer> {
  const head = await reader.peek(6)
  const compression = magicNumbers.find(([, magic]) => magic.every((byte, at) => head[at] === byte))?.[0] ?? 'none'
  if (compression === 'none') yield* reader.chunks()
  else if (compression === 'gzip') yield* throughZlib(reader, createGunzip())
  else if (compression === 'zstd') yield* throughZlib(reader, createZstdDecompress())
  else if (compression === 'xz') yield* throughXz(reader)
  else
    throw unsupported(
      `the archive is compressed with ${compression}`,
      'Use one that is compressed with zstd, gzip or xz.',
    )
}

async function* throughZlib(reader: ByteReader, transform: Transform): AsyncGenerator<Buffer> {
  // A failure of the source destroys the transform with the same error, so one catch sees all.
  pipeline(Readable.from(reader.chunks()), transform, () => {})
  try {
    yield* transform
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string }
    if (code === 'Z_BUF_ERROR') throw truncated(null)
    if (/^Z_|^ZSTD/.test(code)) throw badFormat(`the compressed data is damaged: ${message}`)
    throw error
  }
}

async function* throughXz(reader: ByteReader): AsyncGenerator<Buffer> {
  const program = findProgram('xz')
  if (!program)
    throw badFormat('the archive is compressed with xz', 'Install the program xz, or use an archive in zstd or gzip.')
  const child = spawn(program, ['--decompress', '--stdout', '--memlimit=1GiB'], {
    env: { LC_ALL: 'C' },
    detached: true,
  })
  const exited = once(child, 'close') as Promise<[number | null]>
  exited.catch(() => {})
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(0, 1000)
  })
  // When xz stops reading, its exit code says why; when the source fails, that error is the one to tell.
  let sourceError: unknown
  pipeline(
    failing(reader.chunks(), error => {
      sourceError = error
    }),
    child.stdin,
    () => {},
  )
  try {
    yield* child.stdout
    const [code] = await exited
    if (sourceError) throw sourceError
    if (code !== 0 && complaint.includes('Unexpected end')) throw truncated(null)
    if (code !== 0) throw badFormat(`the compressed data is damaged: ${complaint.trim()}`)
  } finally {
    child.kill('SIGKILL')
  }
}

async function* failing(source: AsyncIterable<Buffer>, onError: (error: unknown) => void): AsyncGenerator<Buffer> {
  try {
    yield* source
  } catch (error) {
    onError(error)
    throw error
  }
}
