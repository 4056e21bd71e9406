// What moved between the plan that was shown and the one that would be made now. Empty: the plan may be carried out.
import type { Problem } from '../../lib/problem.ts'
import type { Plan } from '../model/plan.ts'
import { addressIn, isReadable, type PlanView } from './view.ts'

/** `fresh` is planStack(view). */
export function whatMoved(
  shown: Pick<Plan, 'id' | 'basis' | 'expiresAt'>,
  fresh: Pick<Plan, 'id' | 'basis'>,
  view: PlanView,
): readonly Problem[] {
  const [before, now] = [shown.basis, fresh.basis]
  const moved: Problem[] = []
  if (view.now.getTime() >= Date.parse(shown.expiresAt))
    moved.push(stale('expiresAt', `the plan expired at ${shown.expiresAt}`))
  if (before.stackRevision !== now.stackRevision)
    moved.push(
      stale(
        `stack/${view.stack?.name ?? view.stackName}`,
        `the stack was at revision ${before.stackRevision} and is at ${now.stackRevision}`,
      ),
    )
  if (before.bundleHash !== now.bundleHash) moved.push(stale('bundle', 'the bundle is another one'))
  if (before.settingsHash !== now.settingsHash)
    moved.push(stale('settings', 'env values, secrets, skip or adopt are not those of the plan'))
  moved.push(...movedResources(before.liveRevisions, now.liveRevisions, view))
  if (moved.length === 0 && shown.id !== fresh.id)
    moved.push(stale('plan', 'who owns or refers to a resource of the plan is not as it was'))
  return moved
}

function movedResources(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
  view: PlanView,
): Problem[] {
  const recorded = new Map((view.stack?.resources ?? []).map(entry => [entry.id, addressIn(view, entry)]))
  const nameOf = (id: string): string => {
    const live = view.live.get(id)
    return recorded.get(id) ?? (isReadable(live) ? `${live.kind} "${live.displayName}"` : id)
  }
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].sort().flatMap(id => {
    if (before[id] === now[id]) return []
    if (before[id] === undefined) return [stale(nameOf(id), 'was not there when the plan was made')]
    if (now[id] === undefined) return [stale(nameOf(id), 'is gone or cannot be read any more')]
    return [stale(nameOf(id), `was changed since: revision ${before[id]} is ${now[id]} now`)]
  })
}

const stale = (path: string, reason: string): Problem => ({
  code: 'plan.stale',
  path,
  reason,
  hint: 'Plan again and look at what is different.',
})
