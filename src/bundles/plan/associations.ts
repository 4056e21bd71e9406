// Associations have rows of their own. Those that the stack never recorded and the bundle does not name are left alone.
import { byName } from '../../lib/by-name.ts'
import { fieldPath } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import { identityOf, type Target } from '../model/bundle.ts'
import type { AssociationAction } from '../model/plan.ts'
import type { LiveId } from '../platform.ts'
import { type Ground, liveOf, type Pair, referredBy } from './pair.ts'
import { isFresh, type Planned } from './planned.ts'
import { referenceUnresolved } from './problems.ts'
import { nameKey } from './view.ts'

export interface PlannedAssociation {
  readonly row: AssociationAction
  readonly from: Planned
  readonly to: End
}

/** A resource of the plan, or a live one beside it. */
type End = { readonly own: Pair } | { readonly live: LiveId }

export function planAssociations(
  ground: Ground,
  planned: ReadonlyMap<string, Planned>,
  blockers: Problem[],
): PlannedAssociation[] {
  const rows: PlannedAssociation[] = []
  for (const from of planned.values()) {
    const { pair } = from
    if (pair.skipped || from.why === 'skipped') continue
    if (pair.wanted && !leavesAlone(from)) rows.push(...wantedRows(ground, planned, from, blockers))
    else if (from.word === 'delete' && from.live)
      for (const { target, end } of recordedEnds(ground, pair))
        if (isAssociated(from, end)) rows.push(rowOf(from, target, end, 'delete', 'removed'))
  }
  return rows.sort(
    ({ row: a }, { row: b }) =>
      byName(a.from.kind, b.from.kind) ||
      byName(a.from.name!, b.from.name!) ||
      byName(a.to.kind, b.to.kind) ||
      byName(nameOf(a.to), nameOf(b.to)),
  )
}

/** `lifecycle.ignore` of the associations as a whole: set when it is made, then nobody's. */
export const leavesAlone = ({ pair, word }: Pick<Planned, 'pair' | 'word'>): boolean =>
  !isFresh({ word }) && (pair.wanted?.lifecycle.ignore ?? []).includes('spec.associations')

function wantedRows(
  ground: Ground,
  planned: ReadonlyMap<string, Planned>,
  from: Planned,
  blockers: Problem[],
): PlannedAssociation[] {
  const rows: PlannedAssociation[] = []
  const recorded = recordedEnds(ground, from.pair)
  const recordedKeys = new Set(recorded.map(({ end }) => keyOf(ground, end)))
  const wantedKeys = new Set<string>()
  for (const [index, target] of (from.pair.wanted?.associations ?? []).entries()) {
    const referred = referredBy(ground, target)
    if (referred.is === 'not understood') continue
    if (referred.is === 'absent' || referred.is === 'ambiguous') {
      const among = referred.is === 'absent' ? [] : referred.among
      blockers.push(referenceUnresolved(from.pair, { path: fieldPath('spec.associations', index), target }, among))
      continue
    }
    const end: End = referred.is === 'own' ? { own: referred.pair } : { live: referred.live }
    wantedKeys.add(keyOf(ground, end))
    const to = 'own' in end ? planned.get(end.own.identity) : undefined
    if ('own' in end && isSkippedAway(ground, end.own)) rows.push(rowOf(from, target, end, 'dropped', 'skipped'))
    else if (!isFresh(from) && !(to && isFresh(to)) && isAssociated(from, endIdOf(ground, end)))
      rows.push(rowOf(from, target, end, 'none', 'equal'))
    else {
      const drifted = recordedKeys.has(keyOf(ground, end)) && from.word !== 'replace' && to?.word !== 'replace'
      rows.push(rowOf(from, target, end, 'create', drifted ? 'drift' : 'bundle'))
    }
  }
  if (!isFresh(from))
    for (const { target, end } of recorded) {
      if (wantedKeys.has(keyOf(ground, end)) || !isAssociated(from, end)) continue
      const gone = ground.byId.get(end.live.id)
      const isRemoved = gone !== undefined && planned.get(gone.identity)?.word === 'delete'
      rows.push(rowOf(from, target, end, 'delete', isRemoved ? 'removed' : 'bundle'))
    }
  return rows
}

const rowOf = (
  from: Planned,
  to: Target,
  end: End,
  action: AssociationAction['action'],
  why: AssociationAction['why'],
): PlannedAssociation => ({
  row: { action, from: { kind: from.pair.kind.kind, name: from.pair.name }, to, why },
  from,
  to: end,
})

/** Skipped, and not there. */
export const isSkippedAway = (ground: Ground, pair: Pair): boolean => pair.skipped && liveOf(ground, pair) === null

/** What the record says it is associated with, as far as that can still be told. */
function recordedEnds({ view, recorded }: Ground, { entry }: Pair): { target: Target; end: { live: LiveId } }[] {
  return (entry?.associations ?? []).flatMap(({ kind, name, external }) => {
    const target: Target = name === undefined ? { kind, external: external ?? '' } : { kind, name }
    const known = view.kinds.get(kind)
    const id = name !== undefined && known ? recorded.get(identityOf({ kind: known, name })) : undefined
    const ids =
      name === undefined ? (view.found.get(nameKey(kind, external ?? '')) ?? []).map(live => live.id) : id ? [id] : []
    return ids.map(id => ({ target, end: { live: { kind, id } } }))
  })
}

/** The same for the two ways in which one end can be known. */
function keyOf(ground: Ground, end: End): string {
  if ('own' in end) return end.own.identity
  return ground.byId.get(end.live.id)?.identity ?? end.live.id
}

const endIdOf = (ground: Ground, end: End): { live: LiveId } | null => {
  if ('live' in end) return end
  const live = liveOf(ground, end.own)
  return live && { live }
}

const isAssociated = ({ live }: Planned, end: { live: LiveId } | null): boolean =>
  end !== null && (live?.associations ?? []).some(({ id }) => id === end.live.id)

const nameOf = ({ name, external }: { name?: string | undefined; external?: string | undefined }): string =>
  name ?? external ?? ''
