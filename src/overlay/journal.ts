// The intent of a running switch, on disk before its work, so that whoever starts next can finish it or go back.
// Two files: <id>.json, the whole plan, and <id>.phase, small, replaced before each phase begins. No <id>.phase yet means
// that nothing was done.
import { join } from 'node:path'
import { removeIfThere, renameDurably, syncDirectory, writeDurably } from '../lib/durable.ts'
import { messageOf } from '../lib/errors.ts'
import type { Files } from '../lib/files.ts'
import type { EtcPlan } from './etc/plan.ts'
import type { Layout } from './layout.ts'
import type { StateName, UnitName } from './names.ts'
import type { UnitPlan } from './units/action.ts'

/** In the order in which a switch goes through them. */
export const phases = ['stop', 'before', 'switch', 'after', 'reload-daemon', 'act', 'settle', 'commit', 'held'] as const
export type Phase = (typeof phases)[number]

export interface Journal {
  readonly schema: 1
  readonly id: string
  readonly startedAt: string
  readonly intent: 'apply' | 'rollback' | 'uninstall'
  readonly from: Side
  readonly to: Side
  readonly forward: SwitchPlan
  /** Planned when the switch turns round after the flip. */
  readonly back?: SwitchPlan
  /** Where back leads: `from`, or the last confirmed generation when a window was open. */
  readonly wayBack: Side
  /** Units that ran before anything was stopped. */
  readonly wereActive: readonly UnitName[]
  readonly keepFailed: boolean
  readonly hold?: Hold
  /** A held journal that this switch ends, whichever way it goes. */
  readonly replaces?: string
}

export interface Side {
  /** Null: nothing is activated. */
  readonly generation: number | null
  readonly etcState: StateName | null
}

export interface SwitchPlan {
  readonly etc: Pick<EtcPlan, 'before' | 'switch' | 'after' | 'owned'>
  readonly units: UnitPlan
}

/** Why a journal stays open after its work is done: until confirmed in time, or until the next boot. */
export type Hold =
  | { readonly kind: 'confirm'; readonly windowMs: number; readonly deadline: Deadline }
  | { readonly kind: 'test'; readonly bootId: string }

/** Wall clock for people; the monotonic one decides, within one boot. */
export interface Deadline {
  readonly at: string
  readonly monotonicMs: number
  readonly bootId: string
}

export interface JournalProgress {
  readonly phase: Phase
  readonly direction: 'forward' | 'back'
  /** How often a recovery has tried to go on from here. */
  readonly attempts: number
}

export interface OpenJournal {
  readonly journal: Journal
  /** Null: written, nothing done yet. */
  readonly progress: JournalProgress | null
}

const fileOf = (layout: Layout, id: string) => join(layout.journal, `${id}.json`)
const phaseFileOf = (layout: Layout, id: string) => join(layout.journal, `${id}.phase`)

export function writeJournal(files: Files, layout: Layout, journal: Journal) {
  writeDurably(files, fileOf(layout, journal.id), JSON.stringify(journal))
}

export function writeProgress(files: Files, layout: Layout, id: string, progress: JournalProgress) {
  writeDurably(files, phaseFileOf(layout, id), JSON.stringify(progress))
}

/** The plan goes first: a phase without a plan is litter, a plan without a phase would be a switch that never began. */
export function closeJournal(files: Files, layout: Layout, id: string) {
  removeIfThere(files, fileOf(layout, id))
  removeIfThere(files, phaseFileOf(layout, id))
  syncDirectory(files, layout.journal)
}

export interface Journals {
  /** At most one that works and one that is held, oldest first. */
  readonly open: readonly OpenJournal[]
  /** Nobody knows how far these came. */
  readonly unreadable: readonly UnreadableJournal[]
}

export interface UnreadableJournal {
  readonly id: string
  readonly reason: string
}

/** Changes nothing: questions ask it too. */
export function readJournals(files: Files, layout: Layout): Journals {
  if (!files.lstat(layout.journal)) return { open: [], unreadable: [] }
  const open: OpenJournal[] = []
  const unreadable: UnreadableJournal[] = []
  for (const name of files.readdir(layout.journal).sort()) {
    if (name.startsWith('.') || !name.endsWith('.json')) continue
    const id = name.slice(0, -'.json'.length)
    try {
      open.push({ journal: readJournal(files, layout, id), progress: readProgress(files, layout, id) })
    } catch (error) {
      unreadable.push({ id, reason: messageOf(error) })
    }
  }
  return { open: open.sort((a, b) => (a.journal.startedAt < b.journal.startedAt ? -1 : 1)), unreadable }
}

/** Called when /etc has been put right without it. Returns a sentence about it. */
export function putAside(files: Files, layout: Layout, { id, reason }: UnreadableJournal): string {
  const path = fileOf(layout, id)
  renameDurably(files, path, `${path}.corrupt`)
  return `the journal ${id} cannot be read (${reason}); it was put aside as ${id}.json.corrupt`
}

function readJournal(files: Files, layout: Layout, id: string): Journal {
  const journal = readAs<Journal | null>(files, fileOf(layout, id))
  if (journal?.id !== id || !journal.forward) throw new Error('it is not a journal')
  return journal
}

export function readProgress(files: Files, layout: Layout, id: string): JournalProgress | null {
  const path = phaseFileOf(layout, id)
  return files.lstat(path) ? readAs<JournalProgress>(files, path) : null
}

function readAs<T>(files: Files, path: string): T {
  return JSON.parse(files.readFile(path).toString('utf8')) as T
}
