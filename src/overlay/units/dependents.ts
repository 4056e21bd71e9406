// Units that systemd takes down together with one that is stopped before the switch. They are brought back with it:
// starting a unit does not start those that require it.
import type { UnitName } from '../names.ts'
import type { Decision, Draft } from './draft.ts'
import { namesIn } from './relations.ts'
import { isConnection } from './sockets.ts'
import { timerOf } from './starting.ts'
import { typeOf } from './unit-name.ts'
import { isRunning, refusesStop, type View } from './view.ts'

/** Keys that hand a stop on to the unit that has them. */
const stoppedWith = ['Requires', 'Requisite', 'BindsTo', 'PartOf', 'StopPropagatedFrom']

export function bringBackDependents(view: View, candidates: Iterable<UnitName>, draft: Draft) {
  const down = new Set(draft.stopped())
  if (down.size === 0) return
  const dependents = dependentsOf(view, candidates)
  for (const name of down) // grows while it is walked
    for (const dependent of dependents.get(name) ?? []) {
      if (down.has(dependent)) continue
      draft.put(dependent, comeback(view, dependent, `needs ${name}`))
      down.add(dependent)
    }
}

function comeback(view: View, name: UnitName, reason: string): Decision {
  if (typeOf(name) === 'target') return { do: 'start', reason, hidden: true }
  if (timerOf(view, name) || isConnection(view, name)) return { do: 'stop', reason: `${reason}; comes back by itself` }
  return refusesStop(view, name) ? { do: 'start', reason } : { do: 'restart', how: 'stop-start', reason }
}

/** Of the units that run: each one that is needed -> those that need it. */
function dependentsOf(view: View, candidates: Iterable<UnitName>): Map<UnitName, Set<UnitName>> {
  const dependents = new Map<UnitName, Set<UnitName>>()
  const add = (needed: UnitName, by: UnitName) => dependents.set(needed, (dependents.get(needed) ?? new Set()).add(by))
  for (const name of candidates)
    if (isRunning(view, name)) for (const needed of namesIn(view.new, name, stoppedWith)) add(needed, name)
  for (const [name, required] of view.new.requires)
    if (isRunning(view, name)) for (const needed of required) add(needed, name)
  return dependents
}
