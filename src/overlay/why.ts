// Why a state is still there: every chain of references from a root to it, down to the process and the file that hold it.
import { RefusedError } from '../lib/errors.ts'
import type { NodeContext } from './context.ts'
import { isStateName, type StateName } from './names.ts'
import { describeRoot } from './store/gc/root.ts'
import { whyAlive } from './store/gc/why.ts'

export interface WhyAlive {
  readonly state: StateName
  readonly alive: boolean
  /** Each from the root to the state. */
  readonly chains: readonly (readonly string[])[]
}

/** `wanted` is a state's name, or any part of it that fits one state only. */
export function explainState(context: NodeContext, wanted: string): WhyAlive {
  const state = stateFitting(context, wanted)
  const reasons = whyAlive(state, context) ?? []
  return {
    state,
    alive: reasons.length > 0,
    chains: reasons.map(({ cause, chain }) => [describeRoot(cause), ...chain]),
  }
}

function stateFitting({ files, layout }: NodeContext, wanted: string): StateName {
  const states = files.lstat(layout.states) ? files.readdir(layout.states).filter(isStateName) : []
  const fitting = states.includes(wanted as StateName)
    ? [wanted as StateName]
    : states.filter(state => state.includes(wanted))
  const [only, ...others] = fitting
  if (only !== undefined && others.length === 0) return only
  if (only === undefined) throw new RefusedError('state.unknown', `There is no state "${wanted}".`)
  throw new RefusedError('state.ambiguous', `"${wanted}" fits ${fitting.length} states.`, {
    hint: `Give more of the name: ${fitting.slice(0, 5).join(', ')}`,
  })
}
