// The only thing that creates what an archive asks for. It trusts no name, no link and no order of entries.
// Holds: everything it makes lies below its directory; every parent is a real directory that it made itself; symbolic links
// appear last, when it is known that each stays inside; nothing is ever written through one.
import { constants } from 'node:fs'
import type { Files } from '../files.ts'
import type { ArchiveLimits } from './limits.ts'
import { linkFault } from './links.ts'
import {
  absoluteLink,
  conflict,
  hardlinkMissing,
  linkEscape,
  nameInvalid,
  throughLink,
  tooDeep,
  tooMany,
  traversal,
} from './refusals.ts'

export interface CheckedWriter {
  /** The name that was given last; '' before the first. */
  readonly current: string
  directory(name: string): void
  /** Reads the content to its end, also when the entry is stripped away. A second file of one name replaces the first. */
  file(name: string, executable: boolean, content: AsyncIterable<Uint8Array>): Promise<void>
  symlink(name: string, text: string): void
  /** `target` is a name of the archive, of a file that came before. */
  hardlink(name: string, target: string): void
  /** After the last entry: checks all links together and makes them. */
  finish(): void
}

export interface WriterOptions {
  readonly files: Files
  /** Exists and is empty. */
  readonly directory: string
  readonly limits: ArchiveLimits
  /** Leading parts that are dropped; an entry with no more than those is left out. */
  readonly stripComponents: number
  readonly allowAbsoluteLinks: boolean
}

type Made = 'directory' | 'file' | 'hard link' | { readonly text: string }

const longestPart = 255
const longestPath = 2048

export function checkedWriter(options: WriterOptions): CheckedWriter {
  const { files, directory: root, limits, stripComponents, allowAbsoluteLinks } = options
  const made = new Map<string, Made>()
  let current = ''

  /** Where an entry belongs, or null when it is stripped away. */
  const placeOf = (name: string): string | null => {
    current = name
    const parts = partsOf(name)
    if (parts.length > limits.depth) throw tooDeep(name, limits.depth)
    return parts.slice(stripComponents).join('/') || null
  }
  const remember = (path: string, what: Made, name: string) => {
    made.set(path, what)
    if (made.size > limits.entries) throw tooMany(name, limits.entries)
  }
  const makeDirectory = (path: string, name: string) => {
    const before = made.get(path)
    if (before === 'directory') return
    if (typeof before === 'object') throw throughLink(name, path)
    if (before) throw conflict(path, before, 'directory')
    makeParents(path, name)
    remember(path, 'directory', name)
    files.mkdir(`${root}/${path}`, 0o755)
  }
  const makeParents = (path: string, name: string) => {
    const slash = path.lastIndexOf('/')
    if (slash > 0) makeDirectory(path.slice(0, slash), name)
  }
  /** A place where something new may be made; a file that was there is gone. */
  const freePlace = (path: string, what: 'file' | 'hard link', name: string) => {
    const before = made.get(path)
    if (before === 'file' || before === 'hard link') files.unlink(`${root}/${path}`)
    else if (before) throw conflict(name, kindOf(before), what)
    else makeParents(path, name)
    remember(path, what, name)
  }

  return {
    get current() {
      return current
    },

    directory(name) {
      const path = placeOf(name)
      if (path !== null) makeDirectory(path, name)
    },

    async file(name, executable, content) {
      const path = placeOf(name)
      if (path === null) {
        for await (const _ of content);
        return
      }
      freePlace(path, 'file', name)
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
      const fd = files.open(`${root}/${path}`, flags, executable ? 0o555 : 0o444)
      try {
        for await (const chunk of content) files.write(fd, chunk)
      } finally {
        files.close(fd)
      }
    },

    symlink(name, text) {
      const path = placeOf(name)
      if (path === null) return
      checkText(name, text)
      const before = made.get(path)
      if (before && (typeof before === 'string' || before.text !== text)) throw conflict(name, kindOf(before), 'link')
      makeParents(path, name)
      remember(path, { text }, name)
    },

    hardlink(name, target) {
      const existing = placeOf(target)
      const path = placeOf(name)
      if (path === null) return
      const kind = existing === null ? undefined : made.get(existing)
      if ((kind !== 'file' && kind !== 'hard link') || existing === path) throw hardlinkMissing(name, target)
      freePlace(path, 'hard link', name)
      files.link(`${root}/${existing}`, `${root}/${path}`)
    },

    finish() {
      const textAt = (path: string) => {
        const found = made.get(path)
        return typeof found === 'object' ? found.text : undefined
      }
      const links = [...made].flatMap(([path, what]) => (typeof what === 'object' ? [{ path, text: what.text }] : []))
      for (const { path, text } of links) {
        const fault = linkFault(path, text, { textAt, allowAbsolute: allowAbsoluteLinks })
        if (fault === 'is absolute') throw absoluteLink(path, text)
        if (fault) throw linkEscape(path, text, fault)
      }
      for (const { path, text } of links) files.symlink(text, `${root}/${path}`)
    },
  }
}

/** `./a//b/` is a/b; an absolute name and one that goes up is refused, not repaired. */
function partsOf(name: string): string[] {
  checkText(name, name)
  const parts = name.split('/').filter(part => part !== '' && part !== '.')
  if (name.startsWith('/') || parts.includes('..')) throw traversal(name)
  if (Buffer.byteLength(name) > longestPath || parts.some(part => Buffer.byteLength(part) > longestPart))
    throw nameInvalid(name, 'has a name that is too long')
  return parts
}

/** A name that is not UTF-8 arrives with replacement characters, and would be another name on disk. */
function checkText(entry: string, text: string) {
  if (text === '') throw nameInvalid(entry, 'has an empty name or link text')
  if (text.includes('\0')) throw nameInvalid(entry, 'has a NUL in its name or link text')
  if (text.includes('\ufffd')) throw nameInvalid(entry, 'has a name or link text that is not UTF-8')
}

const kindOf = (made: Made) => (typeof made === 'string' ? made : 'link')
