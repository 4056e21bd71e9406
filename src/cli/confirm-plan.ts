// The one question before something is changed: what would be done, whether it may be, and a yes. Where nobody can answer
// it refuses. What loses data or deletes much has a flag of its own; --yes is not enough for it.
import type { Confirmation, Plan } from '../bundles/model/plan.ts'
import type { PlanAnswer } from '../bundles/request.ts'
import { printDuration } from '../lib/duration.ts'
import { RefusedError } from '../lib/errors.ts'
import { painter } from '../lib/style.ts'
import type { Session } from './command.ts'
import { changesIn, printBundlePlan } from './views/bundle-plan.ts'
import { confirmationFlags } from './views/words.ts'

export interface ConfirmValues {
  readonly yes?: true
  readonly allowMassDelete?: true
  readonly allowDataLoss?: true
  readonly lockWait?: number
}

/** Throws unless the plan may be done. */
export async function confirmPlan(
  plan: Plan,
  values: ConfirmValues,
  session: Session,
  about: Partial<PlanAnswer> = {},
) {
  const { terminal, json } = session
  const [blocker] = plan.blockers
  if (blocker) throw new RefusedError(blocker.code, 'the plan is blocked', { problems: plan.blockers })
  const given = confirmedBy(values)
  const lacking = plan.needs.filter(need => !given.includes(need))
  if (lacking.length === 0 && (values.yes || !changesIn(plan))) return
  if (!json) terminal.err.write(`${planText(plan, about, session)}\n\n`)
  if (lacking.length > 0) throw notConfirmed(lacking.map(need => confirmationFlags[need]))
  if (!terminal.ask) throw notConfirmed(['--yes'])
  const deletes = plan.counts.delete + plan.counts.replace
  const said = await terminal.ask(deletes > 0 ? `Type ${deletes} to delete that many and go on: ` : 'Apply? [y/N] ')
  const agreed = deletes > 0 ? said.trim() === String(deletes) : /^y(es)?$/i.test(said.trim())
  if (!agreed) throw new RefusedError('confirm.declined', 'Not confirmed; nothing was changed.')
}

/** As the API takes it. */
export function applyOptionsOf(values: ConfirmValues) {
  return {
    confirm: confirmedBy(values),
    ...(values.lockWait !== undefined && { lockWait: printDuration(values.lockWait) }),
  }
}

const confirmedBy = ({ allowMassDelete, allowDataLoss }: ConfirmValues): Confirmation[] => [
  ...(allowMassDelete ? (['massDelete'] as const) : []),
  ...(allowDataLoss ? (['dataLoss'] as const) : []),
]

function planText(plan: Plan, about: Partial<PlanAnswer>, { terminal: { err } }: Session): string {
  const nothing = { resources: [], associations: [], missingEnvRefs: [], missingSecrets: [], sources: [] }
  return printBundlePlan(
    { summary: nothing, problems: [], warnings: [], ...about, plan },
    { width: err.width(), now: new Date(), where: '', paint: painter(err.colour) },
  )
}

const notConfirmed = (flags: readonly string[]) =>
  new RefusedError('confirm.missing', `this needs ${flags.join(' and ')}; nothing was changed`)
