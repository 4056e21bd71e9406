// Why a state is alive: from each root that leads to it, the shortest way there.
import { withAncestors } from '../../../lib/process-identity.ts'
import type { StateName } from '../../names.ts'
import type { StoreContext } from './lock.ts'
import type { GcView } from './plan.ts'
import { type ReadProcesses, readProcesses } from './processes.ts'
import type { RootCause } from './root.ts'
import { readStore } from './view.ts'

export interface Reason {
  readonly cause: RootCause
  /** From the state that the root names to the one asked about, both included. */
  readonly chain: readonly StateName[]
}

/** No reason: the next collection removes it. Null: there is no such state. */
export function whyAlive(
  state: StateName,
  context: StoreContext,
  processes: ReadProcesses = exceptWhoAsks,
): Reason[] | null {
  const view = readStore(context, processes)
  return view.states.has(state) ? reasonsFor(state, view) : null
}

function reasonsFor(state: StateName, { states, roots }: Pick<GcView, 'states' | 'roots'>): Reason[] {
  const referrers = Map.groupBy(
    [...states].flatMap(([from, { references }]) => references.map(to => ({ from, to }))),
    ({ to }) => to,
  )
  const towards = new Map<StateName, StateName | null>([[state, null]])
  for (const reached of towards.keys())
    for (const { from } of referrers.get(reached) ?? []) if (!towards.has(from)) towards.set(from, reached)

  return roots
    .filter(root => towards.has(root.state))
    .map(root => ({ cause: root.cause, chain: follow(root.state, towards) }))
}

function follow(from: StateName, towards: ReadonlyMap<StateName, StateName | null>): StateName[] {
  const chain: StateName[] = []
  for (let at: StateName | null = from; at !== null; at = towards.get(at) ?? null) chain.push(at)
  return chain
}

/** The question names the state on its own command line, and on that of the shell or sudo above it. */
function* exceptWhoAsks() {
  const asking = new Set(withAncestors(process.pid))
  for (const mention of readProcesses())
    if (!(asking.has(mention.pid) && mention.file.endsWith('/cmdline'))) yield mention
}
