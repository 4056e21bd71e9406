// Decides what a collection removes. Touches nothing; what it returns is the dry run.
// Holds: nothing that a kept root leads to is in it; a state comes before the states it refers to, so that a collection cut
// short leaves no recorded state without its references; the generation that runs and the one before it stay.
// Does not hold: that the roots are still the ones read. apply.ts looks again under the lock, batch by batch.
import { byName, type StateName } from '../../names.ts'
import { mark, type References, type Root } from './root.ts'

export interface GcOptions {
  /** Keep this many of the newest generations; without it and `olderThanMs`, no generation goes. */
  readonly keep?: number
  /** Only generations made longer ago than this go. */
  readonly olderThanMs?: number
  /** Enough is freed when this many bytes are; states beyond that stay for the next time. */
  readonly maxFreed?: number
}

export interface GcView {
  /** Every state whose directory is there. */
  readonly states: ReadonlyMap<StateName, KnownState>
  readonly roots: readonly Root[]
  readonly generations: readonly { readonly generation: number; readonly createdAt: string }[]
  readonly current: number | null
  /** An apply is under way, was interrupted, or waits to be confirmed: any generation may be its way back. */
  readonly journalOpen: boolean
  readonly garbage: readonly Garbage[]
  /** Records whose directory is gone. */
  readonly voidRecords: readonly StateName[]
}

export interface KnownState {
  readonly size: number
  readonly references: readonly StateName[]
  /** False for what an install did not finish, or whose record was lost: no cache hit, but a root may still lead to it. */
  readonly recorded: boolean
}

/** Nobody's: what a crash or a killed collection left in the store. */
export interface Garbage {
  readonly path: string
  readonly what: 'leftover trash' | 'unfinished install'
  readonly size: number
}

export interface GcPlan {
  readonly generationsToRemove: readonly number[]
  /** Generations were asked for, but stay because a journal is open. */
  readonly generationsHeld: boolean
  readonly statesToRemove: readonly DeadState[]
  readonly garbage: readonly Garbage[]
  readonly voidRecords: readonly StateName[]
  /** What roots lead to. */
  readonly alive: ReadonlySet<StateName>
  readonly kept: number
  readonly freedBytes: number
}

export interface DeadState {
  readonly state: StateName
  readonly size: number
  readonly why: 'unused' | 'no record' | `generation ${number}`
}

export function planGc(view: GcView, options: GcOptions & { now: Date }): GcPlan {
  const { states, roots, garbage, voidRecords, journalOpen } = view
  const generationsHeld = wantsGenerations(options) && journalOpen
  const generationsToRemove = generationsHeld ? [] : outdated(view, options)
  const gone = new Set(generationsToRemove)

  const references: References = state => states.get(state)?.references ?? []
  const goes = ({ cause }: Root) => cause.is === 'generation' && gone.has(cause.generation)
  const alive = new Set<StateName>()
  mark(
    alive,
    roots.filter(root => !goes(root)).map(root => root.state),
    references,
  )

  const lastUse = usesOfRemoved(roots.filter(goes), references)
  const statesToRemove: DeadState[] = []
  let freedBytes = garbage.reduce((sum, { size }) => sum + size, 0)
  for (const state of referrersFirst([...states.keys()].filter(state => !alive.has(state)).sort(byName), references)) {
    if (options.maxFreed !== undefined && freedBytes >= options.maxFreed) break
    const { size, recorded } = states.get(state)!
    statesToRemove.push({ state, size, why: recorded ? (lastUse.get(state) ?? 'unused') : 'no record' })
    freedBytes += size
  }
  const kept = states.size - statesToRemove.length
  return { generationsToRemove, generationsHeld, statesToRemove, garbage, voidRecords, alive, kept, freedBytes }
}

const wantsGenerations = ({ keep, olderThanMs }: GcOptions) => keep !== undefined || olderThanMs !== undefined

function outdated({ generations, current }: GcView, options: GcOptions & { now: Date }): number[] {
  if (!wantsGenerations(options)) return []
  const { keep = 0, olderThanMs, now } = options
  const numbers = generations.map(({ generation }) => generation).sort((a, b) => a - b)
  const previous = current === null ? undefined : numbers.findLast(number => number < current)
  const stay = new Set([current, previous, ...numbers.slice(Math.max(0, numbers.length - keep))])
  return generations
    .filter(({ createdAt }) => olderThanMs === undefined || now.getTime() - Date.parse(createdAt) > olderThanMs)
    .map(({ generation }) => generation)
    .filter(generation => !stay.has(generation))
    .sort((a, b) => a - b)
}

/** For each state the last of the generations that go and that used it. */
function usesOfRemoved(roots: readonly Root[], references: References): Map<StateName, DeadState['why']> {
  const uses = new Map<StateName, DeadState['why']>()
  for (const { state, cause } of roots) {
    if (cause.is !== 'generation') continue
    const used = new Set<StateName>()
    mark(used, [state], references)
    for (const each of used) uses.set(each, `generation ${cause.generation}`)
  }
  return uses
}

/** Depth first, each state after all that it refers to, then the whole turned round. */
function referrersFirst(states: readonly StateName[], references: References): StateName[] {
  const among = new Set(states)
  const done = new Set<StateName>()
  const order: StateName[] = []
  const open: { state: StateName; left: StateName[] }[] = []
  const enter = (state: StateName) => {
    if (!among.has(state) || done.has(state)) return
    done.add(state)
    open.push({ state, left: [...references(state)] })
  }
  for (const state of states.toReversed()) {
    enter(state)
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const next = top.left.pop()
      if (next !== undefined) enter(next)
      else order.push(open.pop()!.state)
    }
  }
  return order.reverse()
}
