// Makes a root file system from the entries of image layers, one layer over the other. It trusts no name, no link and no
// order of entries.
// Holds: until finish() the directory has no symbolic link in it, so nothing can be written through one; a path that leads
// through a link of the image is followed by name, inside the image only; what a layer hides is what was below that layer.
// Does not hold: extended attributes, and with them file capabilities. Node cannot set them; they are counted.
import { constants } from 'node:fs'
import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { SymbolicLink } from '../../../content/process/calls.ts'
import { checkText, partsOf } from '../../../lib/archive/entry-name.ts'
import type { ArchiveLimits } from '../../../lib/archive/limits.ts'
import { hardlinkMissing, tooDeep, tooMany } from '../../../lib/archive/refusals.ts'
import { removeIfThere } from '../../../lib/durable.ts'
import { isErrno, unreachable } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import { followLinks } from './follow-links.ts'
import type { EntryAttributes, LayerEntry } from './layer-entries.ts'
import { behindFile, device, outside } from './refusals.ts'

export interface TreeWriter {
  /** The name that was given last; '' before the first. */
  readonly current: string
  /** What comes from here on lies over what came before. */
  beginLayer(): void
  put(entry: LayerEntry): Promise<void>
  /** After the last entry: makes the links, and gives directories their attributes. */
  finish(): Promise<Written>
}

export interface WriterOptions {
  readonly files: Files
  /** Exists and is empty. */
  readonly directory: string
  readonly limits: Pick<ArchiveLimits, 'entries' | 'depth'>
  /** Owners are set; what the kernel refuses to give away stays with who unpacks. */
  readonly asRoot: boolean
  readonly makeLinks: (links: readonly SymbolicLink[]) => Promise<void>
}

export interface Written {
  /** Bytes on disk. */
  readonly usedSize: number
  /** Entries whose owner, and extended attributes, that could not be set. */
  readonly lost: { readonly owners: number; readonly extended: number }
}

interface Link {
  readonly text: string
  readonly attributes: EntryAttributes
}

const hidden = '.wh.'
const opaque = '.wh..wh..opq'
/** How other storage drivers keep their own books in a layer. */
const foreignBooks = '.wh..wh.'
const linksAtOnce = 1000

export function treeWriter({ files, directory: root, limits, asRoot, makeLinks }: WriterOptions): TreeWriter {
  /** All that were made, by their path below the root. */
  const directories = new Set([''])
  const attributesOf = new Map<string, EntryAttributes>()
  /** By directory, then by name: they exist here only, until all else is made. */
  const links = new Map<string, Map<string, Link>>()
  /** What this layer has, with the directories above it. */
  let own = new Set<string>()
  let [current, entries, ownersLost, extended] = ['', 0, 0, 0]

  const at = (path: string) => (path ? `${root}/${path}` : root)
  const linkAt = (path: string) => links.get(parentOf(path))?.get(posix.basename(path))
  const realPath = (parts: readonly string[]) =>
    directories.has(parts.join('/')) ? parts.join('/') : followLinks(parts, path => linkAt(path)?.text, current)

  const claim = (path: string) => {
    for (let above = path; above && !own.has(above); above = parentOf(above)) own.add(above)
  }
  const makeDirectory = (path: string, attributes: EntryAttributes) => {
    if (directories.has(path)) return
    makeDirectory(parentOf(path), attributes)
    if (own.has(path)) throw behindFile(current, path)
    removeIfThere(files, at(path))
    // Open to its owner until the end, whatever its mode will be: more is put into it.
    files.mkdir(at(path), 0o700)
    directories.add(path)
    attributesOf.set(path, { ...attributes, mode: 0o755, uid: 0, gid: 0 })
  }
  /** Takes away what is at a path; `below`: only what lower layers have there. */
  const remove = (path: string, below: boolean) => {
    const isOwn = below && own.has(path)
    if (directories.has(path)) {
      empty(path, below)
      if (isOwn) return
      files.rmdir(at(path))
      directories.delete(path)
      attributesOf.delete(path)
      links.delete(path)
    } else if (!isOwn && !links.get(parentOf(path))?.delete(posix.basename(path))) removeIfThere(files, at(path))
  }
  const empty = (path: string, below: boolean) => {
    const names = [...(links.get(path)?.keys() ?? []), ...files.readdir(at(path))]
    for (const name of names) remove(posix.join(path, name), below)
  }
  const hide = (parts: readonly string[], name: string) => {
    const parent = realPath(parts)
    if (name === opaque) {
      if (directories.has(parent)) empty(parent, true)
      return
    }
    const victim = name.slice(hidden.length)
    if (victim === '' || victim === '.' || victim === '..') throw outside(current)
    if (directories.has(parent)) remove(posix.join(parent, victim), true)
  }
  const setOwner = (path: string, { uid, gid }: EntryAttributes) => {
    if (!asRoot) return
    try {
      files.lchown(at(path), uid, gid)
    } catch (error) {
      // In a user namespace most owners do not exist.
      if (!isErrno(error, 'EINVAL', 'EPERM')) throw error
      ownersLost++
    }
  }
  /** Never of a link: chmod would follow it. Owner first: a change of owner clears special bits. */
  const setAttributes = (path: string, attributes: EntryAttributes) => {
    setOwner(path, attributes)
    files.chmod(at(path), attributes.mode)
    files.lutimes(at(path), attributes.mtime, attributes.mtime)
  }
  const writeFile = async (path: string, { content, attributes }: LayerEntry) => {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const fd = files.open(at(path), flags, 0o600)
    try {
      for await (const chunk of content) files.write(fd, chunk)
    } finally {
      files.close(fd)
    }
    setAttributes(path, attributes)
  }
  const addLink = (path: string, link: Link) => {
    const parent = parentOf(path)
    if (!links.has(parent)) links.set(parent, new Map())
    links.get(parent)!.set(posix.basename(path), link)
  }
  const linkFile = (path: string, target: string) => {
    const parts = partsOf(target, outside)
    const existing = posix.join(realPath(parts.slice(0, -1)), parts.at(-1) ?? '')
    const link = linkAt(existing)
    if (existing === path || existing.startsWith(`${path}/`)) throw hardlinkMissing(current, target)
    if (!link && (directories.has(existing) || !files.lstat(at(existing)))) throw hardlinkMissing(current, target)
    remove(path, false)
    if (link) addLink(path, link)
    else files.link(at(existing), at(path))
  }

  const put = async (entry: LayerEntry): Promise<void> => {
    const { name, kind, link, attributes } = entry
    current = name
    if (++entries > limits.entries) throw tooMany(name, limits.entries)
    extended += entry.extended
    const parts = partsOf(name, outside)
    if (parts.length > limits.depth) throw tooDeep(name, limits.depth)
    const last = parts.pop()
    if (last === undefined) {
      if (kind !== 'directory') throw outside(name)
      attributesOf.set('', attributes)
      return
    }
    if (name.split('/').some(part => part.startsWith(foreignBooks) && part !== opaque)) return
    if (last.startsWith(hidden)) return hide(parts, last)

    const parent = realPath(parts)
    const path = posix.join(parent, last)
    makeDirectory(parent, attributes)
    switch (kind) {
      case 'directory':
        if (!directories.has(path)) remove(path, false)
        makeDirectory(path, attributes)
        attributesOf.set(path, attributes)
        break
      case 'file':
        remove(path, false)
        await writeFile(path, entry)
        break
      case 'symlink':
        checkText(name, link)
        remove(path, false)
        addLink(path, { text: link, attributes })
        break
      case 'hardlink':
        linkFile(path, link)
        break
      case 'character device':
      case 'block device':
      case 'fifo':
        throw device(name, kind)
      default:
        unreachable(kind)
    }
    claim(path)
  }

  const finishLinks = async () => {
    const all = [...links].flatMap(([parent, byName]) =>
      [...byName].map(([name, link]) => ({ path: posix.join(parent, name), ...link })),
    )
    for (let from = 0; from < all.length; from += linksAtOnce) {
      const some = all.slice(from, from + linksAtOnce)
      await makeLinks(some.map(({ path, text }) => ({ path: at(path), text })))
      for (const { path, attributes } of some) {
        setOwner(path, attributes)
        files.lutimes(at(path), attributes.mtime, attributes.mtime)
      }
    }
  }
  const usedSize = async () => {
    let used = 0
    const counted = new Set<number>()
    for (const path of directories) {
      for (const name of files.readdir(at(path))) {
        const stats = files.lstat(posix.join(at(path), name))
        if (!stats || (stats.nlink > 1 && !stats.isDirectory() && counted.has(stats.ino))) continue
        if (stats.nlink > 1) counted.add(stats.ino)
        used += stats.blocks * 512
      }
      await setImmediate()
    }
    return used
  }

  return {
    get current() {
      return current
    },
    beginLayer() {
      own = new Set()
    },
    put,
    async finish() {
      await finishLinks()
      const used = await usedSize()
      // From the leaves to the root, since a directory may close itself to who unpacks.
      for (const [path, attributes] of [...attributesOf].sort(([one], [other]) => (one < other ? 1 : -1)))
        setAttributes(path, attributes)
      return { usedSize: used, lost: { owners: ownersLost, extended } }
    },
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
