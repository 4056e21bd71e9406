// A UnitPlan in the making: one action for each unit. When several rules speak of a unit, the stronger action stays.
import { unreachable } from '../../lib/errors.ts'
import { byName, type UnitName } from '../names.ts'
import type { RestartAction, UnitAction, UnitPlan } from './action.ts'

export type Decision =
  | { readonly do: 'skip' | 'reload' | 'stop'; readonly reason: string }
  | { readonly do: 'start'; readonly reason: string; readonly hidden?: true }
  | { readonly do: 'restart'; readonly reason: string; readonly how: RestartAction['how'] }

export interface Draft {
  put(name: UnitName, decision: Decision): void
  /** Units that are down for a while, or for good, between the old /etc and the new one. */
  stopped(): UnitName[]
  finish(): UnitPlan
}

export function newDraft(): Draft {
  const decisions = new Map<UnitName, Decision>()
  return {
    put(name, decision) {
      const before = decisions.get(name)
      if (!before || strength(decision) > strength(before)) decisions.set(name, decision)
    },
    stopped: () => [...decisions].filter(([, decision]) => isDown(decision)).map(([name]) => name),
    finish: () => asPlan(decisions),
  }
}

const isDown = (decision: Decision) =>
  decision.do === 'stop' || (decision.do === 'restart' && decision.how === 'stop-start')

function strength(decision: Decision): number {
  switch (decision.do) {
    case 'skip':
      return 0
    case 'start':
      return decision.hidden ? 1 : 2
    case 'reload':
      return 3
    case 'restart':
      return decision.how === 'in-place' ? 4 : 5
    case 'stop':
      return 6
    default:
      return unreachable(decision)
  }
}

function asPlan(decisions: ReadonlyMap<UnitName, Decision>): UnitPlan {
  const plan = {
    stop: [] as UnitAction[],
    reload: [] as UnitAction[],
    restart: [] as RestartAction[],
    start: [] as UnitAction[],
    skip: [] as UnitAction[],
  }
  for (const [name, decision] of [...decisions].sort(([a], [b]) => byName(a, b))) {
    const { reason } = decision
    if (decision.do === 'restart') plan.restart.push({ name, reason, how: decision.how })
    else plan[decision.do].push({ name, reason, ...('hidden' in decision && { hidden: true as const }) })
  }
  return plan
}
