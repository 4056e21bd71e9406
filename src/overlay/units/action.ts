// What Apply does with units, and why. Every unit that Cairn looks at and that is not left alone is in exactly one list.
import type { UnitName } from '../names.ts'

export interface UnitAction {
  readonly name: UnitName
  /** One line for people: 'ExecStart changed', 'new', 'no longer declared'. */
  readonly reason: string
  /** Not shown in a plan: targets that are started again so that their new wants come up. */
  readonly hidden?: true
}

export interface RestartAction extends UnitAction {
  /** 'stop-start': stopped under its old definition before /etc changes, started under the new one. */
  readonly how: 'in-place' | 'stop-start'
}

export interface UnitPlan {
  readonly stop: readonly UnitAction[]
  readonly reload: readonly UnitAction[]
  readonly restart: readonly RestartAction[]
  readonly start: readonly UnitAction[]
  /** Changed, but left as it is; the reason says which rule. */
  readonly skip: readonly UnitAction[]
}

export const noUnitActions: UnitPlan = { stop: [], reload: [], restart: [], start: [], skip: [] }

/** The files below systemd/system/ that Cairn manages: path relative to that directory -> what is there. */
export type UnitTree = ReadonlyMap<string, UnitFile>

export type UnitFile = { readonly text: string } | { readonly link: string }
