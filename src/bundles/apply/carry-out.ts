// From a look at everything to the outcome, for whoever has the lock: plan, refuse or execute. When somebody outside moved
// something between the look and the transaction, it looks once more, unless exactly one plan is wanted.
import type { EnginePorts, Watch } from '../engine.ts'
import type { Confirmation, Plan } from '../model/plan.ts'
import type { OrderedWrites } from '../plan/ordered-writes.ts'
import { planStack } from '../plan/plan.ts'
import { whatMoved } from '../plan/stale.ts'
import type { PlanView } from '../plan/view.ts'
import { writesOf } from '../plan/writes.ts'
import type { Outcome } from '../request.ts'
import { WriteConflict } from '../store.ts'
import { conflictPath, conflictProblem } from './conflict.ts'
import { execute, type RecordTarget } from './execute.ts'
import type { Held } from './lock.ts'
import { refuseUnlessAllowed, staleRefusal } from './refusals.ts'

export interface Task {
  look(): Promise<PlanView>
  /** Where what happened is recorded. */
  recordOf(view: PlanView, writes: OrderedWrites): RecordTarget
  readonly expected?: Pick<Plan, 'id' | 'basis' | 'expiresAt'>
  readonly confirm: readonly Confirmation[]
  readonly by: string
  readonly held: Held
  readonly journalId: string
  readonly watch: Watch
}

export interface CarriedOut {
  readonly plan: Plan
  readonly outcome: Outcome
}

const tries = 2

export async function carryOut(ports: EnginePorts, task: Task): Promise<CarriedOut> {
  for (let tried = 1; ; tried++) {
    const view = await task.look()
    const plan = planStack(view)
    const moved = task.expected ? whatMoved(task.expected, plan, view) : []
    if (moved.length > 0) throw staleRefusal(moved)
    refuseUnlessAllowed(plan, task.confirm)
    const writes = writesOf(plan, view, ports.newId)
    const record = task.recordOf(view, writes)
    if (isNothing(writes) && record.is !== 'there, to be deleted') return { plan, outcome: { did: 'nothing' } }
    try {
      const { by, held, journalId, watch } = task
      const outcome = await execute(ports, { planId: plan.id, writes, record, by, held, journalId, watch })
      return { plan, outcome }
    } catch (error) {
      if (!(error instanceof WriteConflict)) throw error
      if (task.expected || tried === tries) throw staleRefusal([conflictProblem(error, conflictPath(error, writes))])
    }
  }
}

const isNothing = ({ platforms, record }: OrderedWrites): boolean =>
  record.change === null && [...platforms.values()].every(writes => writes.length === 0)
