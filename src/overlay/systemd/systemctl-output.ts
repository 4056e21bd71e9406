// Reads what systemctl prints. Nothing here starts a program.
import type { UnitName } from '../names.ts'
import type { UnitStatus } from './systemd.ts'

export type Block = Readonly<Record<string, string | undefined>>

export const statusProperties = [
  'Id',
  'LoadState',
  'ActiveState',
  'SubState',
  'FragmentPath',
  'DropInPaths',
  'NeedDaemonReload',
  'MainPID',
  'ExecMainStatus',
  'Result',
  'NRestarts',
  'RefuseManualStart',
  'RefuseManualStop',
  'TimeoutUSec',
  'TimeoutStartUSec',
  'TimeoutStopUSec',
  'WantedBy',
  'RequiredBy',
  'TriggeredBy',
]

/** One block per unit, in the order in which they were asked for; properties that a type lacks are absent. */
export function parseShow(text: string): Block[] {
  return text
    .trim()
    .split(/\n\n+/)
    .map(block =>
      Object.fromEntries(
        block.split('\n').map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      ),
    )
}

export function statusFrom(unit: UnitName, block: Block): UnitStatus {
  const names = (property: string) => unquoted(block[property]).sort()
  return {
    unit,
    id: (block.Id ?? unit) as UnitName,
    load: (block.LoadState ?? 'error') as UnitStatus['load'],
    active: (block.ActiveState ?? 'inactive') as UnitStatus['active'],
    sub: block.SubState ?? '',
    fragmentPath: block.FragmentPath ?? '',
    dropInPaths: unquoted(block.DropInPaths),
    needDaemonReload: block.NeedDaemonReload === 'yes',
    mainPid: Number(block.MainPID ?? 0),
    mainStatus: Number(block.ExecMainStatus ?? 0),
    result: block.Result ?? 'success',
    restarts: Number(block.NRestarts ?? 0),
    refuseManualStart: block.RefuseManualStart === 'yes',
    refuseManualStop: block.RefuseManualStop === 'yes',
    startTimeoutMs: milliseconds(block.TimeoutStartUSec ?? block.TimeoutUSec),
    stopTimeoutMs: milliseconds(block.TimeoutStopUSec ?? block.TimeoutUSec),
    wantedBy: [...new Set([...names('WantedBy'), ...names('RequiredBy')])].sort(),
    triggeredBy: names('TriggeredBy'),
  }
}

export function parseUnitList(text: string): { unit: UnitName; active: string }[] {
  return text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .flatMap(([unit, , active]) => (unit && active ? [{ unit: unit as UnitName, active }] : []))
}

/** A list of words, those with a special character in double quotes: `a.service "b\\x2dc.service"`. */
export function unquoted(list = ''): UnitName[] {
  return [...list.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(
    ([, quoted, plain]) => (plain ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? '') as UnitName,
  )
}

const unitsOfTime: Readonly<Record<string, number>> = {
  y: 31_557_600_000,
  month: 2_629_800_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  min: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
}

/** `1min 30s`; null for infinity, and for a unit that has no such timeout. */
function milliseconds(span: string | undefined): number | null {
  if (span === undefined || span === 'infinity') return null
  const parts = [...span.matchAll(/([\d.]+)([a-z]+)/g)]
  return Math.floor(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitsOfTime[unit ?? ''] ?? 0), 0))
}

/** What systemctl says when a job has ended otherwise than well, and the result that it says so for. */
const sayings: readonly [saying: RegExp, result: string][] = [
  [/^A dependency job for (\S+) failed\./, 'dependency'],
  [/^Job for (\S+) canceled\./, 'canceled'],
  [/^Job for (\S+) timed out\./, 'timeout'],
  [/^(\S+) is not active, cannot reload\./, 'invalid'],
  [/^Assertion failed on job for (\S+)\./, 'assert'],
  [/^Operation on or unit type of (\S+) not supported on this system\./, 'unsupported'],
  [/^Queued job for (\S+) was garbage collected\./, 'collected'],
  [/^Unit (\S+) was started already once and can't be started again\./, 'once'],
  [/^Job for (\S+) failed\b/, 'failed'],
]

/** Units whose job could not be made (systemd's words) or did not end well (its result), by the name that is in the text. */
export function failuresIn(stderr: string): Map<UnitName, string> {
  const failures = new Map<UnitName, string>()
  for (const line of stderr.split('\n')) {
    const [, refusedUnit, reason] = /^Failed to \w+ (\S+): (.*)$/.exec(line) ?? []
    if (refusedUnit && reason) failures.set(refusedUnit as UnitName, reason)
    for (const [saying, result] of sayings) {
      const unit = saying.exec(line)?.[1]
      if (unit) failures.set(unit as UnitName, result)
    }
  }
  return failures
}
