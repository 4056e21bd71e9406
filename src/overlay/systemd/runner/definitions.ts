// What the runner knows of each unit: unit files, read into what they ask for and how they hang together. Touches nothing.
import type { UnitName } from '../../names.ts'
import type { UnitTree } from '../../units/action.ts'
import { booleanOf, type EffectiveUnit, lastValue, wordsOf } from '../../units/effective.ts'
import { readTree, type Units, type UnitText } from '../../units/tree.ts'
import { isUnitFileName, typeOf } from '../../units/unit-name.ts'
import { standardTargets } from '../offline.ts'
import type { UnitStatus } from '../systemd.ts'
import { Cannot, refusal } from './cannot.ts'
import { BadSetting, readService, type Service } from './service.ts'
import { refuseOthers } from './settings.ts'

export interface Definition {
  /** Differs from the name asked for when that is an alias. */
  readonly id: UnitName
  /** Base first, if there is one, then drop-ins. */
  readonly texts: readonly UnitText[]
  readonly hasBase: boolean
  readonly runs: Runs
  readonly wants: readonly UnitName[]
  readonly requires: readonly UnitName[]
  /** By its own After= and by others' Before=. */
  readonly after: readonly UnitName[]
  readonly refuseManualStart: boolean
  readonly refuseManualStop: boolean
}

/** How the runner brings a unit up; `nothing`: it does not, and `why` tells a person. */
export type Runs =
  | { readonly as: 'service'; readonly service: Service }
  | { readonly as: 'target' }
  | { readonly as: 'nothing'; readonly load: Load; readonly why: string }

type Load = Extract<UnitStatus['load'], 'loaded' | 'not-found' | 'masked' | 'bad-setting'>

export interface Definitions {
  /** Also for units that nothing speaks of. */
  of(unit: UnitName): Definition
  /** Units that pull this one in; `requiredBy` are those among them that cannot be without it. */
  wantedBy(unit: UnitName): UnitName[]
  requiredBy(unit: UnitName): UnitName[]
}

/** Keys of [Unit] that the runner honours, and those that have no meaning for a process. */
const understood = new Set([
  'Description',
  'Documentation',
  'SourcePath',
  'CollectMode',
  'DefaultDependencies',
  'Wants',
  'Requires',
  'After',
  'Before',
  'StartLimitBurst',
  'StartLimitIntervalSec',
  'RefuseManualStart',
  'RefuseManualStop',
])

/** `held`: by their own name, units for which something else counts than the files. */
export function readDefinitions(tree: UnitTree, held: ReadonlyMap<UnitName, Definition> = new Map()): Definitions {
  const units = readTree(tree)
  const read = new Map<UnitName, Definition>()
  const of = (unit: UnitName): Definition => {
    const definition = read.get(unit) ?? held.get(units.parts(unit).name) ?? define(units, unit)
    read.set(unit, definition)
    return definition
  }
  const all = new Set([...standardTargets, ...units.declared, ...units.wants.keys(), ...held.keys()])
  const thatName = (unit: UnitName, names: (by: Definition) => readonly UnitName[]) =>
    [...all].filter(by => names(of(by)).some(name => of(name).id === of(unit).id))
  return {
    of,
    wantedBy: unit => thatName(unit, by => [...by.wants, ...by.requires]),
    requiredBy: unit => thatName(unit, by => by.requires),
  }
}

function define(units: Units, asked: UnitName): Definition {
  const { name: id, base, texts } = units.parts(asked)
  const unit = units.effective(asked)
  const names = (key: string) => wordsOf(unit, 'Unit', key).filter(isUnitFileName)
  const required = units.requires.get(id) ?? new Set()
  const requires = [...names('Requires'), ...required]
  const wants = [...names('Wants'), ...(units.wants.get(id) ?? [])].filter(name => !requires.includes(name))
  const isMissing = (name: UnitName) => units.parts(name).base === 'elsewhere' && !standardTargets.has(name)
  const after = [
    ...names('After'),
    ...[...units.declared].filter(other => isBefore(units, other, id)),
    // Nothing comes up without what it requires; that one is missing shows before.
    ...requires.filter(isMissing),
  ]
  return {
    id,
    texts,
    hasBase: base === 'here',
    runs: base === 'masked' ? nothing('masked', `${id} is masked`) : howToRun(unit),
    wants,
    requires,
    // A target is reached when all that it pulls in is up.
    after: typeOf(id) === 'target' ? [...after, ...wants, ...requires] : after,
    refuseManualStart: booleanOf(lastValue(unit, 'Unit', 'RefuseManualStart')) ?? false,
    refuseManualStop: booleanOf(lastValue(unit, 'Unit', 'RefuseManualStop')) ?? false,
  }
}

const isBefore = (units: Units, unit: UnitName, other: UnitName) =>
  wordsOf(units.effective(unit), 'Unit', 'Before').includes(other)

function howToRun(unit: EffectiveUnit): Runs {
  if (unit.base === 'elsewhere')
    return standardTargets.has(unit.name) ? { as: 'target' } : nothing('not-found', `${unit.name} was not found`)
  try {
    refuseOthers(unit, 'Unit', understood)
    const type = typeOf(unit.name)
    if (type === 'target') return { as: 'target' }
    if (type === 'service') return { as: 'service', service: readService(unit) }
    throw new Cannot(`run a ${type}`)
  } catch (error) {
    if (error instanceof Cannot) return nothing('loaded', refusal(error))
    if (error instanceof BadSetting)
      return nothing('bad-setting', `${unit.name} has a bad unit file setting: ${error.message}`)
    throw error
  }
}

const nothing = (load: Load, why: string): Runs => ({ as: 'nothing', load, why })
