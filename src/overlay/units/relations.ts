// Who starts whom, as the new tree says it: targets their wants, sockets and timers their services. Read once for a plan.
import type { UnitName } from '../names.ts'
import { booleanOf, lastValue, wordsOf } from './effective.ts'
import type { Units } from './tree.ts'
import { isUnitFileName, sibling, typeOf } from './unit-name.ts'

export interface Relations {
  /** Unit -> the targets that pull it in. */
  readonly targets: ReadonlyMap<UnitName, ReadonlySet<UnitName>>
  /** Service -> the sockets that hand it their descriptor. */
  readonly sockets: ReadonlyMap<UnitName, ReadonlySet<UnitName>>
  /** Service -> the timers that run it. */
  readonly timers: ReadonlyMap<UnitName, ReadonlySet<UnitName>>
}

const pullingKeys = ['Wants', 'Requires', 'BindsTo', 'Upholds']

export function readRelations(units: Units): Relations {
  const targets = new Map<UnitName, Set<UnitName>>()
  const sockets = new Map<UnitName, Set<UnitName>>()
  const timers = new Map<UnitName, Set<UnitName>>()
  for (const [owner, names] of units.wants)
    if (typeOf(owner) === 'target') for (const name of names) add(targets, name, owner)
  for (const name of units.declared) {
    const type = typeOf(name)
    if (type === 'target') for (const wanted of namesIn(units, name, pullingKeys)) add(targets, wanted, name)
    if (type === 'timer') add(timers, startedBy(units, name), name)
    if (type === 'socket' && !isAccepting(units, name)) add(sockets, startedBy(units, name), name)
  }
  return { targets, sockets, timers }
}

/** The units that a target brings up when it is started, by its links and by its keys. */
export const pulledIn = (units: Units, target: UnitName): UnitName[] => [
  ...new Set([...(units.wants.get(target) ?? []), ...namesIn(units, target, pullingKeys)]),
]

/** The service that a timer runs, or that a socket without Accept=yes hands its descriptor to. */
export function startedBy(units: Units, name: UnitName): UnitName {
  const [section, key] = typeOf(name) === 'timer' ? ['Timer', 'Unit'] : ['Socket', 'Service']
  const named = lastValue(units.effective(name), section!, key!)
  return named !== undefined && isUnitFileName(named) ? named : sibling(name, 'service')
}

/** One instance of the service for each connection; the socket keeps its descriptor. */
export function isAccepting(units: Units, socket: UnitName): boolean {
  return booleanOf(lastValue(units.effective(socket), 'Socket', 'Accept')) === true
}

/** The units that the given keys of [Unit] name, by their own names. */
export function namesIn(units: Units, name: UnitName, keys: readonly string[]): UnitName[] {
  const unit = units.effective(name)
  return keys.flatMap(key =>
    wordsOf(unit, 'Unit', key)
      .filter(isUnitFileName)
      .map(other => units.parts(other).name),
  )
}

function add(map: Map<UnitName, Set<UnitName>>, key: UnitName, name: UnitName) {
  map.set(key, (map.get(key) ?? new Set()).add(name))
}
