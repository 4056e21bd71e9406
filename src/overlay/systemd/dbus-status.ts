// Reads a unit from its object on the bus, which exists for every name that could be a unit's: asking loads it.
import type { Variant } from '@jellybrick/dbus-next'
import type { UnitName } from '../names.ts'
import type { Bus } from './bus.ts'
import { isLoadable, notFound } from './status.ts'
import type { UnitStatus } from './systemd.ts'

type Properties = Readonly<Record<string, Variant | undefined>>

const name = 'org.freedesktop.systemd1'

/** All properties in one call: an unused unit is forgotten after each, and loading it again costs more than the rest. */
export async function readStatus(bus: Bus, unit: UnitName): Promise<UnitStatus> {
  if (!isLoadable(unit)) return notFound(unit)
  const answer = await bus.call({ ...propertiesOf(unit), member: 'GetAll', signature: 's', body: [''] })
  return answer.refused ? notFound(unit) : statusFrom(unit, answer.body[0] as Properties)
}

/** Those that this unit's After= names. */
export async function readPredecessors(bus: Bus, unit: UnitName): Promise<UnitName[]> {
  if (!isLoadable(unit)) return []
  const body = [`${name}.Unit`, 'After']
  const answer = await bus.call({ ...propertiesOf(unit), member: 'Get', signature: 'ss', body })
  return answer.refused ? [] : ((answer.body[0] as Variant).value as UnitName[])
}

function propertiesOf(unit: UnitName) {
  const label = unit.replaceAll(/[^A-Za-z0-9]|^\d/g, char => `_${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return {
    destination: name,
    path: `/org/freedesktop/systemd1/unit/${label}`,
    interface: 'org.freedesktop.DBus.Properties',
  }
}

function statusFrom(unit: UnitName, found: Properties): UnitStatus {
  const value = <T>(property: string, otherwise: T): T => (found[property]?.value as T | undefined) ?? otherwise
  const names = (property: string) => value<UnitName[]>(property, [])
  const milliseconds = (property: string) => {
    const microseconds = value(property, value('TimeoutUSec', endless))
    return microseconds === endless ? null : Number(microseconds / 1000n)
  }
  return {
    unit,
    id: value('Id', unit),
    load: value('LoadState', 'error'),
    active: value('ActiveState', 'inactive'),
    sub: value('SubState', ''),
    fragmentPath: value('FragmentPath', ''),
    dropInPaths: value('DropInPaths', []),
    needDaemonReload: value('NeedDaemonReload', false),
    mainPid: value('MainPID', 0),
    mainStatus: value('ExecMainStatus', 0),
    result: value('Result', 'success'),
    restarts: value('NRestarts', 0),
    refuseManualStart: value('RefuseManualStart', false),
    refuseManualStop: value('RefuseManualStop', false),
    startTimeoutMs: milliseconds('TimeoutStartUSec'),
    stopTimeoutMs: milliseconds('TimeoutStopUSec'),
    wantedBy: [...new Set([...names('WantedBy'), ...names('RequiredBy')])].sort(),
    triggeredBy: names('TriggeredBy').toSorted(),
  }
}

/** How systemd writes infinity. */
const endless = 0xffff_ffff_ffff_ffffn
