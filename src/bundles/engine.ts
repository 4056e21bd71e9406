// Everything that can be done with bundles and stacks, over two ports: the platforms and the store. The HTTP API is a thin
// layer over this; the command line speaks to that.
import type { Clock } from '../lib/clock.ts'
import type { Problem, Warning } from '../lib/problem.ts'
import { applyBundle, planBundle, validateBundle } from './apply/apply.ts'
import { recoverAll } from './apply/recover.ts'
import { runningOperations } from './apply/running.ts'
import { requestOfSaved } from './apply/saved.ts'
import { exportBundle } from './export/export.ts'
import type { Limits, Source } from './model/source.ts'
import type { Lease, Stack, StackEvent } from './model/stack.ts'
import type { PlanMode } from './plan/view.ts'
import type { LiveFilter, Platform } from './platform.ts'
import type { ApplyAnswer, ApplyRequest, BundleRequest, Outcome, PlanAnswer, StepProgress } from './request.ts'
import { createStack } from './stacks/create.ts'
import { deleteStack } from './stacks/delete.ts'
import { findStack } from './stacks/find.ts'
import { importResources } from './stacks/import.ts'
import { operate } from './stacks/operate.ts'
import { reconciler } from './stacks/reconcile.ts'
import { unlockStack } from './stacks/unlock.ts'
import { updateStack } from './stacks/update.ts'
import type { StackFilter, StackPage, Store } from './store.ts'

export interface EnginePorts {
  readonly store: Store
  /** Cairn's own first. */
  readonly platforms: readonly Platform[]
  readonly clock: Clock
  newId(): string
  readonly limits: Limits
  /** One URL of a stack or a request, with all guards; a Problem says which of them refused. */
  fetchSource(url: string, signal?: AbortSignal): Promise<Source | Problem>
  log(line: string): void
  /** Writes at once on platforms with a journal: 1 to 32; 5 unless said. */
  readonly concurrency?: number
}

/** How an operation on a stack is watched and stopped. Cancelling is a failure like any other: what was done is undone. */
export interface Watch {
  readonly signal?: AbortSignal
  onProgress?(step: StepProgress): void
}

export interface StackOperation {
  readonly stack: string
  readonly by: string
  readonly confirm: ApplyRequest['confirm']
  readonly lockWaitMs: number
  readonly planOnly?: boolean
  /** Refused when the record is no longer at this revision. */
  readonly ifRevision?: number
}

export interface ExportRequest {
  /** Ids or names of stacks. */
  readonly stacks: readonly string[]
  readonly all?: boolean
  readonly resources: readonly {
    readonly kind: string
    readonly id?: string
    readonly name?: string
    readonly as?: string
  }[]
  /** Values of one filter are alternatives; filters narrow each other. */
  readonly filters: LiveFilter
  /** Literal values instead of the env refs of the source. */
  readonly resolve?: boolean
  /** What is referred to stands as `external` instead of coming along. */
  readonly noDependencies?: boolean
  readonly strictNames?: boolean
}

/** A resource in the shape in which a bundle has it, keys in order. */
export interface ExportedResource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly spec: Readonly<Record<string, unknown>>
}

export interface ExportAnswer {
  readonly resources: readonly ExportedResource[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

export interface StackAnswer {
  readonly stack: Stack
  readonly plan?: PlanAnswer['plan']
  readonly outcome: Outcome
}

export interface Engine {
  /** Reads and understands; asks no platform beyond what kinds it has. */
  validate(request: BundleRequest): Promise<PlanAnswer>
  /** Takes no lock and leaves no trace, except with `save`. */
  plan(request: BundleRequest, options?: { readonly save?: boolean; readonly noStack?: boolean }): Promise<PlanAnswer>
  apply(request: ApplyRequest, watch?: Watch): Promise<ApplyAnswer>
  /** Exactly the saved plan, or a refusal that names what moved. */
  applySaved(
    planId: string,
    request: Pick<ApplyRequest, 'secrets' | 'confirm' | 'lockWaitMs' | 'by'>,
    watch?: Watch,
  ): Promise<ApplyAnswer>
  export(request: ExportRequest): Promise<ExportAnswer>

  stacks(filter: StackFilter, page: { readonly limit: number; readonly cursor?: string }): Promise<StackPage>
  /** By id, or by a name that only one stack has. Throws RefusedError `stack.unknown` or `stack.ambiguous`. */
  stack(idOrName: string): Promise<Stack>
  history(stack: string, page: { readonly limit: number; readonly before?: number }): Promise<readonly StackEvent[]>
  lock(stack: string): Promise<Lease | null>
  createStack(stack: {
    readonly name: string
    readonly description?: string
    readonly urls?: readonly string[]
    readonly reconcile?: string
    readonly by: string
  }): Promise<Stack>
  updateStack(
    stack: string,
    change: {
      readonly name?: string
      readonly description?: string
      readonly urls?: readonly string[]
      readonly reconcile?: string | null
    },
    who: { readonly by: string; readonly ifRevision?: number },
  ): Promise<Stack>
  uninstall(operation: StackOperation, watch?: Watch): Promise<StackAnswer>
  /** Uninstalls, then the record goes. Unknown is success: null. `keepResources` forgets all instead. */
  deleteStack(
    operation: StackOperation & { readonly keepResources?: boolean },
    watch?: Watch,
  ): Promise<StackAnswer | null>
  forget(
    operation: StackOperation & { readonly resources: readonly { readonly kind: string; readonly name?: string }[] },
  ): Promise<StackAnswer>
  /** All or none; answers with the text to paste into the bundle. */
  import(
    operation: StackOperation & {
      readonly resources: readonly {
        readonly kind: string
        readonly id?: string
        readonly displayName?: string
        readonly name?: string
      }[]
    },
  ): Promise<StackAnswer & { readonly exported: readonly ExportedResource[] }>
  /** `accept`: what is live counts as last applied, and what is gone leaves the record. */
  refresh(
    operation: StackOperation & { readonly accept?: boolean },
  ): Promise<StackAnswer & { readonly drift: PlanAnswer['plan']['drift'] }>
  unlock(stack: string, by: string): Promise<Lease | null>
  /** True when an operation of this process was under way. */
  cancel(stack: string): Promise<boolean>

  /** Settles every journal without an end: finishes what was committed, undoes the rest. At start, before anything else. */
  recover(): Promise<void>
  /** Re-plans stacks with `reconcile` that are due, and corrects drift; never deletes. */
  reconcileDue(): Promise<void>
}

export function createEngine(ports: EnginePorts): Engine {
  const running = runningOperations()
  const { store } = ports
  const idOf = async (stack: string) => (await findStack(store, stack)).id
  const on = (operation: StackOperation, word: string, mode: PlanMode, watch?: Watch) =>
    operate(ports, running, { operation, word, mode }, watch)

  return {
    validate: request => validateBundle(ports, request),
    plan: (request, options = {}) => planBundle(ports, request, options),
    apply: (request, watch) => applyBundle(ports, running, request, watch),
    applySaved: async (planId, given, watch) =>
      applyBundle(ports, running, await requestOfSaved(store, planId, given), watch),
    export: request => exportBundle({ ports, request }),

    stacks: (filter, page) => store.stacks(filter, page),
    stack: idOrName => findStack(store, idOrName),
    history: async (stack, page) => store.events(await idOf(stack), page),
    lock: async stack => store.leases.holder(await idOf(stack)),
    createStack: stack => createStack(ports, stack),
    updateStack: (stack, change, who) => updateStack(ports, stack, change, who),
    uninstall: (operation, watch) => on(operation, 'uninstall', { do: 'uninstall' }, watch),
    deleteStack: (operation, watch) => deleteStack(ports, running, operation, watch),
    forget: operation => on(operation, 'forget', { do: 'forget', resources: operation.resources }),
    import: operation => importResources(ports, running, operation),
    refresh: async operation => {
      const answer = await on(operation, 'refresh', { do: 'refresh', accept: operation.accept ?? false })
      return { ...answer, drift: answer.plan.drift }
    },
    unlock: (stack, by) => unlockStack(ports, stack, by),
    cancel: async stack => running.cancel(await idOf(stack)),

    recover: () => recoverAll(ports),
    reconcileDue: reconciler(ports, running),
  }
}
