// Names the damage of a state, entry by entry, by the listing that was kept of it. Changes nothing.
import { isErrno, messageOf } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { hashFile } from '../../lib/hash-file.ts'
import { type Layout, statePath } from '../layout.ts'
import { byName } from '../names.ts'
import { type ListedEntry, readListing } from './listing.ts'
import type { StateRecord } from './record.ts'
import { type WalkedEntry, walkTree } from './tree.ts'

export interface Damage {
  /** Inside the state; '' is the state itself. */
  readonly path: string
  readonly what: 'bytes' | 'mode' | 'link' | 'kind' | 'missing' | 'extra' | 'unknown'
  /** For people: 'is 0644, was 0444'. */
  readonly detail: string
}

/** For a state that is known to be damaged. */
export function findDamage(files: Files, layout: Layout, record: StateRecord): Damage[] {
  const directory = statePath(layout, record.state)
  if (!files.lstat(directory)?.isDirectory())
    return [{ path: '', what: 'missing', detail: 'the directory of the state is gone' }]

  const listing = readListing(files, layout, record)
  const found = new Map<string, WalkedEntry['kind']>([['', 'directory']])
  const damage: Damage[] = []
  ifReadable(damage, '', () => {
    for (const { path, kind } of walkTree(files, directory)) found.set(path, kind)
  })
  for (const [path, kind] of found) {
    const was = path === '' ? theStateItself : listing?.get(path)
    if (listing && !was) damage.push({ path, what: 'extra', detail: `a ${kind} that was not installed` })
    else ifReadable(damage, path, () => compare(files, { directory, path, kind, was }, damage))
  }
  for (const [path, { kind }] of listing ?? [])
    if (!found.has(path)) damage.push({ path, what: 'missing', detail: `the ${kind} is gone` })
  if (!listing) damage.push({ path: '', what: 'unknown', detail: 'its listing is lost: changed bytes cannot be named' })
  return damage.sort((a, b) => byName(a.path, b.path))
}

/** Mode or disk do not let it be read, or it changes under our eyes. */
export const isUnreadable = (error: unknown) =>
  isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ENOENT', 'ELOOP', 'EUCLEAN', 'EBADMSG', 'tree.changed')

const theStateItself: ListedEntry = { kind: 'directory' }

interface Compared {
  readonly directory: string
  readonly path: string
  readonly kind: WalkedEntry['kind']
  /** Undefined when there is no listing: then only the mode is known. */
  readonly was: ListedEntry | undefined
}

function compare(files: Files, { directory, path, kind, was }: Compared, damage: Damage[]) {
  const place = `${directory}/${path}`
  if (was && was.kind !== kind) {
    damage.push({ path, what: 'kind', detail: `is a ${kind}, was a ${was.kind}` })
    return
  }
  if (kind === 'file' || kind === 'directory') {
    const mode = (files.lstat(place)?.mode ?? 0) & 0o7777
    const wanted = modesOf(kind, was)
    if (!wanted.includes(mode))
      damage.push({ path, what: 'mode', detail: `is ${octal(mode)}, was ${wanted.map(octal).join(' or ')}` })
  }
  if (was?.kind === 'link') {
    const text = files.readlink(place)
    if (text !== was.text) damage.push({ path, what: 'link', detail: `leads to ${text}, led to ${was.text}` })
  }
  if (was?.kind === 'file') {
    const size = files.lstat(place)?.size
    if (size !== was.size) damage.push({ path, what: 'bytes', detail: `has ${size} bytes, had ${was.size}` })
    else if (hashFile(files, place) !== was.sha256)
      damage.push({ path, what: 'bytes', detail: `its ${size} bytes are not those installed` })
  }
}

function modesOf(kind: 'file' | 'directory', was: ListedEntry | undefined): number[] {
  if (kind === 'directory') return [0o555]
  return was?.kind === 'file' ? [was.executable ? 0o555 : 0o444] : [0o444, 0o555]
}

const octal = (mode: number) => `0${mode.toString(8).padStart(3, '0')}`

function ifReadable(damage: Damage[], path: string, look: () => void) {
  try {
    look()
  } catch (error) {
    if (!isUnreadable(error)) throw error
    damage.push({ path, what: 'bytes', detail: `cannot be read: ${messageOf(error)}` })
  }
}
