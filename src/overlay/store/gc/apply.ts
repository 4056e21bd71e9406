// Carries out a collection, in batches under the gc lock. Before each batch the roots that Cairn keeps are read again, so
// that what a Prepare or an Apply took into use since the plan stays. A state goes in this order: its record, its place
// (one rename into the trash), its bytes; killed at any point, the next collection finds the rest in the trash.
import { removeIfThere, removeTree, syncDirectory } from '../../../lib/durable.ts'
import { RefusedError } from '../../../lib/errors.ts'
import { currentNumber } from '../../generations.ts'
import { statePath } from '../../layout.ts'
import type { StateName } from '../../names.ts'
import { listingPath } from '../listing.ts'
import { readRecord } from '../record.ts'
import { sweepTempRoots } from '../temp-roots.ts'
import { type StoreContext, type TakeLock, takeStoreLock } from './lock.ts'
import type { DeadState, Garbage, GcPlan } from './plan.ts'
import { attempt, retireGeneration, retireState } from './retire.ts'
import { mark } from './root.ts'
import { isJournalOpen, type StoreView } from './view.ts'

export interface GcOutcome {
  readonly generations: readonly number[]
  /** Generations were asked for, but all stay: an apply is under way, was interrupted, or waits to be confirmed. */
  readonly generationsHeld: boolean
  readonly states: readonly DeadState[]
  readonly garbage: readonly Garbage[]
  /** In the plan, but in use since. */
  readonly spared: readonly StateName[]
  /** Could not be removed; the next collection tries again. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[]
}

export interface GcPorts {
  readonly takeLock?: TakeLock
  /** Told of each state and each piece of garbage when its bytes are gone. */
  readonly onRemoved?: (removed: DeadState | Garbage) => void
}

interface Collection extends StoreContext, Required<GcPorts> {
  readonly view: StoreView
  readonly failed: { path: string; reason: string }[]
}

const batchSize = 64

export async function applyGc(
  plan: GcPlan,
  view: StoreView,
  context: StoreContext,
  ports: GcPorts,
): Promise<GcOutcome> {
  const { takeLock = takeStoreLock, onRemoved = () => {} } = ports
  const collection: Collection = { ...context, takeLock, onRemoved, view, failed: [] }
  const garbage = plan.garbage.filter(piece => removeGarbage(piece, collection))
  const generations = await removeGenerations(plan.generationsToRemove, collection)
  const { states, spared } = await removeStates(plan, collection)
  await whileLocked('gc', collection, () => {
    for (const state of plan.voidRecords) dropVoidRecord(state, collection)
    sweepTempRoots(context)
  })
  return {
    generations: generations ?? [],
    generationsHeld: plan.generationsHeld || generations === null,
    states,
    garbage,
    spared,
    failed: collection.failed,
  }
}

function removeGarbage(piece: Garbage, { files, failed, onRemoved }: Collection): boolean {
  if (!attempt(failed, piece.path, () => removeTree(files, piece.path))) return false
  onRemoved(piece)
  return true
}

/** Null when a switch is under way, or was since the plan: what it needs to go back may be among them. */
async function removeGenerations(numbers: readonly number[], collection: Collection): Promise<number[] | null> {
  const { files, layout, failed, view } = collection
  if (numbers.length === 0) return []
  try {
    return await whileLocked('apply', collection, () => {
      if (isJournalOpen(files, layout) || currentNumber(files, layout) !== view.current) return null
      const retired = numbers.map(number => ({ number, removeBytes: retireGeneration(number, collection) }))
      attempt(failed, layout.generations, () => syncDirectory(files, layout.generations))
      for (const { removeBytes } of retired) if (removeBytes) attempt(failed, layout.trash, removeBytes)
      return retired.filter(({ removeBytes }) => removeBytes).map(({ number }) => number)
    })
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'lock.busy') return null
    throw error
  }
}

async function removeStates(
  plan: GcPlan,
  collection: Collection,
): Promise<{ states: DeadState[]; spared: StateName[] }> {
  const { files, layout, failed, view, onRemoved } = collection
  const states: DeadState[] = []
  const spared: StateName[] = []
  const alive = new Set(plan.alive)
  for (let at = 0; at < plan.statesToRemove.length; at += batchSize) {
    const batch = plan.statesToRemove.slice(at, at + batchSize)
    const retired = await whileLocked('gc', collection, () => {
      const roots = view.storeRootsNow().map(root => root.state)
      mark(alive, roots, view.referencesNow)
      spared.push(...batch.map(({ state }) => state).filter(state => alive.has(state)))
      const dead = batch.filter(({ state }) => !alive.has(state))
      return dead.map(each => ({ dead: each, removeBytes: retireState(each.state, collection) }))
    })
    // No bytes go before it is on disk that the state is none any more.
    attempt(failed, layout.records, () => syncDirectory(files, layout.records))
    attempt(failed, layout.states, () => syncDirectory(files, layout.states))
    for (const { dead, removeBytes } of retired) {
      if (!removeBytes || !attempt(failed, statePath(layout, dead.state), removeBytes)) continue
      states.push(dead)
      onRemoved(dead)
    }
  }
  return { states, spared }
}

/** Unless its directory came back: then reading it leaves it alone. */
function dropVoidRecord(state: StateName, { files, layout }: Collection) {
  if (!readRecord(files, layout, state, () => {})) removeIfThere(files, listingPath(layout, state))
}

async function whileLocked<T>(name: 'gc' | 'apply', collection: Collection, work: () => T): Promise<T> {
  const lock = await collection.takeLock(collection, { name, command: 'cairn node gc' })
  try {
    return work()
  } finally {
    lock.release()
  }
}
