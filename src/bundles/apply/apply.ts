// Plan and apply of a bundle. A plan takes no lock and leaves no trace; an apply plans under the lock of its stack and
// carries out exactly that.
import { ProblemsError, RefusedError } from '../../lib/errors.ts'
import type { EnginePorts, Watch } from '../engine.ts'
import type { Plan } from '../model/plan.ts'
import type { Stack } from '../model/stack.ts'
import type { Summary } from '../model/summary.ts'
import { gatherView } from '../plan/gather.ts'
import { planStack } from '../plan/plan.ts'
import type { PlanView } from '../plan/view.ts'
import type { ApplyAnswer, ApplyRequest, BundleRequest, PlanAnswer } from '../request.ts'
import { findStack } from '../stacks/find.ts'
import { newStack } from '../stacks/new-stack.ts'
import { carryOut } from './carry-out.ts'
import { withLock } from './lock.ts'
import { missingSecrets } from './missing-secrets.ts'
import { missingValues, type ReadBundle, readBundle } from './read-bundle.ts'
import { lockKeyOf, recoverStack } from './recover.ts'
import type { Running } from './running.ts'
import { savedPlanOf } from './saved.ts'

export interface PlanOptions {
  readonly save?: boolean
  readonly noStack?: boolean
}

/** Asks no platform: the plan in the answer is empty, and which secrets are missing is not known. */
export async function validateBundle(ports: EnginePorts, request: BundleRequest): Promise<PlanAnswer> {
  const stack = await stackOf(ports, request, false)
  const { summary, problems, warnings, bundle } = await readBundle(ports, request, stack)
  return { summary, plan: noPlan(bundle.hash, ports.clock.now()), problems, warnings }
}

export async function planBundle(
  ports: EnginePorts,
  request: BundleRequest,
  options: PlanOptions,
): Promise<PlanAnswer> {
  const stack = await stackOf(ports, request, options.noStack ?? false)
  const read = await readBundle(ports, request, stack)
  const view = await viewOf(ports, request, read, { stack, noStack: options.noStack ?? false })
  const plan = planStack(view)
  const summary = { ...read.summary, missingSecrets: await missingSecrets(ports, read.bundle, request.secrets) }
  if (options.save && plan.applicable) await ports.store.savePlan(savedPlanOf(plan, request, read.sources))
  return { summary: withIds(summary, plan.actions), plan, problems: read.problems, warnings: read.warnings }
}

export async function applyBundle(
  ports: EnginePorts,
  running: Running,
  request: ApplyRequest,
  watch: Watch = {},
): Promise<ApplyAnswer> {
  if (request.options.skipValidation)
    throw new RefusedError('apply.validation-skipped', 'an apply does not skip the validation', {
      hint: 'Skip it for plan and summary only.',
    })
  const noStack = request.noStack ?? false
  const known = await stackOf(ports, request, noStack)
  const read = await readBundle(ports, request, known, watch.signal)
  const missing = await missingSecrets(ports, read.bundle, request.secrets)
  const problems = [...read.problems, ...missingValues(ports, read, missing)]
  if (problems.length > 0) throw new ProblemsError(problems)

  const journalId = ports.newId()
  const stackId = noStack ? null : (known?.id ?? ports.newId())
  const key = lockKeyOf({ id: journalId, stackId })
  const name = known?.name ?? nameOfNew(request, read)
  return running.during(key, watch.signal, signal => {
    const wish = { key, name, holder: request.by, operation: 'apply', waitMs: request.lockWaitMs, signal }
    return withLock(ports, wish, async held => {
      if (known) await recoverStack(ports, known.id, held)
      const { plan, outcome } = await carryOut(ports, {
        look: async () => viewOf(ports, request, read, { stack: known && (await stackAgain(ports, known)), noStack }),
        recordOf: ({ stack, now }) => {
          if (stackId === null) return { is: 'none' }
          if (stack) return { is: 'there', stack }
          return { is: 'new', stack: newStack({ id: stackId, name, at: now.toISOString() }) }
        },
        ...(request.expectPlan && { expected: request.expectPlan }),
        confirm: request.confirm,
        by: request.by,
        held,
        journalId,
        watch: { ...watch, signal },
      })
      const after = stackId === null ? null : await ports.store.stack(stackId)
      const summary = withIds({ ...read.summary, missingSecrets: [] }, after?.resources ?? plan.actions)
      return { summary, plan, problems: [], warnings: read.warnings, stackId: after?.id ?? null, outcome }
    })
  })
}

async function stackOf({ store }: EnginePorts, { stack }: BundleRequest, noStack: boolean): Promise<Stack | null> {
  if (stack === undefined) return null
  if (noStack)
    throw new ProblemsError([
      {
        code: 'stack.unwanted',
        path: 'stack',
        reason: 'an apply without a stack was asked for, and a stack was named',
      },
    ])
  return findStack(store, stack)
}

async function stackAgain({ store }: EnginePorts, { id, name }: Stack): Promise<Stack> {
  const stack = await store.stack(id)
  if (!stack) throw new RefusedError('stack.unknown', `the stack "${name}" was deleted in the meantime`)
  return stack
}

function viewOf(
  ports: EnginePorts,
  request: BundleRequest,
  read: ReadBundle,
  { stack, noStack }: { stack: Stack | null; noStack: boolean },
): Promise<PlanView> {
  return gatherView(ports, {
    mode: { do: 'apply' },
    stack,
    stackName: nameOfNew(request, read),
    noStack,
    bundle: read.bundle,
    valid: read.problems.length === 0,
    invalid: read.invalid,
    isComplete: read.isComplete,
    sources: read.sources.map(({ name }) => name),
    skip: request.skip,
    ...(request.adopt && { adopt: request.adopt }),
    env: request.env,
    secrets: request.secrets,
  })
}

/** Unless it is said: what the first source is called. */
function nameOfNew({ stackName }: BundleRequest, { sources }: ReadBundle): string {
  const first = sources[0]?.name
    .replace(/[?#].*$/, '')
    .replace(/^.*\//, '')
    .replace(/\.[a-z]+$/, '')
  return stackName ?? (first || 'stack')
}

function withIds(summary: Summary, known: readonly { kind: string; name: string; id?: string | undefined }[]): Summary {
  const ids = new Map(known.map(({ kind, name, id }) => [`${kind}/${name}`, id]))
  return {
    ...summary,
    resources: summary.resources.map(resource => {
      const id = ids.get(`${resource.kind}/${resource.name}`)
      return id === undefined ? resource : { ...resource, id }
    }),
  }
}

const noPlan = (bundleHash: string, now: Date): Plan => ({
  id: '',
  stack: null,
  basis: { stackRevision: 0, liveRevisions: {}, bundleHash, settingsHash: '' },
  actions: [],
  associations: [],
  secrets: [],
  drift: [],
  blockers: [],
  needs: [],
  applicable: false,
  counts: { create: 0, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0, unchanged: 0 },
  expiresAt: now.toISOString(),
})
