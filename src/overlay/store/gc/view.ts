// Reads what a collection decides on: every state, every root, and what lies about. Changes nothing.
import { basename, join } from 'node:path'
import { litterPrefix } from '../../../lib/durable.ts'
import { CairnError, isErrno } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import { currentNumber, generationNumbers, readGeneration } from '../../generations.ts'
import { type Layout, statePath } from '../../layout.ts'
import { isStateName, type StateName } from '../../names.ts'
import { readRecord, recordedStates, withoutTidying } from '../record.ts'
import { referenceScanner } from '../references.ts'
import { liveTempRoots } from '../temp-roots.ts'
import { hashTree, walkTree } from '../tree.ts'
import type { StoreContext } from './lock.ts'
import type { Garbage, GcView, KnownState } from './plan.ts'
import type { ReadProcesses } from './processes.ts'
import type { References, Root } from './root.ts'
import { findStatesAmong, processRoots, storeRoots } from './roots.ts'

export interface StoreView extends GcView {
  /** The roots that Cairn keeps on disk, read again; they may name states that came since the view was read. */
  storeRootsNow(): Root[]
  /** What a state refers to now: it may have come since, or have been removed and installed again. */
  readonly referencesNow: References
}

/** `ages`: also when each generation was made, for which its whole manifest has to be read. */
export function readStore(context: StoreContext, processes: ReadProcesses, { ages = false } = {}): StoreView {
  const { files, layout } = context
  const recorded = files.lstat(layout.records) ? recordedStates(files, layout) : []
  const present = files.lstat(layout.states) ? files.readdir(layout.states) : []
  const known = new Set([...recorded, ...present.filter(isStateName)])
  const states = readStates(files, layout, known)
  const newcomers = onceARound(() => recordedStates(files, layout))
  const findStates = findStatesAmong(known, newcomers.ask)
  const looking = withoutTidying(files)
  return {
    states,
    voidRecords: recorded.filter(state => !states.has(state)),
    roots: [...storeRoots(context, findStates), ...processRoots(processes, findStates)],
    generations: generationNumbers(files, layout).map(generation => ({
      generation,
      createdAt: ages ? createdAt(files, layout, generation) : '',
    })),
    current: currentNumber(files, layout),
    journalOpen: isJournalOpen(files, layout),
    garbage: [...leftoverTrash(files, layout), ...unfinishedInstalls(context, present), ...unfinishedWrites(context)],
    referencesNow: state => (readRecord(looking, layout, state, () => {}) ?? states.get(state))?.references ?? [],
    storeRootsNow: () => {
      newcomers.newRound()
      return storeRoots(context, findStates)
    },
  }
}

/** Temp roots name many states that are not there yet; listing the records once is enough to know that. */
function onceARound(list: () => StateName[]) {
  let asked = true
  return {
    newRound: () => {
      asked = false
    },
    ask: () => {
      const answer = asked ? [] : list()
      asked = true
      return answer
    },
  }
}

export const isJournalOpen = (files: Files, layout: Layout): boolean =>
  files.lstat(layout.journal) !== null && files.readdir(layout.journal).some(name => name.endsWith('.json'))

function readStates(files: Files, layout: Layout, known: ReadonlySet<StateName>): Map<StateName, KnownState> {
  const looking = withoutTidying(files)
  const states = new Map<StateName, KnownState>()
  for (const state of known) {
    const record = readRecord(looking, layout, state, () => {})
    if (record) states.set(state, { size: record.size, references: record.references, recorded: true })
    else if (files.lstat(statePath(layout, state))?.isDirectory())
      states.set(state, { ...scanned(files, statePath(layout, state), known), recorded: false })
  }
  return states
}

/** For a directory whose record is lost: what it refers to stands in its bytes. */
function scanned(files: Files, directory: string, known: ReadonlySet<StateName>): Omit<KnownState, 'recorded'> {
  const scanner = referenceScanner(known)
  const size = whileThere(() => hashTree(files, directory, { bytes: scanner.scan }).size)
  return { size, references: scanner.found() }
}

/** Empty for a manifest that cannot be read: then nobody knows how old the generation is. */
function createdAt(files: Files, layout: Layout, generation: number): string {
  try {
    return readGeneration(files, layout, generation).createdAt
  } catch (error) {
    if (error instanceof CairnError) return ''
    throw error
  }
}

function leftoverTrash(files: Files, layout: Layout): Garbage[] {
  if (!files.lstat(layout.trash)) return []
  return files.readdir(layout.trash).map(name => garbage(files, join(layout.trash, name), 'leftover trash'))
}

const temporaryDirectory = /^\.(.+)-tmp-[^-]+$/

/** `.nginx-tmp-…` when no live process has registered a state of nginx, as installing it begins with. */
function unfinishedInstalls(context: StoreContext, present: readonly string[]): Garbage[] {
  const { files, layout } = context
  const installing = new Set(liveTempRoots(context).flatMap(({ states }) => states.map(packageOf)))
  return present
    .filter(name => {
      const found = temporaryDirectory.exec(name)
      return found && !installing.has(found[1]!)
    })
    .map(name => garbage(files, join(layout.states, name), 'unfinished install'))
}

/** Any process may write here at any time, and none takes this long from making a file to giving it its name. */
const abandonedAfterMs = 60 * 60 * 1000

function unfinishedWrites({ files, layout, clock }: StoreContext): Garbage[] {
  const since = clock.now().getTime() - abandonedAfterMs
  return [layout.records, layout.configs]
    .flatMap(directory => (files.lstat(directory) ? files.readdir(directory).map(name => join(directory, name)) : []))
    .filter(path => basename(path).startsWith(litterPrefix) && (files.lstat(path)?.mtimeMs ?? since) < since)
    .map(path => garbage(files, path, 'unfinished install'))
}

const packageOf = (state: StateName) => state.slice(0, state.lastIndexOf('-'))

function garbage(files: Files, path: string, what: Garbage['what']): Garbage {
  const isDirectory = files.lstat(path)?.isDirectory()
  return { path, what, size: isDirectory ? whileThere(() => treeSize(files, path)) : 0 }
}

function treeSize(files: Files, directory: string): number {
  let size = 0
  for (const { path, kind } of walkTree(files, directory))
    if (kind === 'file') size += files.lstat(join(directory, path))?.size ?? 0
  return size
}

/** Somebody may take it away while it is read; then it counts for nothing. */
function whileThere(measure: () => number): number {
  try {
    return measure()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0
    throw error
  }
}
