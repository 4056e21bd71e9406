// How a unit wants to be treated when it changes or goes: the X- keys, in [Unit] or [Service].
import type { Problem } from '../../lib/problem.ts'
import { booleanOf, canReload, type EffectiveUnit, lastValue } from './effective.ts'
import type { PolicyKey } from './keys.ts'
import { policyKeys } from './keys.ts'
import { cannotReload, policyConflict, policyValue, type Where } from './problems.ts'

const switchMethods = ['reload', 'restart', 'stop-start', 'keep-old'] as const
type SwitchMethod = (typeof switchMethods)[number]

export interface UnitPolicy {
  /** restart: in place. stop-start: under the old definition, then under the new one. */
  readonly onChange: SwitchMethod
  /** The key that said so, as written; '' for the default. */
  readonly because: string
  readonly stopOnRemoval: boolean
  readonly stopOnReconfiguration: boolean
  readonly onlyManualStart: boolean
  readonly notSocketActivated: boolean
}

/** What each method says of the older keys; another value beside it contradicts. */
const spelledOut: { [M in SwitchMethod]: Partial<Record<PolicyKey, boolean>> } = {
  reload: { 'X-ReloadIfChanged': true, 'X-RestartIfChanged': true },
  restart: { 'X-ReloadIfChanged': false, 'X-RestartIfChanged': true, 'X-StopIfChanged': false },
  'stop-start': { 'X-ReloadIfChanged': false, 'X-RestartIfChanged': true, 'X-StopIfChanged': true },
  'keep-old': { 'X-ReloadIfChanged': false, 'X-RestartIfChanged': false },
}

export function policyOf(unit: EffectiveUnit): UnitPolicy {
  const says = (key: PolicyKey) => booleanOf(settingOf(unit, key))
  const asked = settingOf(unit, 'X-SwitchMethod')
  const [onChange, because]: [SwitchMethod, string] = isMethod(asked)
    ? [asked, `X-SwitchMethod=${asked}`]
    : says('X-ReloadIfChanged')
      ? ['reload', 'X-ReloadIfChanged=true']
      : says('X-RestartIfChanged') === false
        ? ['keep-old', 'X-RestartIfChanged=false']
        : says('X-StopIfChanged') === false
          ? ['restart', 'X-StopIfChanged=false']
          : ['stop-start', '']
  return {
    onChange,
    because,
    stopOnRemoval: says('X-StopOnRemoval') ?? true,
    stopOnReconfiguration: says('X-StopOnReconfiguration') ?? false,
    onlyManualStart: says('X-OnlyManualStart') ?? false,
    notSocketActivated: says('X-NotSocketActivated') ?? false,
  }
}

export function policyProblems(unit: EffectiveUnit, where: Where): Problem[] {
  const problems: Problem[] = []
  for (const key of policyKeys) {
    const [inUnit, inService] = [lastValue(unit, 'Unit', key), lastValue(unit, 'Service', key)]
    if (inUnit !== undefined && inService !== undefined && !means(key, inUnit, inService))
      problems.push(policyConflict(where, `${key} is ${inUnit} in [Unit] and ${inService} in [Service]`))
    for (const value of new Set([inUnit, inService]))
      if (value !== undefined && !isAllowed(key, value)) problems.push(policyValue(where, key, value, allowed(key)))
  }
  const method = settingOf(unit, 'X-SwitchMethod')
  if (isMethod(method))
    for (const [key, meant] of Object.entries(spelledOut[method]) as [PolicyKey, boolean][])
      if (booleanOf(settingOf(unit, key)) === !meant)
        problems.push(policyConflict(where, `X-SwitchMethod=${method} and ${key}=${!meant} contradict each other`))
  const { onChange, because } = policyOf(unit)
  if (onChange === 'reload' && !canReload(unit)) problems.push(cannotReload(where, unit.name, because))
  return problems
}

const settingOf = (unit: EffectiveUnit, key: PolicyKey) =>
  lastValue(unit, 'Unit', key) ?? lastValue(unit, 'Service', key)

const isMethod = (value: string | undefined): value is SwitchMethod => switchMethods.some(method => method === value)

const means = (key: PolicyKey, a: string, b: string) =>
  key === 'X-SwitchMethod' ? a === b : booleanOf(a) === booleanOf(b)

const isAllowed = (key: PolicyKey, value: string) =>
  key === 'X-SwitchMethod' ? isMethod(value) : booleanOf(value) !== undefined

const allowed = (key: PolicyKey) => (key === 'X-SwitchMethod' ? switchMethods.join(', ') : 'true or false')
