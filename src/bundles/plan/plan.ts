// Decides what an operation on a stack would do, and prints it as data. Touches nothing and asks nobody: the same view gives
// the same plan, whenever and wherever.
// Holds: nothing is changed or deleted that neither the record has nor the bundle was told to take over; a plan of what is
// already so has only `none`; with a blocker the plan is shown and not applicable.
import { byName } from '../../lib/by-name.ts'
import { unreachable } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Action, Plan } from '../model/plan.ts'
import { removesLive } from './deletion.ts'
import { type Draft, draftOf } from './draft.ts'
import { forgetDraft } from './forget.ts'
import { recordedResources } from './from-record.ts'
import { basisOf, planIdOf } from './hash.ts'
import { importDraft } from './import.ts'
import type { Planned } from './planned.ts'
import { refreshedDraft } from './refresh.ts'
import { secretRows } from './secrets.ts'
import type { PlanView } from './view.ts'

export function planStack(view: PlanView): Plan {
  const draft = draftFor(view)
  const actions = actionsOf(draft)
  const blockers = distinct(draft.blockers)
  const plan: Omit<Plan, 'id' | 'expiresAt'> = {
    stack: stackOf(view),
    basis: basisOf(view),
    actions,
    associations: draft.associations.map(({ row }) => row),
    secrets: secretRows(draft.secrets),
    drift: draft.drift,
    blockers,
    needs: [...draft.needs],
    applicable: view.valid && blockers.length === 0,
    counts: countsOf(actions),
  }
  const expiresAt = new Date(view.now.getTime() + view.planLifeMs).toISOString()
  return { id: planIdOf(plan), ...plan, expiresAt }
}

const drafts = new WeakMap<PlanView, Draft>()

/** A view is never changed, so what was decided from it stays right. */
export function draftFor(view: PlanView): Draft {
  let draft = drafts.get(view)
  if (!draft) {
    draft = makeDraft(view)
    drafts.set(view, draft)
  }
  return draft
}

function makeDraft(view: PlanView): Draft {
  const { mode } = view
  switch (mode.do) {
    case 'apply':
      return draftOf(view, view.bundle.resources)
    case 'reconcile':
      return draftOf(view, recordedResources(view))
    case 'uninstall':
      return draftOf(view, [])
    case 'forget':
      return forgetDraft(view, mode)
    case 'import':
      return importDraft(view, mode)
    case 'refresh':
      return refreshedDraft(draftOf(view, recordedResources(view)), mode)
    default:
      return unreachable(mode)
  }
}

/** In the order of their steps, a replacement where the new one is made; what has no step comes last. */
function actionsOf({ planned, steps: { steps, after } }: Draft): Action[] {
  const actions: Action[] = []
  const listed = new Set<Planned>()
  for (const step of steps) {
    const { planned: one, part } = step
    if (part === 'remove' && one.word === 'replace') continue
    const before = (after.get(step) ?? []).filter(other => listed.has(other.planned))
    actions.push(actionOf(one, [...new Set(before.map(other => other.planned.pair.address))].sort(byName)))
    listed.add(one)
  }
  for (const one of planned.values()) if (one.word === 'none') actions.push(actionOf(one, []))
  return actions
}

function actionOf(planned: Planned, dependsOn: string[]): Action {
  const { pair, word, why, reason, live, comparison } = planned
  const id = word === 'create' ? undefined : (live?.id ?? pair.entry?.id)
  return {
    action: word,
    apiVersion: pair.wanted?.apiVersion ?? pair.entry!.apiVersion,
    kind: pair.kind.kind,
    name: pair.name,
    ...(id !== undefined && { id }),
    displayName: pair.wanted?.displayName ?? live?.displayName ?? recordedName(planned),
    changes: [...(comparison?.changes ?? [])],
    unchangedFields: comparison?.unchanged ?? 0,
    why,
    reason,
    dependsOn,
    destroysData: removesLive(planned) && pair.kind.destroysData,
    ...(pair.movedFrom !== undefined && { movedFrom: pair.movedFrom }),
  }
}

const recordedName = ({ pair }: Planned): string => String(pair.entry?.lastApplied?.name ?? pair.name)

function stackOf({ stack, stackName, noStack }: PlanView): Plan['stack'] {
  if (stack) return { id: stack.id, name: stack.name }
  return noStack ? null : { name: stackName }
}

function countsOf(actions: readonly Action[]): Plan['counts'] {
  const counts = { create: 0, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0, unchanged: 0 }
  for (const { action } of actions) counts[action === 'none' ? 'unchanged' : action]++
  return counts
}

/** Two ways of looking can find the same thing. */
const distinct = (blockers: readonly Problem[]): Problem[] => [
  ...new Map(blockers.map(blocker => [JSON.stringify([blocker.code, blocker.path, blocker.reason]), blocker])).values(),
]
