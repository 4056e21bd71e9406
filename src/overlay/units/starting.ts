// Which units that do not run are started. A new unit is one that the new tree declares and the old one did not.
import type { UnitName } from '../names.ts'
import type { Draft } from './draft.ts'
import { lastValue } from './effective.ts'
import { policyOf } from './policy.ts'
import { startedBy } from './relations.ts'
import { freeSocket, isConnection, socketsOf } from './sockets.ts'
import { instanceOf, isTemplate, sibling, typeOf } from './unit-name.ts'
import { changeOf, isHere, isRunning, refusesStart, type View } from './view.ts'

export function isNew(view: View, name: UnitName): boolean {
  if (isTemplate(name) || !view.new.declared.has(name) || !isHere(view.new, name)) return false
  return !isHere(view.old, name) || (instanceOf(name) !== null && !view.old.declared.has(name))
}

export function decideNew(view: View, name: UnitName, draft: Draft) {
  if (typeOf(name) === 'slice') return // comes up with the first unit in it
  const not = whyNotStarted(view, name) ?? (typeOf(name) === 'socket' ? freeSocket(view, name, draft) : null)
  draft.put(name, not ? { do: 'skip', reason: `new; ${not}` } : { do: 'start', reason: 'new' })
}

/** What failed gets another chance with another definition. */
export function decideFailed(view: View, name: UnitName, draft: Draft) {
  const change = changeOf(view, name)
  if ((change.is !== 'reload' && change.is !== 'restart') || isConnection(view, name)) return
  const reason = `failed, and ${change.reason}`
  const never = whyNeverStarted(view, name)
  draft.put(name, never ? { do: 'skip', reason: `${reason}; ${never}` } : { do: 'start', reason })
}

/** Null when a new unit comes up. */
export function whyNotStarted(view: View, name: UnitName): string | null {
  const never = whyNeverStarted(view, name)
  if (never) return never
  if (view.start.has(name) || isWanted(view, name) || isTimerWithoutInstall(view, name)) return null
  const socket = typeOf(name) === 'service' ? socketsOf(view, name).find(other => isHere(view.new, other)) : undefined
  return socket ? `${socket} starts it on demand` : 'no active target wants it, and start is not set'
}

export function whyNeverStarted(view: View, name: UnitName): string | null {
  if (policyOf(view.new.effective(name)).onlyManualStart) return 'X-OnlyManualStart'
  if (refusesStart(view, name)) return 'it refuses to be started by hand'
  const timer = timerOf(view, name)
  return timer && `${timer} starts it`
}

/** The timer that runs a oneshot service; Apply leaves those alone. */
export function timerOf(view: View, service: UnitName): UnitName | null {
  if (typeOf(service) !== 'service' || lastValue(view.new.effective(service), 'Service', 'Type') !== 'oneshot')
    return null
  const [declared] = view.relations.timers.get(service) ?? []
  if (declared) return declared
  const namesake = sibling(service, 'timer') // of an instance: by its template
  if (isHere(view.new, namesake) && startedBy(view.new, namesake) === service) return namesake
  return view.live.get(service)?.triggeredBy.find(name => typeOf(name) === 'timer') ?? null
}

/** By a target that is up, or that comes up with this plan. */
function isWanted(view: View, name: UnitName, asked: ReadonlySet<UnitName> = new Set()): boolean {
  if (asked.has(name)) return false
  const comesUp = (target: UnitName) =>
    isNew(view, target) &&
    whyNeverStarted(view, target) === null &&
    (view.start.has(target) || isWanted(view, target, new Set([...asked, name])))
  const known = (view.live.get(name)?.wantedBy ?? []).filter(by => typeOf(by) === 'target')
  return [...(view.relations.targets.get(name) ?? []), ...known].some(by => isRunning(view, by) || comesUp(by))
}

/** A timer that says nothing about when it is wanted is there to run. */
const isTimerWithoutInstall = (view: View, name: UnitName) =>
  typeOf(name) === 'timer' && !view.new.effective(name).sections.has('Install')
