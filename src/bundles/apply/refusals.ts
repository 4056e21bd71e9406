// Why a plan is not carried out, though it was understood.
import { RefusedError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Confirmation, Plan } from '../model/plan.ts'

/** Throws RefusedError: `plan.blocked` with all blockers, else `confirm.missing` with what each confirmation is for. */
export function refuseUnlessAllowed(plan: Plan, confirmed: readonly Confirmation[]): void {
  const { blockers } = plan
  if (blockers.length > 0)
    throw new RefusedError(
      'plan.blocked',
      `${blockers.length} ${blockers.length === 1 ? 'thing is' : 'things are'} in the way`,
      {
        problems: blockers,
      },
    )
  const missing = plan.needs.filter(need => !confirmed.includes(need))
  if (missing.length === 0) return
  throw new RefusedError('confirm.missing', `it needs to be confirmed: ${missing.join(', ')}`, {
    problems: missing.map(need => needed(need, plan)),
  })
}

export const staleRefusal = (problems: readonly Problem[]): RefusedError =>
  new RefusedError('plan.stale', 'the plan no longer fits', { hint: 'Plan again and look at it.', problems })

function needed(need: Confirmation, plan: Plan): Problem {
  const deletes = plan.actions.filter(({ action }) => action === 'delete' || action === 'replace')
  const meant = need === 'dataLoss' ? deletes.filter(({ destroysData }) => destroysData) : deletes
  const names = meant.map(({ kind, name }) => `${kind}/${name}`)
  const shown = names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ')
  return need === 'dataLoss'
    ? {
        code: 'confirm.missing',
        path: need,
        reason: `data is lost with ${shown}`,
        hint: 'Confirm dataLoss (--allow-data-loss), or set lifecycle.onRemove: retain.',
      }
    : {
        code: 'confirm.missing',
        path: need,
        reason: `most of the stack would be deleted: ${shown}`,
        hint: 'Confirm massDelete (--allow-mass-delete).',
      }
}
