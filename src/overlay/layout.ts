// Where things are on a machine. Two views of one path: what the machine sees (`/cairn/states/…`, written into units and
// links) and where this process finds it (the same below --root DIR). Results are equal under any DIR.
import { join, normalize } from 'node:path'
import { makeDirectories } from '../lib/durable.ts'
import type { Files } from '../lib/files.ts'
import type { EtcTarget, StateName } from './names.ts'

export interface Layout {
  /** Physical prefix: '' on the machine itself, an absolute directory with --root. */
  readonly prefix: string
  /** The store as the machine sees it; default /cairn. */
  readonly store: string
  readonly configs: string
  readonly states: string
  readonly records: string
  readonly generations: string
  readonly current: string
  readonly static: string
  readonly backups: string
  readonly journal: string
  readonly tempRoots: string
  readonly locks: string
  readonly pool: string
  readonly trash: string
  readonly etc: string
}

export function layoutOf({ root = '', store: given = '/cairn' }: { root?: string; store?: string } = {}): Layout {
  const store = normalize(given).replace(/\/+$/, '')
  const prefix = root === '/' ? '' : root
  const base = join(prefix || '/', store)
  return {
    prefix,
    store,
    configs: join(base, 'configs'),
    states: join(base, 'states'),
    records: join(base, 'records'),
    generations: join(base, 'generations'),
    current: join(base, 'current'),
    static: join(base, 'etc/static'),
    backups: join(base, 'etc/backup'),
    journal: join(base, 'journal'),
    tempRoots: join(base, 'temp-roots'),
    locks: join(base, 'locks'),
    pool: join(base, '.links'),
    trash: join(base, 'states/.trash'),
    etc: join(prefix || '/', 'etc'),
  }
}

/** Idempotent; called before anything is written. */
export function makeLayout(files: Files, layout: Layout) {
  const { configs, states, records, generations, backups, journal, tempRoots, locks, etc } = layout
  for (const directory of [configs, states, records, generations, backups, journal, tempRoots, locks, etc])
    makeDirectories(files, directory)
}

export const statePath = (layout: Layout, state: StateName) => join(layout.states, state)
/** A target is normalised already. */
export const etcPath = (layout: Layout, target: EtcTarget) => `${layout.etc}/${target}`

/** A state's path as the machine sees it; this is what units and links say. */
export const seenStatePath = (layout: Layout, state: StateName) => join(layout.store, 'states', state)

/** The text of `/etc/<target>`: up to the root and down through static; relative, so that it is right under any root. */
export function linkThroughStatic({ store }: Layout, target: EtcTarget): string {
  let up = '../'
  for (let at = target.indexOf('/'); at !== -1; at = target.indexOf('/', at + 1)) up += '../'
  return `${up}${store.slice(1)}/etc/static/${target}`
}
