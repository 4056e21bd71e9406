// Garbage collection of a machine's store: read, plan, and either show the plan or carry it out. One collector at a time.
import { makeLayout } from '../../layout.ts'
import { sweepPool } from '../dedup.ts'
import { applyGc, type GcOutcome, type GcPorts } from './apply.ts'
import { type StoreContext, takeStoreLock } from './lock.ts'
import { type GcOptions, type GcPlan, planGc } from './plan.ts'
import { type ReadProcesses, readProcesses } from './processes.ts'
import { freeReserve, makeReserve } from './reserve.ts'
import { readStore } from './view.ts'

export interface GcReport extends GcOutcome {
  readonly dryRun: boolean
  /** States that stay. */
  readonly kept: number
  readonly freedBytes: number
}

export interface CollectOptions extends GcOptions, GcPorts {
  readonly dryRun?: boolean
  readonly processes?: ReadProcesses
}

/** A dry run gives the report that the run itself would, and takes no lock. */
export async function collectGarbage(context: StoreContext, options: CollectOptions = {}): Promise<GcReport> {
  const { files, layout, clock } = context
  const { dryRun = false, processes = readProcesses, takeLock = takeStoreLock } = options
  const decide = () => {
    const view = readStore(context, processes, { ages: options.olderThanMs !== undefined })
    return { view, plan: planGc(view, { ...options, now: clock.now() }) }
  }
  if (dryRun) {
    const { plan } = decide()
    return report(plan, asPlanned(plan), dryRun)
  }
  freeReserve(files, layout)
  makeLayout(files, layout)
  const lock = await takeLock(context, { name: 'collector', command: 'cairn node gc' })
  try {
    const { view, plan } = decide()
    const outcome = await applyGc(plan, view, context, options)
    sweepPool(files, layout)
    return report(plan, outcome, dryRun)
  } finally {
    lock.release()
    makeReserve(files, layout)
  }
}

const asPlanned = ({ generationsToRemove, generationsHeld, statesToRemove, garbage }: GcPlan): GcOutcome => ({
  generations: generationsToRemove,
  generationsHeld,
  states: statesToRemove,
  garbage,
  spared: [],
  failed: [],
})

function report(plan: GcPlan, outcome: GcOutcome, dryRun: boolean): GcReport {
  const freed = [...outcome.states, ...outcome.garbage]
  return {
    ...outcome,
    dryRun,
    kept: plan.kept + plan.statesToRemove.length - outcome.states.length,
    freedBytes: freed.reduce((sum, { size }) => sum + size, 0),
  }
}
