// Turns a UnitPlan into batches of jobs. Each job may take the unit's own timeout and a margin; systemd says which failed.
import type { UnitName } from './names.ts'
import type { JobVerb, Systemd, UnitStatus } from './systemd/systemd.ts'
import type { UnitPlan } from './units/action.ts'

const marginMs = 10_000
/** For units whose own timeout is infinite: somebody wants to see an end. */
const longestMs = 3_600_000

export interface FailedJob {
  readonly name: UnitName
  readonly reason: string
}

export const unitsToStop = ({ stop, restart }: UnitPlan): UnitName[] => [
  ...stop.map(({ name }) => name),
  ...restart.filter(({ how }) => how === 'stop-start').map(({ name }) => name),
]

/** Those that are to run afterwards; targets that are only started again for their wants are not judged. */
export const unitsToWatch = ({ reload, restart, start }: UnitPlan): UnitName[] =>
  [...reload, ...restart, ...start].filter(({ hidden }) => !hidden).map(({ name }) => name)

/**
 * After daemon-reload, under the new definitions: what was to be reloaded but no longer runs is started instead,
 * unless its definition forbids a start by hand.
 */
export async function recheck(systemd: Systemd, units: UnitPlan): Promise<{ reload: UnitName[]; start: UnitName[] }> {
  const wanted = units.reload.map(({ name }) => name)
  const live = await systemd.show(wanted)
  const runs = (unit: UnitName) => ['active', 'reloading', 'activating'].includes(live.get(unit)?.active ?? '')
  const stopStart = units.restart.filter(({ how }) => how === 'stop-start').map(({ name }) => name)
  return {
    reload: wanted.filter(runs),
    start: [
      ...stopStart,
      ...units.start.map(({ name }) => name),
      ...wanted.filter(unit => !runs(unit) && live.get(unit)?.refuseManualStart === false),
    ],
  }
}

/** A stop that fails is reported, not fatal; the caller decides about the others. */
export async function runUnits(systemd: Systemd, verb: JobVerb, units: readonly UnitName[]): Promise<FailedJob[]> {
  if (units.length === 0) return []
  const live = await systemd.show(units)
  const results = await systemd.run(units.map(unit => ({ do: verb, unit, timeoutMs: timeoutOf(verb, live.get(unit)) })))
  return results
    .filter(({ ok }) => !ok)
    .map(({ unit, detail }) => ({ name: unit, reason: `${verb} failed: ${detail}` }))
}

function timeoutOf(verb: JobVerb, status: UnitStatus | undefined): number {
  const { startTimeoutMs = 90_000, stopTimeoutMs = 90_000 } = status ?? {}
  const own = {
    start: startTimeoutMs,
    reload: startTimeoutMs,
    stop: stopTimeoutMs,
    restart: startTimeoutMs === null || stopTimeoutMs === null ? null : startTimeoutMs + stopTimeoutMs,
  }[verb]
  return own === null ? longestMs : own + marginMs
}
