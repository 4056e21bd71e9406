// What is done to a stack without a bundle: planned in one of the other modes and carried out under its lock.
import { RefusedError } from '../../lib/errors.ts'
import { carryOut } from '../apply/carry-out.ts'
import { withLock } from '../apply/lock.ts'
import { recoverStack } from '../apply/recover.ts'
import type { Running } from '../apply/running.ts'
import type { EnginePorts, StackAnswer, StackOperation, Watch } from '../engine.ts'
import type { Plan } from '../model/plan.ts'
import type { Stack } from '../model/stack.ts'
import { gatherView } from '../plan/gather.ts'
import { planStack } from '../plan/plan.ts'
import { emptyBundle, type PlanMode, type PlanView } from '../plan/view.ts'
import { findStack } from './find.ts'

export interface StackWork {
  readonly operation: StackOperation
  /** For whoever finds the lock taken. */
  readonly word: string
  readonly mode: PlanMode
  /** The record goes with it. */
  readonly deletesRecord?: boolean
}

export type Operated = StackAnswer & { readonly plan: Plan }

/** Throws RefusedError: unknown, locked, moved, blocked, not confirmed. */
export async function operate(
  ports: EnginePorts,
  running: Running,
  { operation, word, mode, deletesRecord = false }: StackWork,
  watch: Watch = {},
): Promise<Operated> {
  const known = await findStack(ports.store, operation.stack)
  if (operation.planOnly) {
    refuseIfMoved(known, operation.ifRevision)
    return { stack: known, plan: planStack(await viewOf(ports, known, mode)), outcome: { did: 'nothing' } }
  }
  const { id, name } = known
  return running.during(id, watch.signal, signal => {
    const wish = { key: id, name, holder: operation.by, operation: word, waitMs: operation.lockWaitMs, signal }
    return withLock(ports, wish, async held => {
      await recoverStack(ports, id, held)
      refuseIfMoved(await findStack(ports.store, id), operation.ifRevision)
      const { plan, outcome } = await carryOut(ports, {
        look: async () => viewOf(ports, await findStack(ports.store, id), mode),
        recordOf: ({ stack }) => ({ is: deletesRecord ? 'there, to be deleted' : 'there', stack: stack ?? known }),
        confirm: operation.confirm,
        by: operation.by,
        held,
        journalId: ports.newId(),
        watch: { ...watch, signal },
      })
      return { stack: (await ports.store.stack(id)) ?? known, plan, outcome }
    })
  })
}

export function refuseIfMoved({ name, revision }: Stack, ifRevision: number | undefined): void {
  if (ifRevision === undefined || ifRevision === revision) return
  throw new RefusedError('stack.moved', `the stack "${name}" is at revision ${revision}, not ${ifRevision}`, {
    hint: 'Look at it again.',
  })
}

const viewOf = (ports: EnginePorts, stack: Stack, mode: PlanMode): Promise<PlanView> =>
  gatherView(ports, {
    mode,
    stack,
    stackName: stack.name,
    noStack: false,
    bundle: emptyBundle,
    valid: true,
    invalid: new Set(),
    isComplete: true,
    sources: [],
    skip: [],
    env: {},
    secrets: {},
  })
