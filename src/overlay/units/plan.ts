// Decides what happens to which unit when one tree of units replaces another, from the trees and the units' live states.
// Touches nothing.
// Holds: equal trees give no action; a unit has one action at most; what an operator stopped stays stopped.
import type { Warning } from '../../lib/problem.ts'
import { byName, type UnitName } from '../names.ts'
import type { UnitStatus } from '../systemd/systemd.ts'
import type { UnitFile, UnitPlan, UnitTree } from './action.ts'
import { bringBackDependents } from './dependents.ts'
import { newDraft } from './draft.ts'
import { networkWarnings, typeWideWarnings } from './lint.ts'
import { pulledIn, readRelations, startedBy } from './relations.ts'
import { decideRunning } from './running.ts'
import { acceptingSocket, socketsOf } from './sockets.ts'
import { decideFailed, decideNew, isNew } from './starting.ts'
import { readTree } from './tree.ts'
import { isTemplate, typeOf } from './unit-name.ts'
import { isRunning, ownParts, type View } from './view.ts'

export interface UnitTrees {
  readonly old: UnitTree
  readonly new: UnitTree
}

export interface UnitsBefore extends UnitTrees {
  /** Of at least the units of interest. */
  readonly live: ReadonlyMap<UnitName, UnitStatus>
  /** Units with start: true. */
  readonly start: ReadonlySet<UnitName>
  /** The store as the machine sees it; default /cairn. */
  readonly store?: string
}

export function planUnits(before: UnitsBefore): { units: UnitPlan; warnings: Warning[] } {
  const view = viewOf(before)
  const candidates = candidatesOf(view, view.live.keys())
  const draft = newDraft()
  for (const name of candidates) {
    if (isRunning(view, name)) decideRunning(view, name, draft)
    else if (isNew(view, name)) decideNew(view, name, draft)
    else if (view.live.get(name)?.active === 'failed') decideFailed(view, name, draft)
  }
  bringBackDependents(view, candidates, draft)
  return { units: draft.finish(), warnings: [...networkWarnings(view, candidates), ...typeWideWarnings(view)] }
}

/** What to ask systemd about before planning; `active` are the names of all units that are not inactive. */
export function unitsOfInterest(trees: UnitTrees, active: Iterable<UnitName>): UnitName[] {
  if (isSameTree(trees.old, trees.new)) return []
  const view = viewOf({ ...trees, live: new Map(), start: new Set() })
  const names = new Set(candidatesOf(view, active))
  for (const owner of view.new.wants.keys()) names.add(owner)
  for (const name of [...names]) {
    if (typeOf(name) === 'service')
      for (const socket of [...socketsOf(view, name), acceptingSocket(name)]) if (socket) names.add(socket)
    if (typeOf(name) === 'socket') names.add(startedBy(view.new, name))
    if (typeOf(name) === 'target') for (const wanted of pulledIn(view.new, name)) names.add(wanted)
  }
  return [...names].sort(byName)
}

function viewOf({ old, new: wanted, live, start, store = '/cairn' }: UnitsBefore): View {
  const units = readTree(wanted)
  return { old: readTree(old), new: units, relations: readRelations(units), live, start, store }
}

/** Units that one of the trees speaks of: declared ones, and instances and prefixes among the given names. */
function candidatesOf(view: View, others: Iterable<UnitName>): UnitName[] {
  const isOurs = (name: UnitName) =>
    !isTemplate(name) && (ownParts(view.old, name) ?? ownParts(view.new, name)) !== null
  return [...new Set([...view.old.declared, ...view.new.declared, ...others])].filter(isOurs).sort(byName)
}

function isSameTree(old: UnitTree, wanted: UnitTree): boolean {
  const isSame = (was: UnitFile | undefined, is: UnitFile) =>
    was !== undefined && ('text' in is ? 'text' in was && was.text === is.text : 'link' in was && was.link === is.link)
  return old.size === wanted.size && [...wanted].every(([path, file]) => isSame(old.get(path), file))
}
