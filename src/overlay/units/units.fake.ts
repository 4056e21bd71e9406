// Test data for this room, with the one thing that matters visible.
import type { UnitName } from '../names.ts'
import type { UnitStatus } from '../systemd/systemd.ts'
import type { UnitPlan, UnitTree } from './action.ts'
import type { EffectiveUnit } from './effective.ts'
import { planUnits } from './plan.ts'
import { readTree } from './tree.ts'

export const unit = (name: string) => name as UnitName

/** Path -> text; a value that begins with `->` is a link. */
export function aTree(files: Record<string, string>): UnitTree {
  return new Map(
    Object.entries(files).map(([path, text]) => [
      path,
      text.startsWith('->') ? { link: text.slice(2).trim() } : { text },
    ]),
  )
}

export const effectiveOf = (files: Record<string, string>, name: string): EffectiveUnit =>
  readTree(aTree(files)).effective(unit(name))

export function aStatus(name: string, status: Partial<UnitStatus> = {}): UnitStatus {
  return {
    unit: unit(name),
    id: unit(name),
    load: 'loaded',
    active: 'active',
    sub: 'running',
    fragmentPath: '',
    dropInPaths: [],
    needDaemonReload: false,
    mainPid: 1,
    mainStatus: 0,
    result: 'success',
    restarts: 0,
    refuseManualStart: false,
    refuseManualStop: false,
    startTimeoutMs: 90_000,
    stopTimeoutMs: 90_000,
    wantedBy: [],
    triggeredBy: [],
    ...status,
  }
}

export interface Scene {
  readonly old?: Record<string, string>
  readonly new?: Record<string, string>
  /** Names are active; a status says more. */
  readonly live?: readonly (string | UnitStatus)[]
  readonly start?: readonly string[]
  readonly store?: string
}

export function planOf(scene: Scene) {
  const statuses = (scene.live ?? []).map(entry => (typeof entry === 'string' ? aStatus(entry) : entry))
  return planUnits({
    old: aTree(scene.old ?? {}),
    new: aTree(scene.new ?? {}),
    live: new Map(statuses.map(status => [status.unit, status])),
    start: new Set((scene.start ?? []).map(unit)),
    ...(scene.store && { store: scene.store }),
  })
}

/** A plan as lines that can be read: `restart web.service: ExecStart changed`. Hidden ones in brackets. */
export const actionsOf = (scene: Scene): string[] => printed(planOf(scene).units)

function printed({ stop, reload, restart, start, skip }: UnitPlan): string[] {
  const lines = (verb: string, actions: UnitPlan['start']) =>
    actions.map(({ name, reason, hidden }) => (hidden ? `[${verb} ${name}: ${reason}]` : `${verb} ${name}: ${reason}`))
  return [
    ...lines('stop', stop),
    ...lines('reload', reload),
    ...restart.flatMap(action => lines(action.how === 'in-place' ? 'restart in place' : 'restart', [action])),
    ...lines('start', start),
    ...lines('skip', skip),
  ]
}

export const service = '[Service]\nExecStart=/a\n'
/** The same service with another command. */
export const changed = '[Service]\nExecStart=/b\n'
export const web = (text: string, more: Record<string, string> = {}) => ({ 'web.service': text, ...more })
export const wanted = (name: string, by = 'multi-user.target') => ({ [`${by}.wants/${name}`]: `-> ../${name}` })

export const up = ['active', 'activating', 'reloading'] as const
export const down = ['inactive', 'deactivating', 'maintenance'] as const

/** The same scene with the unit in each of the given states. */
export const inStates = (states: readonly UnitStatus['active'][], name: string, scene: Scene): string[][] =>
  states.map(active => actionsOf({ ...scene, live: [...(scene.live ?? []), aStatus(name, { active })] }))
