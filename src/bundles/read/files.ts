// Gathers the files that a command line names: files, directories, standard input. Everything that cannot be read is told
// together. Reads no more than the limits allow, whatever a file claims its size to be.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { byName } from '../../lib/by-name.ts'
import { isErrno, messageOf } from '../../lib/errors.ts'
import { isInside } from '../../lib/is-inside.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Encoding, Limits, Source } from '../model/source.ts'
import { hasKnownExtension } from './encoding.ts'
import * as told from './source-problems.ts'

export interface Collect {
  /** `-` is standard input. */
  readonly files: readonly string[]
  /** Into the directories of a directory too. */
  readonly recurse: boolean
  /** Stated for all of them. */
  readonly encoding?: Encoding
  readStdin(): AsyncIterable<Uint8Array>
  readonly limits: Pick<Limits, 'files' | 'fileBytes' | 'requestBytes'>
}

export interface Collected {
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
}

/** A file that is named twice is read once. */
export async function collectSources({ files, recurse, encoding, readStdin, limits }: Collect): Promise<Collected> {
  const sources: Source[] = []
  const problems: Problem[] = []
  let bytesLeft = limits.requestBytes
  for (const entry of withoutRepetition(files.flatMap(file => entriesOf(file, recurse)))) {
    if ('code' in entry) {
      problems.push(entry)
      continue
    }
    if (sources.length === limits.files) {
      problems.push(told.tooManyFiles(limits.files))
      break
    }
    const name = entry.name === '-' ? 'stdin' : entry.name
    const content = entry.name === '-' ? await readAll(readStdin(), limits) : readFile(entry, limits)
    if ('code' in content) {
      problems.push(content)
      continue
    }
    bytesLeft -= content.length
    if (bytesLeft < 0) {
      problems.push(told.tooMuch(limits.requestBytes))
      break
    }
    const wrong = wrongWith(name, content, entry.isNamed)
    if (wrong) problems.push(wrong)
    else sources.push({ name, content, ...(encoding && { encoding }) })
  }
  return { sources, problems }
}

interface Entry {
  readonly name: string
  /** By a person, not found in a directory. */
  readonly isNamed: boolean
}

function withoutRepetition(entries: readonly (Entry | Problem)[]): (Entry | Problem)[] {
  const names = new Set<string>()
  return entries.filter(entry => 'code' in entry || (!names.has(entry.name) && names.add(entry.name)))
}

function entriesOf(file: string, recurse: boolean): (Entry | Problem)[] {
  if (file === '-') return [{ name: file, isNamed: true }]
  try {
    if (!fs.statSync(file).isDirectory()) return [{ name: join(file), isNamed: true }]
    const inside = insideOf(file, { recurse, root: file, realRoot: fs.realpathSync(file) })
    return inside.length > 0 ? inside : [told.noBundles(file, recurse)]
  } catch (error) {
    return [failure(file, error)]
  }
}

interface Walk {
  readonly recurse: boolean
  /** As it was named, and where it really is. */
  readonly root: string
  readonly realRoot: string
}

/** Sorted by name. Directories that are links are not walked: what is in them is found where it is. */
function insideOf(directory: string, walk: Walk): (Entry | Problem)[] {
  const visible = fs.readdirSync(directory, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'))
  return visible
    .sort((a, b) => byName(a.name, b.name))
    .flatMap(found => {
      const name = join(directory, found.name)
      try {
        if (found.isSymbolicLink()) return linked(name, walk)
        if (found.isDirectory()) return walk.recurse ? insideOf(name, walk) : []
        return hasKnownExtension(name) ? [{ name, isNamed: false }] : []
      } catch (error) {
        return [failure(name, error)]
      }
    })
}

function linked(name: string, { recurse, root, realRoot }: Walk): (Entry | Problem)[] {
  const isOfInterest =
    hasKnownExtension(name) || (recurse && fs.statSync(name, { throwIfNoEntry: false })?.isDirectory())
  if (!isOfInterest) return []
  const real = fs.realpathSync(name)
  if (real !== realRoot && !isInside(real, realRoot)) return [told.symlinkOut(name, root)]
  return fs.statSync(real).isDirectory() ? [] : [{ name, isNamed: false }]
}

type Limit = Pick<Limits, 'fileBytes'>

/** O_NONBLOCK: opening a pipe must not wait for its writer. */
function readFile({ name }: Entry, { fileBytes }: Limit): Buffer | Problem {
  let fd: number | undefined
  try {
    if (!fs.statSync(name).isFile()) return told.notRegular(name)
    fd = fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    const { size } = fs.fstatSync(fd)
    if (size > fileBytes) return told.tooLarge(name, fileBytes)
    const bytes = readUpTo(fd, fileBytes + 1)
    return bytes.length > fileBytes ? told.tooLarge(name, fileBytes) : bytes
  } catch (error) {
    return failure(name, error)
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

function readUpTo(fd: number, most: number): Buffer {
  const blocks: Buffer[] = []
  for (let left = most; left > 0; ) {
    const block = Buffer.allocUnsafe(Math.min(left, 64 * 1024))
    const count = fs.readSync(fd, block)
    if (count === 0) break
    blocks.push(block.subarray(0, count))
    left -= count
  }
  return Buffer.concat(blocks)
}

async function readAll(chunks: AsyncIterable<Uint8Array>, { fileBytes }: Limit): Promise<Buffer | Problem> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > fileBytes) return told.tooLarge('stdin', fileBytes)
    read.push(chunk)
  }
  return Buffer.concat(read)
}

function wrongWith(name: string, content: Buffer, isNamed: boolean): Problem | undefined {
  if (content.subarray(0, 8000).includes(0)) return told.binary(name)
  // Beside others in a directory an empty file does no harm; named, it is hardly what was meant.
  return content.length === 0 && isNamed ? told.empty(name) : undefined
}

const failure = (name: string, error: unknown): Problem =>
  isErrno(error, 'ENOENT', 'ENOTDIR') ? told.missing(name) : told.unreadable(name, whyOf(error))

function whyOf(error: unknown): string {
  if (isErrno(error, 'EACCES', 'EPERM')) return 'permission denied'
  if (isErrno(error, 'ELOOP')) return 'its links lead in a circle'
  return messageOf(error)
}
