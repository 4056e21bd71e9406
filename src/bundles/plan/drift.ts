// What changed outside since the last apply: shown apart and first.
import type { Change, Plan } from '../model/plan.ts'
import type { Planned } from './planned.ts'

export function driftOf(planned: Iterable<Planned>): Plan['drift'] {
  const drift: Plan['drift'] = []
  for (const { pair, why, comparison } of planned) {
    if (!pair.wanted || !pair.entry) continue
    const { kind, name } = { kind: pair.kind.kind, name: pair.name }
    if (why === 'deleted outside') drift.push({ kind, name, gone: true, changes: [] })
    const changes = (comparison?.changes ?? []).filter(change => change.why === 'drift' || change.why === 'both')
    if (changes.length > 0) drift.push({ kind, name, gone: false, changes: changes.map(asItHappened) })
  }
  return drift
}

/** From what was applied last to what is live: the way it went, not the way back. */
function asItHappened({ path, old: live, new: wanted, last, why }: Change): Change {
  const before = why === 'both' ? last : wanted
  return { path, ...(before !== undefined && { old: before }), ...(live !== undefined && { new: live }), why }
}
