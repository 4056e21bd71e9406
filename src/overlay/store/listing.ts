// The lines that a state's content hash was made of (tree.ts says how they read), kept beside its record as
// `records/<state>.list`, so that verify can name the file that is damaged. Not synced and not trusted: a listing counts
// only when it hashes to what the record says; without one, damage is still found, only not named.
import { join } from 'node:path'
import { removeIfThere, temporaryNameFor } from '../../lib/durable.ts'
import { isErrno } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import { writeNew } from '../../lib/write-new.ts'
import type { Layout } from '../layout.ts'
import type { StateName } from '../names.ts'
import type { StateRecord } from './record.ts'

export type ListedEntry =
  | { readonly kind: 'directory' | 'special' }
  | { readonly kind: 'file'; readonly executable: boolean; readonly size: number; readonly sha256: string }
  | { readonly kind: 'link'; readonly text: string }

export const listingPath = (layout: Layout, state: StateName) => join(layout.records, `${state}.list`)

export function writeListing(files: Files, layout: Layout, { state, text }: { state: StateName; text: string }) {
  const path = listingPath(layout, state)
  const temporary = temporaryNameFor(path)
  try {
    writeNew(files, temporary, text)
    // Another process may write the same one.
    files.rename(temporary, path)
  } catch (error) {
    removeIfThere(files, temporary)
    throw error
  }
}

/** By path; null when there is none that belongs to the record. */
export function readListing(files: Files, layout: Layout, record: StateRecord): Map<string, ListedEntry> | null {
  const bytes = readIfThere(files, listingPath(layout, record.state))
  return bytes && sha256Hex(bytes) === record.contentSha256 ? parseListing(bytes) : null
}

function readIfThere(files: Files, path: string): Buffer | null {
  try {
    return files.readFile(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

/** Lengths are in bytes, and a path may contain anything, a newline too: so it is read by length, not by line. */
function parseListing(bytes: Buffer): Map<string, ListedEntry> {
  const entries = new Map<string, ListedEntry>()
  let at = 0
  const until = (end: string) => {
    const stop = bytes.indexOf(end, at)
    const text = bytes.toString('utf8', at, stop)
    at = stop + 1
    return text
  }
  const measured = () => {
    const length = Number(until(':'))
    const text = bytes.toString('utf8', at, at + length)
    at += length + 1
    return text
  }
  while (at < bytes.length) {
    const letter = until(' ')
    const path = measured()
    if (letter === 'l') entries.set(path, { kind: 'link', text: measured() })
    else if (letter === 'd' || letter === 's') entries.set(path, { kind: letter === 'd' ? 'directory' : 'special' })
    else entries.set(path, { kind: 'file', executable: letter === 'x', size: Number(until(' ')), sha256: until('\n') })
  }
  return entries
}
