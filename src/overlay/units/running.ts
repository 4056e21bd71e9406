// What happens to a unit that runs when its definition changed, was masked, or is gone.
import { unreachable } from '../../lib/errors.ts'
import type { UnitName } from '../names.ts'
import type { Decision, Draft } from './draft.ts'
import { canReload } from './effective.ts'
import { policyOf } from './policy.ts'
import { listed } from './reason.ts'
import { pulledIn } from './relations.ts'
import { freeSocket, isConnection, socketsOf } from './sockets.ts'
import { isNew, timerOf, whyNeverStarted, whyNotStarted } from './starting.ts'
import { mountPoint, typeOf } from './unit-name.ts'
import {
  changeOf,
  isHere,
  isRunning,
  ownParts,
  type Redefined,
  refusesStart,
  refusesStop,
  type View,
  whyKept,
} from './view.ts'

/** Starting one of these again would put the machine to sleep. */
const sleepTargets = new Set(
  ['suspend', 'hibernate', 'hybrid-sleep', 'suspend-then-hibernate'].map(name => `${name}.target`),
)
const vitalMounts = new Set(['/', '/etc', '/usr', '/var'])

export function decideRunning(view: View, name: UnitName, draft: Draft) {
  const change = changeOf(view, name)
  const foreign = change.is === 'none' ? null : foreignFragment(view, name)
  if (foreign) draft.put(name, { do: 'skip', reason: `runs from ${foreign}, which Cairn did not make` })
  else if (change.is === 'gone' || change.is === 'masked') draft.put(name, stop(view, name, change.reason))
  else if (typeOf(name) === 'target') startArrivals(view, name, change, draft)
  else if (change.is === 'reload' && canReload(view.new.effective(name)))
    draft.put(name, { do: 'reload', reason: change.reason })
  else if (change.is !== 'none') restartByType(view, name, change, draft)
}

/** Ours is only what systemd loaded from our files: a transient or a generated unit of the same name is not. */
function foreignFragment(view: View, name: UnitName): string | null {
  const { fragmentPath = '', dropInPaths = [] } = view.live.get(name) ?? {}
  if (ownParts(view.old, name)?.base !== 'here' || fragmentPath === '') return null
  return [fragmentPath, ...dropInPaths].some(path => path.includes('/etc/systemd/system/')) ? null : fragmentPath
}

function stop(view: View, name: UnitName, reason: string): Decision {
  const kept = whyNotStopped(view, name)
  return kept ? { do: 'skip', reason: `${reason}; ${kept}` } : { do: 'stop', reason }
}

function whyNotStopped(view: View, name: UnitName): string | null {
  if (!policyOf(view.old.effective(name)).stopOnRemoval) return 'X-StopOnRemoval=false'
  if (isVital(view, name)) return 'the system needs this mount'
  if (typeOf(name) === 'slice') return 'stopping it would stop all that runs in it'
  return refusesStop(view, name) ? 'it refuses to be stopped by hand' : null
}

/** What a target newly wants comes up. The target is not started again: that would bring up what an operator stopped. */
function startArrivals(view: View, name: UnitName, change: Redefined | { is: 'none' }, draft: Draft) {
  const before = new Set(pulledIn(view.old, name))
  const arrived = pulledIn(view.new, name).filter(wanted => !before.has(wanted))
  if (change.is === 'none' && arrived.length === 0) return
  const { onlyManualStart, stopOnReconfiguration } = policyOf(view.new.effective(name))
  if (sleepTargets.has(name) || onlyManualStart || refusesStart(view, name)) return
  if (stopOnReconfiguration && !refusesStop(view, name)) {
    const reason = change.is === 'none' ? `wants ${listed(arrived)}` : change.reason
    return draft.put(name, { do: 'restart', how: 'stop-start', reason })
  }
  for (const wanted of arrived)
    if (!isRunning(view, wanted) && willBeThere(view, wanted) && !whyNeverStarted(view, wanted))
      draft.put(wanted, { do: 'start', reason: `${name} wants it now` })
}

function willBeThere(view: View, name: UnitName): boolean {
  const { base } = view.new.parts(name)
  return base === 'here' || (base === 'elsewhere' && !isHere(view.old, name) && view.live.get(name)?.load === 'loaded')
}

function restartByType(view: View, name: UnitName, change: Redefined, draft: Draft) {
  const { reason } = change
  const type = typeOf(name)
  switch (type) {
    case 'service':
      return restartService(view, name, change, draft)
    case 'socket':
      return restartSocket(view, name, change, draft)
    case 'slice':
    case 'scope':
    case 'device':
    case 'target':
      return draft.put(name, { do: 'skip', reason: `${reason}; daemon-reload is enough` })
    case 'mount':
      if (isVital(view, name))
        return draft.put(name, { do: 'reload', reason: `${reason}; the system needs this mount` })
      return restartInPlace(view, name, change, draft)
    case 'path':
    case 'timer':
    case 'automount':
    case 'swap':
      return restartInPlace(view, name, change, draft)
    default:
      return unreachable(type)
  }
}

/** Only services have commands of their own that would have to stop them under their old definition. */
function restartInPlace(view: View, name: UnitName, { reason }: Redefined, draft: Draft) {
  const kept = whyKept(view, name)
  draft.put(name, kept ? { do: 'skip', reason: `${reason}; ${kept}` } : { do: 'restart', how: 'in-place', reason })
}

function restartService(view: View, name: UnitName, { reason }: Redefined, draft: Draft) {
  const unit = view.new.effective(name)
  const policy = policyOf(unit)
  if (policy.onChange === 'reload' && canReload(unit)) return draft.put(name, { do: 'reload', reason })
  const timer = timerOf(view, name)
  const kept = whyKept(view, name) ?? (timer && `the next run by ${timer} takes it`)
  if (kept) return draft.put(name, { do: 'skip', reason: `${reason}; ${kept}` })
  if (isConnection(view, name))
    return draft.put(name, { do: 'stop', reason: `${reason}; the next connection gets a new one` })
  if (policy.onChange === 'restart') return draft.put(name, { do: 'restart', how: 'in-place', reason })

  const sockets = policy.notSocketActivated ? [] : socketsOf(view, name).filter(socket => remains(view, socket))
  if (sockets.length === 0) return draft.put(name, { do: 'restart', how: 'stop-start', reason })
  draft.put(name, {
    do: 'stop',
    reason: `${reason}; ${listed(sockets)} ${sockets.length > 1 ? 'start' : 'starts'} it on demand`,
  })
  for (const socket of sockets)
    if (isRunning(view, socket) && !whyKept(view, socket))
      draft.put(socket, { do: 'restart', how: 'stop-start', reason: `${name} changed` })
}

/** A socket that is open before and after, or that opens with this plan. */
function remains(view: View, socket: UnitName): boolean {
  if (!isRunning(view, socket)) return isNew(view, socket) && whyNotStarted(view, socket) === null
  const change = changeOf(view, socket)
  return change.is !== 'gone' && change.is !== 'masked'
}

function restartSocket(view: View, name: UnitName, { reason, sections }: Redefined, draft: Draft) {
  const kept = sections.has('Socket') ? (whyKept(view, name) ?? freeSocket(view, name, draft)) : 'the socket stays open'
  draft.put(name, kept ? { do: 'skip', reason: `${reason}; ${kept}` } : { do: 'restart', how: 'stop-start', reason })
}

/** Mounts that cannot be taken away from under the system, or from under the store. */
function isVital({ store }: View, name: UnitName): boolean {
  if (typeOf(name) !== 'mount') return false
  const point = mountPoint(name)
  return vitalMounts.has(point) || store === point || store.startsWith(`${point}/`)
}
