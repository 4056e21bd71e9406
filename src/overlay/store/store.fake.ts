// A small store in a temporary directory, for tests: states with content, records and listings, generations, and damage.
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { realClock } from '../../lib/clock.ts'
import { removeTree } from '../../lib/durable.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { setCurrent, writeGeneration } from '../generations.ts'
import { type Layout, layoutOf, makeLayout, statePath } from '../layout.ts'
import type { StateName } from '../names.ts'
import { base32 } from './fingerprint.ts'
import type { StoreContext } from './gc/lock.ts'
import { writeListing } from './listing.ts'
import { type StateRecord, writeRecord } from './record.ts'
import { sealTree } from './seal.ts'

export interface TestStore extends StoreContext {
  readonly root: string
  /** A sealed, recorded state. Content: a text is a file, `#!…` an executable one, `-> x` a link. */
  addState(name: string, content?: Record<string, string>, references?: readonly StateName[]): StateRecord
  addGeneration(generation: number, etcState: StateName, createdAt?: Date): void
  pathIn(state: StateName, path: string): string
  remove(): void
}

export const testStateName = (name: string) =>
  `${name}-${base32(createHash('sha256').update(name).digest())}` as StateName

/** Nobody cuts the power of a test; without waiting for the disk it is ten times as fast. */
const unsynced: Files = { ...realFiles, fsync: () => {} }

export function makeStore(root = mkdtempSync(join(tmpdir(), 'cairn-store-'))): TestStore {
  const layout = layoutOf({ root })
  makeLayout(realFiles, layout)
  return {
    files: unsynced,
    layout,
    clock: realClock,
    root,
    addState: (name, content = { file: `content of ${name}` }, references = []) =>
      addState(layout, name, content, references),
    addGeneration: (generation, etcState, createdAt = new Date()) => {
      const owned = { etcState, entries: [], directories: [], backups: [] }
      const made = createdAt.toISOString()
      const version = `v${generation}`
      const manifest = { schema: 1, generation, version, createdAt: made, configSha256: '', ...owned } as const
      writeGeneration(unsynced, layout, manifest, { version })
      setCurrent(unsynced, layout, generation)
    },
    pathIn: (state, path) => join(statePath(layout, state), path),
    remove: () => removeTree(realFiles, root),
  }
}

function addState(
  layout: Layout,
  name: string,
  content: Record<string, string>,
  references: readonly StateName[],
): StateRecord {
  const state = testStateName(name)
  const directory = statePath(layout, state)
  mkdirSync(directory)
  for (const [path, text] of Object.entries(content)) {
    const place = join(directory, path)
    mkdirSync(dirname(place), { recursive: true })
    if (text.startsWith('-> ')) symlinkSync(text.slice(3), place)
    else writeFileSync(place, text)
    if (text.startsWith('#!')) chmodSync(place, 0o755)
  }
  const { contentSha256, size, entries, listing } = sealTree(realFiles, directory)
  const record: StateRecord = {
    schema: 1,
    state,
    kind: 'source',
    name,
    version: '1',
    inputs: name,
    contentSha256,
    size,
    entries,
    references,
  }
  writeListing(unsynced, layout, { state, text: listing })
  writeRecord(unsynced, layout, record)
  return record
}
