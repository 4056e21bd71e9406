// A plan kept for later, with everything that it is made from except the values of secrets.
import { RefusedError } from '../../lib/errors.ts'
import type { Plan } from '../model/plan.ts'
import type { Source } from '../model/source.ts'
import { decoderOf } from '../read/encoding.ts'
import type { ApplyRequest, BundleRequest, SavedPlan } from '../request.ts'
import type { Store } from '../store.ts'

/** The sources as they were read: what a URL answers later does not matter. */
export function savedPlanOf(plan: Plan, request: BundleRequest, sources: readonly Source[]): SavedPlan {
  const { secrets, ...rest } = request
  return { plan, request: { ...rest, sources: sources.map(savedSource) } }
}

/** Throws RefusedError `plan.unknown` when there is none, or no more. */
export async function requestOfSaved(
  store: Store,
  planId: string,
  given: Pick<ApplyRequest, 'secrets' | 'confirm' | 'lockWaitMs' | 'by'>,
): Promise<ApplyRequest> {
  const saved = await store.savedPlan(planId)
  if (!saved)
    throw new RefusedError('plan.unknown', `there is no plan ${planId}, or it has expired`, { hint: 'Plan again.' })
  const { plan, request } = saved
  return {
    ...request,
    ...(plan.stack?.id !== undefined && { stack: plan.stack.id }),
    ...given,
    noStack: plan.stack === null,
    expectPlan: plan,
  }
}

function savedSource({ name, content, evaluated, ...source }: Source): SavedPlan['request']['sources'][number] {
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  const encoding = decoderOf({ name, ...source }, text).name === 'json' ? 'json' : 'yaml'
  return { name, content: text, encoding, ...(evaluated && { evaluated }) }
}
