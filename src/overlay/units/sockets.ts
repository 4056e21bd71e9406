// Services that sockets start. systemd refuses to open a socket while its service runs, so the two are moved together.
import type { UnitName } from '../names.ts'
import type { Draft } from './draft.ts'
import { wordsOf } from './effective.ts'
import { policyOf } from './policy.ts'
import { isAccepting, startedBy } from './relations.ts'
import { instanceOf, isUnitFileName, prefixOf, sibling, typeOf } from './unit-name.ts'
import { isHere, isRunning, type View, whyKept } from './view.ts'

/** The sockets that may start a service: those it names, or its namesake; those that name it; those systemd knows of. */
export function socketsOf(view: View, service: UnitName): UnitName[] {
  const named = wordsOf(view.new.effective(service), 'Service', 'Sockets').filter(isUnitFileName)
  const naming = view.relations.sockets.get(service) ?? []
  const live = (view.live.get(service)?.triggeredBy ?? []).filter(name => typeOf(name) === 'socket')
  return [...new Set([...(named.length ? named : [sibling(service, 'socket')]), ...naming, ...live])]
}

/** The socket that makes an instance for each connection, if there is one; null for what is not an instance. */
export const acceptingSocket = (service: UnitName): UnitName | null =>
  instanceOf(service) ? (`${prefixOf(service)}.socket` as UnitName) : null

/** An instance that a socket with Accept=yes made for one connection. */
export function isConnection(view: View, service: UnitName): boolean {
  const socket = acceptingSocket(service)
  if (!socket) return false
  const declaredBy = [view.new, view.old].find(units => isHere(units, socket))
  return declaredBy ? isAccepting(declaredBy, socket) : isRunning(view, socket)
}

/** Takes down the service that runs on a socket which is about to be opened; says why where that cannot be. */
export function freeSocket(view: View, socket: UnitName, draft: Draft): string | null {
  const service = startedBy(view.new, socket)
  if (isAccepting(view.new, socket) || !isRunning(view, service)) return null
  const kept = whyKept(view, service)
  if (kept) return `${service} keeps running on it (${kept})`
  if (policyOf(view.new.effective(service)).notSocketActivated)
    draft.put(service, { do: 'restart', how: 'stop-start', reason: `${socket} opens anew` })
  else draft.put(service, { do: 'stop', reason: `${socket} opens anew and starts it on demand` })
  return null
}
