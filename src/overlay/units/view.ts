// What a plan is made from: both trees and the machine as it is; and what has become of one unit between the trees.
import type { UnitName } from '../names.ts'
import type { UnitStatus } from '../systemd/systemd.ts'
import { type Comparison, compareUnits } from './compare.ts'
import { booleanOf, type EffectiveUnit, lastValue } from './effective.ts'
import { policyOf } from './policy.ts'
import { reasonOf } from './reason.ts'
import type { Relations } from './relations.ts'
import type { UnitParts, Units } from './tree.ts'

export interface View {
  readonly old: Units
  readonly new: Units
  readonly live: ReadonlyMap<UnitName, UnitStatus>
  /** Declared with start: true. */
  readonly start: ReadonlySet<UnitName>
  /** As the machine sees it. */
  readonly store: string
  /** Of the new tree. */
  readonly relations: Relations
}

export type Change = { readonly is: 'none' } | Ended<'gone'> | Ended<'masked'> | Redefined

interface Ended<Is> {
  readonly is: Is
  readonly reason: string
}

/** As it weighs on a unit that runs. */
export interface Redefined {
  readonly is: 'reload' | 'restart'
  readonly reason: string
  readonly sections: Comparison['sections']
}

export function changeOf({ old, new: wanted }: View, name: UnitName): Change {
  const was = ownParts(old, name)
  const is = ownParts(wanted, name)
  if (was && is && isSame(was, is)) return { is: 'none' }
  if (is?.base === 'masked') return was?.base === 'masked' ? { is: 'none' } : { is: 'masked', reason: 'masked' }
  if (!is && was?.base === 'masked') return { is: 'none' }
  if (!is && was?.base === 'here') {
    const stands = wanted.parts(name).name
    return { is: 'gone', reason: stands === name ? 'no longer declared' : `now an alias of ${stands}` }
  }
  const [before, after] = [definitionOf(old, name), definitionOf(wanted, name)]
  const comparison = compareUnits(before, after)
  if (comparison.result === 'equal') return { is: 'none' }
  return { is: comparison.result, reason: reasonOf(before, after, comparison), sections: comparison.sections }
}

/** Null when at most type-wide drop-ins speak of the name, or when it is another unit's alias. */
export function ownParts(units: Units, name: UnitName): UnitParts | null {
  const parts = units.parts(name)
  return parts.own && parts.name === name ? parts : null
}

export const isHere = (units: Units, name: UnitName): boolean => ownParts(units, name)?.base === 'here'

export function isRunning({ live, new: wanted }: View, name: UnitName): boolean {
  const { id = name, active } = live.get(name) ?? {}
  if (id !== name && isHere(wanted, name)) return false // what runs is the unit whose alias this name was until now
  return active === 'active' || active === 'activating' || active === 'reloading'
}

/** Starts happen under the new definition, of which systemd does not know yet. */
export function refusesStart({ live, new: wanted }: View, name: UnitName): boolean {
  if (saysYes(wanted.effective(name), 'RefuseManualStart')) return true
  return !isHere(wanted, name) && live.get(name)?.refuseManualStart === true
}

/** Stops happen under either. */
export function refusesStop({ live, new: wanted }: View, name: UnitName): boolean {
  return live.get(name)?.refuseManualStop === true || saysYes(wanted.effective(name), 'RefuseManualStop')
}

/** The rule that keeps a unit running as it is, although it changed. */
export function whyKept(view: View, name: UnitName): string | null {
  const { onChange, because, onlyManualStart } = policyOf(view.new.effective(name))
  if (onChange === 'keep-old') return because
  if (onlyManualStart) return 'X-OnlyManualStart'
  return refusesStop(view, name) ? 'it refuses to be stopped by hand' : null
}

const saysYes = (unit: EffectiveUnit, key: string) => booleanOf(lastValue(unit, 'Unit', key)) === true

const definitionOf = (units: Units, name: UnitName): EffectiveUnit =>
  units.parts(name).name === name ? units.effective(name) : { name, base: 'elsewhere', texts: [], sections: new Map() }

const isSame = (was: UnitParts, is: UnitParts) =>
  was.base === is.base &&
  was.texts.length === is.texts.length &&
  was.texts.every(({ path, text }, index) => path === is.texts[index]!.path && text === is.texts[index]!.text)
