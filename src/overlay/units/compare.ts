// Decides what a change of definition means for a unit that runs: nothing, a reload, or a restart, and because of what.
import type { EffectiveUnit } from './effective.ts'
import { isWithoutEffect, reloadTriggers, restartTriggers } from './keys.ts'
import { changedTargets } from './triggers.ts'

export interface Comparison {
  readonly result: 'equal' | 'reload' | 'restart'
  /** What decided it, sorted: `ExecStart`, or `etc/caddy/routes` when a trigger did. */
  readonly keys: readonly string[]
  /** The sections that those are in. */
  readonly sections: ReadonlySet<string>
}

export function compareUnits(old: EffectiveUnit, wanted: EffectiveUnit): Comparison {
  const decided = { reload: newFinding(), restart: newFinding() }
  for (const section of new Set([...old.sections.keys(), ...wanted.sections.keys()])) {
    const before = old.sections.get(section)
    const after = wanted.sections.get(section)
    for (const key of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
      const change = { section, key, before: before?.get(key) ?? [], after: after?.get(key) ?? [] }
      const weight = weigh(change)
      if (weight === 'equal') continue
      for (const name of namesOf(change)) decided[weight].keys.add(name)
      decided[weight].sections.add(section)
    }
  }
  const result =
    old.base !== wanted.base || decided.restart.keys.size ? 'restart' : decided.reload.keys.size ? 'reload' : 'equal'
  const { keys, sections } = result === 'equal' ? newFinding() : decided[result]
  return { result, keys: [...keys].sort(), sections }
}

interface Change {
  readonly section: string
  readonly key: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

const newFinding = () => ({ keys: new Set<string>(), sections: new Set<string>() })

function weigh({ section, key, before, after }: Change): Comparison['result'] {
  if (isWithoutEffect(section, key) || isSame(before, after)) return 'equal'
  const reloads = (section === 'Unit' && key === reloadTriggers) || (section === 'Service' && key === 'ExecReload')
  if (reloads) return after.some(value => value !== '') ? 'reload' : 'equal'
  return section === 'Mount' && key === 'Options' ? 'reload' : 'restart'
}

const isSame = (before: readonly string[], after: readonly string[]) =>
  before.length === after.length && before.every((value, index) => value === after[index])

function namesOf({ key, before, after }: Change): string[] {
  const targets = key === restartTriggers || key === reloadTriggers ? changedTargets(before, after) : []
  return targets.length ? targets.map(target => `etc/${target}`) : [key]
}
