// The only thing that creates what an archive asks for. It trusts no name, no link and no order of entries.
// Holds: everything it makes lies below its directory; every parent is a real directory that it made itself; symbolic links
// appear last, when it is known that each stays inside; nothing is ever written through one.
import { constants } from 'node:fs'
import type { Files } from '../files.ts'
import { checkText, partsOf } from './entry-name.ts'
import type { ArchiveLimits } from './limits.ts'
import { linkFault } from './links.ts'
import { absoluteLink, conflict, hardlinkMissing, linkEscape, throughLink, tooDeep, tooMany } from './refusals.ts'

export interface CheckedWriter {
  /** The name that was given last; '' before the first. */
  readonly current: string
  directory(name: string): void
  /** Reads the content to its end, also when the entry is stripped away. A second file of one name replaces the first. */
  file(name: string, executable: boolean, content: AsyncIterable<Uint8Array>): Promise<void>
  symlink(name: string, text: string): void
  /** `target` is a name of the archive, of a file that came before. */
  hardlink(name: string, target: string): void
  /** From here on, what came before is of a layer below: it may be replaced and taken away. */
  nextLayer(): void
  /** Takes away what layers below have at this name; nothing there is fine. */
  whiteOut(name: string): void
  /** Takes away what layers below have in this directory. */
  empty(name: string): void
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

type Kind = 'directory' | 'file' | 'hard link' | { readonly text: string }

interface Made {
  readonly kind: Kind
  readonly layer: number
}

export function checkedWriter(options: WriterOptions): CheckedWriter {
  const { files, directory: root, limits, stripComponents, allowAbsoluteLinks } = options
  const made = new Map<string, Made>()
  /** Of each directory, the names in it. */
  const names = new Map<string, Set<string>>()
  let current = ''
  let layer = 0

  /** Where an entry belongs, or null when it is stripped away. */
  const placeOf = (name: string): string | null => {
    current = name
    const parts = partsOf(name)
    if (parts.length > limits.depth) throw tooDeep(name, limits.depth)
    return parts.slice(stripComponents).join('/') || null
  }
  const remember = (path: string, kind: Kind, name: string) => {
    made.set(path, { kind, layer })
    const { parent, own } = split(path)
    const siblings = names.get(parent)
    if (siblings) siblings.add(own)
    else names.set(parent, new Set([own]))
    if (made.size > limits.entries) throw tooMany(name, limits.entries)
  }
  /** Takes away what is there and in it, unless it is of this layer. */
  const removeLower = (path: string) => {
    emptyLower(path)
    const there = made.get(path)
    if (!there || there.layer === layer || (names.get(path)?.size ?? 0) > 0) return
    if (there.kind === 'directory') files.rmdir(`${root}/${path}`)
    else if (typeof there.kind === 'string') files.unlink(`${root}/${path}`)
    made.delete(path)
    const { parent, own } = split(path)
    names.get(parent)?.delete(own)
  }
  const emptyLower = (path: string) => {
    for (const own of [...(names.get(path) ?? [])]) removeLower(path === '' ? own : `${path}/${own}`)
  }
  /** What this layer would meet at a path; something else of a layer below has made way. */
  const before = (path: string, wanted: 'directory' | 'other'): Kind | undefined => {
    const there = made.get(path)
    if (there && there.layer < layer && !(wanted === 'directory' && there.kind === 'directory')) removeLower(path)
    return made.get(path)?.kind
  }
  const makeDirectory = (path: string, name: string) => {
    const there = before(path, 'directory')
    if (typeof there === 'object') throw throughLink(name, path)
    if (there && there !== 'directory') throw conflict(path, there, 'directory')
    makeParents(path, name)
    remember(path, 'directory', name)
    if (there !== 'directory') files.mkdir(`${root}/${path}`, 0o755)
  }
  const makeParents = (path: string, name: string) => {
    const { parent } = split(path)
    if (parent === '') return
    const there = made.get(parent)?.kind
    if (there === undefined) makeDirectory(parent, name)
    else if (typeof there === 'object') throw throughLink(name, parent)
    else if (there !== 'directory') throw conflict(parent, there, 'directory')
  }
  /** A place where something new may be made; a file that was there is gone. */
  const freePlace = (path: string, what: 'file' | 'hard link', name: string) => {
    const there = before(path, 'other')
    if (there === 'file' || there === 'hard link') files.unlink(`${root}/${path}`)
    else if (there) throw conflict(name, wordFor(there), what)
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
      const there = before(path, 'other')
      if (there && (typeof there === 'string' || there.text !== text)) throw conflict(name, wordFor(there), 'link')
      makeParents(path, name)
      remember(path, { text }, name)
    },

    hardlink(name, target) {
      const existing = placeOf(target)
      const path = placeOf(name)
      if (path === null) return
      const kind = existing === null ? undefined : made.get(existing)?.kind
      if ((kind !== 'file' && kind !== 'hard link') || existing === path) throw hardlinkMissing(name, target)
      freePlace(path, 'hard link', name)
      files.link(`${root}/${existing}`, `${root}/${path}`)
    },

    nextLayer() {
      layer++
    },

    whiteOut(name) {
      const path = placeOf(name)
      if (path !== null) removeLower(path)
    },

    empty(name) {
      current = name
      emptyLower(partsOf(name).slice(stripComponents).join('/'))
    },

    finish() {
      const textAt = (path: string) => {
        const found = made.get(path)?.kind
        return typeof found === 'object' ? found.text : undefined
      }
      const links = [...made].flatMap(([path, { kind }]) =>
        typeof kind === 'object' ? [{ path, text: kind.text }] : [],
      )
      for (const { path, text } of links) {
        const fault = linkFault(path, text, { textAt, allowAbsolute: allowAbsoluteLinks })
        if (fault === 'is absolute') throw absoluteLink(path, text)
        if (fault) throw linkEscape(path, text, fault)
      }
      for (const { path, text } of links) files.symlink(text, `${root}/${path}`)
    },
  }
}

function split(path: string): { parent: string; own: string } {
  const slash = path.lastIndexOf('/')
  return { parent: path.slice(0, Math.max(slash, 0)), own: path.slice(slash + 1) }
}

const wordFor = (kind: Kind) => (typeof kind === 'string' ? kind : 'link')
