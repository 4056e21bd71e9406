// What lies where in the store, for the etc overlay: the hash of each source, and whether it stays inside its package. A
// state's listing answers for plain files; what it does not know (links, directories, a listing that was lost) is looked up.
import { realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Files } from '../../lib/files.ts'
import { hashFile } from '../../lib/hash-file.ts'
import { type Layout, statePath } from '../layout.ts'
import type { Sha256, StateName } from '../names.ts'
import { type ListedEntry, readListing } from '../store/listing.ts'
import { readRecord } from '../store/record.ts'
import { hashTree } from '../store/tree.ts'

export interface Place {
  readonly state: StateName
  readonly source: string
}

export interface Contents {
  /** Of a file's bytes, or of the tree when the place is a directory. Throws when nothing is there. */
  hashOf(place: Place): Sha256
  /** Null when it is there and leads into one of the allowed states; else what is wrong with it. */
  faultOf(place: Place, allowed: readonly StateName[]): Fault | null
}

export type Fault = { readonly is: 'missing' } | { readonly is: 'escapes'; readonly to: string }

export function storeContents(files: Files, layout: Layout): Contents {
  const listings = new Map<StateName, ReadonlyMap<string, ListedEntry>>()
  const listingOf = (state: StateName) => {
    const known = listings.get(state)
    if (known) return known
    const record = readRecord(files, layout, state, () => {})
    const listing = (record && readListing(files, layout, record)) ?? new Map<string, ListedEntry>()
    listings.set(state, listing)
    return listing
  }
  const listedFile = ({ state, source }: Place) => {
    const entry = listingOf(state).get(source)
    return entry?.kind === 'file' ? entry : null
  }
  return {
    hashOf: place => {
      const listed = listedFile(place)
      if (listed) return listed.sha256 as Sha256
      const path = realpathSync.native(join(statePath(layout, place.state), place.source))
      const isDirectory = files.lstat(path)?.isDirectory()
      return (isDirectory ? hashTree(files, path).contentSha256 : hashFile(files, path)) as Sha256
    },
    faultOf: (place, allowed) => (listedFile(place) ? null : faultOnDisk(layout, place, allowed)),
  }
}

function faultOnDisk(layout: Layout, { state, source }: Place, allowed: readonly StateName[]): Fault | null {
  try {
    const states = realpathSync.native(layout.states)
    const found = realpathSync.native(join(states, state, source))
    const isInside = allowed.some(each => `${found}${sep}`.startsWith(join(states, each) + sep))
    return isInside ? null : { is: 'escapes', to: relative(states, found) }
  } catch {
    return { is: 'missing' }
  }
}
