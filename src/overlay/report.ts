// What a switch says about itself when it is over: the same value for people and for programs.
import type { Warning } from '../lib/problem.ts'
import type { EtcSummary } from './etc/summary.ts'
import type { UnitAction, UnitPlan } from './units/action.ts'

export interface ApplyReport {
  readonly outcome: 'nothing to do' | 'applied' | 'rolled back' | 'applied, unhealthy' | 'undo incomplete'
  /** The one that is active now. */
  readonly generation: number | null
  /** The one that was active before. */
  readonly previous: number | null
  readonly changed: boolean
  readonly etc: { readonly added: number; readonly changed: number; readonly removed: number }
  readonly units: ReportedUnits
  /** False where no service manager runs, as below --root: what `units` says was linked, and is for the machine to do. */
  readonly acted: boolean
  readonly failed: readonly ReportedFailure[]
  /** Takes it back at the deadline unless confirmed. */
  readonly confirm?: { readonly id: string; readonly deadline: string }
  readonly seconds: number
  readonly warnings: readonly Warning[]
  readonly notes: readonly string[]
}

/** The lists of the plan, without what is hidden. */
export type ReportedUnits = { readonly [K in keyof UnitPlan]: readonly Pick<UnitAction, 'name' | 'reason'>[] }

export interface ReportedFailure {
  /** A unit, a check, or a step. */
  readonly name: string
  readonly reason: string
  /** The last lines that a unit logged. */
  readonly log: readonly string[]
}

export function reportedUnits({ start, stop, restart, reload, skip }: UnitPlan): ReportedUnits {
  const shown = (actions: readonly UnitAction[]) =>
    actions.filter(({ hidden }) => !hidden).map(({ name, reason }) => ({ name, reason }))
  return { start: shown(start), stop: shown(stop), restart: shown(restart), reload: shown(reload), skip: shown(skip) }
}

export const countedEtc = ({ add, change, remove }: EtcSummary): ApplyReport['etc'] => ({
  added: add.length,
  changed: change.length,
  removed: remove.length,
})
