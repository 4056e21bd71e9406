// Decides how /etc gets from what it is to what a generation wants. Touches nothing.
// Holds: what Cairn did not make and was not told to take over is in no action; a right /etc gives no actions; a target
// that both generations have is never missing in between; with a Problem there are no actions at all.
// Does not hold: that /etc is still as it was read. perform.ts looks at each target again before changing it.
import type { Problem, Warning } from '../../lib/problem.ts'
import { byName, type EtcTarget } from '../names.ts'
import type { EtcAction, SwitchAction } from './action.ts'
import type { OwnedEtc } from './entry.ts'
import type { EtcView, LiveEtc } from './live.ts'
import { planArrivals } from './plan-arrivals.ts'
import { planDepartures } from './plan-departures.ts'
import { groundOf } from './plan-ground.ts'
import { etcIsNotADirectory } from './problems.ts'
import type { EtcScan } from './scan.ts'
import { type EtcSummary, summarise } from './summary.ts'

export interface EtcPlan {
  /** Sweeps, take-overs, directories, new links and copies; all of it can be undone. */
  readonly before: readonly EtcAction[]
  /** None when static points there already, else one. */
  readonly switch: readonly SwitchAction[]
  /** Replacements, removals, backups given back, empty directories removed. */
  readonly after: readonly EtcAction[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
  readonly summary: EtcSummary
  /** What Cairn owns when all of it is done. */
  readonly owned: OwnedEtc
}

export interface EtcPlanView extends EtcView {
  readonly live: LiveEtc
  /** Made only for an apply that changes something; a plan without it finds no leftovers. */
  readonly scan?: EtcScan
}

export function planEtc(view: EtcPlanView): EtcPlan {
  const { wanted, owned, live, scan } = view
  const ground = groundOf(view)
  const departures = planDepartures(ground)
  const arrivals = planArrivals(ground, departures)

  const problems = [...(live.etc === 'other' ? [etcIsNotADirectory()] : []), ...arrivals.conflicts.values()]
  const { warnings } = departures
  const summary = summarise(ground, arrivals, departures)
  if (problems.length > 0) return { before: [], switch: [], after: [], problems, warnings, summary, owned }

  const closings = new Map([...departures.actions, ...arrivals.closings])
  return {
    before: [...(scan?.litter ?? []).map(path => ({ do: 'sweep', path }) as const), ...arrivals.before],
    switch: live.static === wanted.etcState ? [] : [{ do: 'switch', from: live.static, to: wanted.etcState }],
    // Inner paths before the directories that they lie in, and the other way round.
    after: [...arrivals.replacements.values(), ...inOrder(closings).reverse(), ...inOrder(arrivals.openings)],
    problems,
    warnings,
    summary,
    owned: {
      etcState: wanted.etcState,
      entries: wanted.entries,
      directories: [...new Set([...departures.keptDirectories, ...arrivals.madeDirectories])].sort(byName),
      backups: [...departures.keptBackups, ...arrivals.backups].sort((a, b) => byName(a.target, b.target)),
    },
  }
}

/** Nothing to do, nothing to write, no generation to make. */
export const isSettled = ({ before, switch: flip, after }: Pick<EtcPlan, 'before' | 'switch' | 'after'>): boolean =>
  before.length + flip.length + after.length === 0

const inOrder = (actions: ReadonlyMap<EtcTarget, EtcAction>): EtcAction[] =>
  [...actions].sort(([a], [b]) => byName(a, b)).map(([, action]) => action)
