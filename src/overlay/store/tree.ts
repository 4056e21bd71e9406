// One hash for a whole directory. It covers names, kinds, the owner's exec bit, link texts and bytes; not owners, times
// or the other mode bits. Hashed is the UTF-8 text of one line for each entry below the directory, parents before their
// children, names in order, lengths in bytes, so that two different trees never have the same text:
//   d <length>:<path>                            a directory
//   f <length>:<path> <size> <sha256>            a file; x instead of f when its owner may execute it
//   l <length>:<path> <length>:<text>            a symbolic link
//   s <length>:<path>                            anything else; never opened
import { createHash, type Hash, hash as hashOf } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { CairnError } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { byName, type Sha256 } from '../names.ts'

export interface TreeSummary {
  readonly contentSha256: Sha256
  /** Sum of the sizes of regular files. */
  readonly size: number
  readonly entries: number
}

export interface WalkedEntry {
  /** Relative to the directory that is walked: `bin/runc`. */
  readonly path: string
  readonly kind: 'directory' | 'file' | 'link' | 'special'
}

/** Called while a tree is read; paths are relative to it. What they do must not change what is hashed. */
export interface TreeVisitor {
  directory?(path: string): void
  link?(path: string, text: string): void
  special?(path: string): void
  /** While the file is open, before its bytes. */
  file?(path: string, fd: number, stats: Stats): void
  /** Of files and of link texts, up to 1 MiB at a time, valid only during the call; `first` starts a file or a text. */
  bytes?(chunk: Buffer, first: boolean): void
  fileEnd?(): void
  /** Each line as it is hashed. */
  line?(text: string): void
}

/** One for all: trees are read without a pause, never two at a time, and a fresh megabyte costs more than a small tree. */
const buffer = Buffer.allocUnsafeSlow(1024 * 1024)
const emptySha256 = hashOf('sha256', '')

export function hashTree(files: Files, directory: string, visitor: TreeVisitor = {}): TreeSummary {
  const lines = createHash('sha256')
  let size = 0
  let entries = 0
  const add = (line: string) => {
    entries++
    lines.update(line)
    visitor.line?.(line)
  }
  for (const { path, kind } of walkTree(files, directory)) {
    if (kind === 'directory') {
      visitor.directory?.(path)
      add(`d ${measured(path)}\n`)
    } else if (kind === 'file') {
      const read = readFileOnce(files, directory, path, visitor)
      size += read.size
      add(`${read.executable ? 'x' : 'f'} ${measured(path)} ${read.size} ${read.sha256}\n`)
    } else if (kind === 'link') {
      const text = files.readlink(`${directory}/${path}`)
      visitor.link?.(path, text)
      visitor.bytes?.(Buffer.from(text), true)
      add(`l ${measured(path)} ${measured(text)}\n`)
    } else {
      visitor.special?.(path)
      add(`s ${measured(path)}\n`)
    }
  }
  return { contentSha256: lines.digest('hex') as Sha256, size, entries }
}

/** Follows no link. Parents come before their children, names of one directory in order. */
export function* walkTree(files: Files, directory: string, below = ''): Generator<WalkedEntry> {
  const found = files.readdirTypes(below ? `${directory}/${below}` : directory)
  for (const entry of found.sort((a, b) => byName(a.name, b.name))) {
    const path = below ? `${below}/${entry.name}` : entry.name
    if (entry.isDirectory()) {
      yield { path, kind: 'directory' }
      yield* walkTree(files, directory, path)
    } else yield { path, kind: entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : 'special' }
  }
}

const measured = (text: string) => `${Buffer.byteLength(text)}:${text}`

interface ReadFile {
  readonly size: number
  readonly executable: boolean
  readonly sha256: string
}

/** A file that fits the buffer, as nearly all do, costs one read and one call of the hash. */
function readFileOnce(files: Files, directory: string, path: string, visitor: TreeVisitor): ReadFile {
  const fd = files.open(`${directory}/${path}`, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const stats = files.fstat(fd)
    visitor.file?.(path, fd, stats)
    let parts: Hash | null = null
    let sha256 = emptySha256
    for (let size = 0; size < stats.size; ) {
      const chunk = buffer.subarray(0, files.read(fd, buffer))
      visitor.bytes?.(chunk, size === 0)
      size += chunk.length
      if (chunk.length === 0 || size > stats.size) throw changedWhileRead(path)
      if (parts || size < stats.size) parts = (parts ?? createHash('sha256')).update(chunk)
      else sha256 = hashOf('sha256', chunk)
    }
    if (parts) sha256 = parts.digest('hex')
    visitor.fileEnd?.()
    return { size: stats.size, executable: (stats.mode & 0o100) !== 0, sha256 }
  } finally {
    files.close(fd)
  }
}

const changedWhileRead = (path: string) =>
  new CairnError('tree.changed', `${path} changed while it was read`, { hint: 'Try again when nothing writes to it.' })
