// Makes a freshly built tree what a state is: read-only, without times or special bits, hashed, and safe on disk.
// A sealed tree of equal content is equal in every bit that a reader can see.
import { constants } from 'node:fs'
import { syncDirectory, syncFile } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import type { StateName } from '../names.ts'
import { referenceScanner } from './references.ts'
import { hashTree, type TreeSummary, type TreeVisitor, walkTree } from './tree.ts'

export interface SealedTree extends TreeSummary {
  /** Of the states that it may mention, those that it does. */
  readonly mentions: readonly StateName[]
  /** The lines that were hashed; kept to name what is damaged later. */
  readonly listing: string
}

/** Seconds; 0 is taken by some tools for "no time". */
const mtime = 1

/** Seals what is there, in one pass over the bytes. */
export function sealTree(files: Files, directory: string, candidates: Iterable<StateName> = []): SealedTree {
  return sealing(files, directory, directory, candidates, {
    file: (_path, fd, stats) => {
      const mode = sealedMode(stats.mode)
      if ((stats.mode & 0o7777) !== mode) files.fchmod(fd, mode)
      if (stats.mtimeMs !== mtime * 1000) files.futimes(fd, mtime, mtime)
    },
  })
}

/** Copies a tree into an empty directory and seals the copy, in one pass over the bytes. Special files are left out. */
export function copySealed(files: Files, from: string, to: string, candidates: Iterable<StateName>): SealedTree {
  let target: number | null = null
  const close = () => {
    if (target !== null) files.close(target)
    target = null
  }
  try {
    return sealing(files, from, to, candidates, {
      directory: path => files.mkdir(`${to}/${path}`),
      link: (path, text) => files.symlink(text, `${to}/${path}`),
      file: (path, _fd, stats) => {
        target = files.open(`${to}/${path}`, creating, 0o600)
        files.fchmod(target, sealedMode(stats.mode))
      },
      bytes: chunk => {
        if (target !== null) files.write(target, chunk)
      },
      fileEnd: () => {
        if (target !== null) files.futimes(target, mtime, mtime)
        close()
      },
    })
  } finally {
    close()
  }
}

const creating = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

const sealedMode = (mode: number) => (mode & 0o100 ? 0o555 : 0o444)

/** Reads one tree while another, or the same, is sealed; directories last, because what is made in one changes its time. */
function sealing(
  files: Files,
  read: string,
  sealed: string,
  candidates: Iterable<StateName>,
  visitor: TreeVisitor,
): SealedTree {
  const scanner = referenceScanner(candidates)
  const directories = [sealed]
  const lines: string[] = []
  const summary = hashTree(files, read, {
    ...visitor,
    directory: path => {
      visitor.directory?.(path)
      directories.push(`${sealed}/${path}`)
    },
    link: (path, text) => {
      visitor.link?.(path, text)
      files.lutimes(`${sealed}/${path}`, mtime, mtime)
    },
    bytes: (chunk, first) => {
      visitor.bytes?.(chunk, first)
      scanner.scan(chunk, first)
    },
    line: text => lines.push(text),
  })
  for (const directory of directories.reverse()) {
    files.lutimes(directory, mtime, mtime)
    files.chmod(directory, 0o555)
  }
  return { ...summary, mentions: scanner.found(), listing: lines.join('') }
}

/** When it returns, everything below the directory is on disk: files first, then directories from the bottom up. */
export function syncTree(files: Files, directory: string) {
  const walked = [...walkTree(files, directory)]
  for (const { path, kind } of walked) if (kind === 'file') syncFile(files, `${directory}/${path}`)
  for (const { path, kind } of walked.reverse()) if (kind === 'directory') syncDirectory(files, `${directory}/${path}`)
  syncDirectory(files, directory)
}
