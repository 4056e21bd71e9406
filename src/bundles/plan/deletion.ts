// What leaves the bundle: deleted, kept or protected by the policy that was recorded. And what stops or slows a delete:
// referrers that stay, and the two confirmations.
import type { Problem } from '../../lib/problem.ts'
import type { Confirmation } from '../model/plan.ts'
import type { StackResource } from '../model/stack.ts'
import type { Ground, Pair } from './pair.ts'
import type { Planned } from './planned.ts'
import { resourceProtected, resourceReferenced, unreadable } from './problems.ts'
import { deleteReason } from './reasons.ts'
import { isReadable } from './view.ts'

/** Adopted resources stay unless the bundle said otherwise. */
const policyOf = ({ lifecycle, adopted }: Pick<StackResource, 'lifecycle' | 'adopted'>) =>
  lifecycle.onRemove ?? (adopted ? 'retain' : 'delete')

export function planLeaving({ view }: Ground, pair: Pair, blockers: Problem[]): Planned {
  const entry = pair.entry!
  const policy = policyOf(entry)
  const live = view.live.get(entry.id)
  if (policy === 'retain') {
    const reason = entry.adopted ? 'was there before the stack; stays as it is' : 'stays as it is (onRemove: retain)'
    return { pair, word: 'forget', why: live ? 'retained' : 'already gone', reason, live: null, comparison: null }
  }
  if (!live) {
    const reason = 'is gone already; only the record changes'
    return { pair, word: 'delete', why: 'already gone', reason, live: null, comparison: null }
  }
  if (!isReadable(live)) {
    blockers.push(unreadable(pair, live))
    return { pair, word: 'none', why: 'skipped', reason: 'could not be read', live: null, comparison: null }
  }
  if (policy === 'protect') blockers.push(resourceProtected(pair, 'delete'))
  const why = view.mode.do === 'uninstall' ? 'uninstall' : 'no longer in the bundle'
  return { pair, word: 'delete', why, reason: deleteReason(view, pair.kind), live, comparison: null }
}

/** `refersAfter`: the ids that a resource of the plan refers to when the plan is carried out. */
export function referencedBlockers(
  ground: Ground,
  planned: ReadonlyMap<string, Planned>,
  refersAfter: (planned: Planned) => ReadonlySet<string>,
): Problem[] {
  const blockers: Problem[] = []
  for (const one of planned.values()) {
    if (!removesLive(one)) continue
    const staying = (ground.view.referrers.get(one.live.id) ?? []).filter(({ id }) => {
      const own = ground.byId.get(id)
      const referrer = own && planned.get(own.identity)
      return !referrer || !(removesLive(referrer) || isWritten(referrer)) || refersAfter(referrer).has(one.live.id)
    })
    if (staying.length > 0) blockers.push(resourceReferenced(one.pair, staying))
  }
  return blockers
}

/** Its live resource goes: deleted, or replaced by another. */
export const removesLive = (planned: Planned): planned is Planned & { live: NonNullable<Planned['live']> } =>
  (planned.word === 'delete' || planned.word === 'replace') && planned.live !== null

const isWritten = ({ word }: Planned): boolean => word === 'update' || word === 'adopt'

const manyDeletes = 10

export function confirmationsFor(ground: Ground, planned: readonly Planned[]): Confirmation[] {
  const deletes = planned.filter(({ word }) => word === 'delete')
  const real = deletes.filter(removesLive).length
  const entries = ground.view.stack?.resources.length ?? 0
  const isMass = real > 0 && (deletes.length === entries || (real >= manyDeletes && real > entries / 2))
  const losesData = planned.some(one => removesLive(one) && one.pair.kind.destroysData)
  return [...(isMass ? (['massDelete'] as const) : []), ...(losesData ? (['dataLoss'] as const) : [])]
}

/** Also for a replace: what is deleted there is gone as well. */
export const isProtected = ({ entry, wanted }: Pair): boolean =>
  entry?.lifecycle.onRemove === 'protect' || wanted?.lifecycle.onRemove === 'protect'
