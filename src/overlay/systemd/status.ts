// What both real implementations do the same: names that no manager would load, and the answer for units that are not there.
import type { UnitName } from '../names.ts'
import { isTemplate, isUnitFileName } from '../units/unit-name.ts'
import type { UnitStatus } from './systemd.ts'

/**
 * False for bare templates (`foo@.service`) and for everything with a character that a unit name cannot have, above all
 * `*`, `?` and `[`, which systemctl would expand. Such names are answered here and never reach the manager.
 */
export const isLoadable = (unit: UnitName): boolean => isUnitFileName(unit) && !isTemplate(unit)

export const notFound = (unit: UnitName): UnitStatus => ({
  unit,
  id: unit,
  load: 'not-found',
  active: 'inactive',
  sub: 'dead',
  fragmentPath: '',
  dropInPaths: [],
  needDaemonReload: false,
  mainPid: 0,
  mainStatus: 0,
  result: 'success',
  restarts: 0,
  refuseManualStart: false,
  refuseManualStop: false,
  startTimeoutMs: null,
  stopTimeoutMs: null,
  wantedBy: [],
  triggeredBy: [],
})

export const notLoadable = (unit: UnitName): string => `${unit} is not the name of a unit that can be loaded.`
