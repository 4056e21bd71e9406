// What becomes of the record: which entries it takes up, changes and lets go, and whether that is worth an event.
import type { Plan } from '../model/plan.ts'
import type { StackEvent, StackResource } from '../model/stack.ts'
import type { StackChange } from '../store.ts'
import type { Draft } from './draft.ts'
import { acceptedEntry, entryOf, isSameEntry } from './entry.ts'
import type { RecordChange, RecordEvent } from './ordered-writes.ts'
import type { Pair } from './pair.ts'
import { hasWanted, type Planned } from './planned.ts'

interface Carried {
  idOf(pair: Pair): string | undefined
  readonly hasWrites: boolean
}

export function recordChange(plan: Plan, draft: Draft, carried: Carried): RecordChange {
  const { view } = draft.ground
  if (view.noStack) return { change: null, event: null }
  const { put, drop } = entriesOf(draft, carried)
  const type = eventType(draft, { ...carried, hasChanges: put.length + drop.length > 0 })
  const state = stateAfter(draft, type !== null)
  const entries = { ...(put.length > 0 && { put }), ...(drop.length > 0 && { drop }) }
  if (type === null) {
    const change: StackChange = { ...entries, ...state }
    return Object.keys(change).length === 0 ? { change: null, event: null } : { change, event: null }
  }
  const updatedAt = view.now.toISOString()
  const isApply = view.mode.do === 'apply'
  return {
    change: { ...entries, ...state, ...(isApply && { sources: [...view.sources] }), updatedAt },
    event: eventOf(plan, draft, { type, at: updatedAt, idOf: carried.idOf }),
  }
}

function entriesOf(draft: Draft, { idOf }: Carried): { put: StackResource[]; drop: { kind: string; name: string }[] } {
  const put: StackResource[] = []
  const drop: { kind: string; name: string }[] = []
  const rows = rowsByIdentity(draft)
  for (const planned of draft.planned.values()) {
    const { entry } = planned.pair
    if (entry && (planned.word === 'delete' || planned.word === 'forget')) {
      drop.push({ kind: entry.kind, name: entry.name })
      continue
    }
    const next = nextEntry(draft, planned, { id: idOf(planned.pair), ...rows.get(planned.pair.identity) })
    if (!next || (entry && isSameEntry(next, entry))) continue
    put.push(next)
    if (entry && (entry.name !== next.name || entry.kind !== next.kind))
      drop.push({ kind: entry.kind, name: entry.name })
  }
  return { put, drop }
}

/** Null: stays as it is. */
function nextEntry(
  draft: Draft,
  planned: Planned,
  { id, dropped = new Set(), isMoved = false }: { id: string | undefined; dropped?: Set<string>; isMoved?: boolean },
): StackResource | null {
  const { mode, now } = draft.ground.view
  if (mode.do === 'refresh') return mode.accept && planned.why === 'drifted' ? acceptedEntry(draft, planned) : null
  if (id === undefined || !hasWanted(planned) || planned.why === 'skipped') return null
  if (planned.word === 'none' && planned.why === 'drifted') return null
  const isTouched = planned.word !== 'none' || isMoved
  return entryOf(planned, { id, dropped, now: now.toISOString(), isTouched })
}

/** Of the associations from each resource: those that are dropped, and whether any comes or goes. */
function rowsByIdentity({ associations }: Draft) {
  const rows = new Map<string, { dropped: Set<string>; isMoved: boolean }>()
  for (const { row, from } of associations) {
    const { identity } = from.pair
    const own = rows.get(identity) ?? { dropped: new Set<string>(), isMoved: false }
    rows.set(identity, own)
    if (row.action === 'dropped') own.dropped.add(JSON.stringify(row.to))
    if (row.action === 'create' || row.action === 'delete') own.isMoved = true
  }
  return rows
}

/** Null when nothing happened that people want to know of. */
function eventType(
  { planned, ground }: Draft,
  { hasWrites, hasChanges }: { hasWrites: boolean; hasChanges: boolean },
): StackEvent['type'] | null {
  const { mode, stack } = ground.view
  const all = [...planned.values()]
  const happened = hasWrites || all.some(({ word }) => word !== 'none')
  switch (mode.do) {
    case 'uninstall':
      return happened || stack?.state !== 'uninstalled' ? 'uninstall' : null
    case 'refresh':
      return mode.accept && hasChanges ? 'refresh' : null
    case 'forget':
    case 'import':
      return happened ? mode.do : null
    case 'apply':
    case 'reconcile':
      if (happened) return 'apply'
      return all.some(({ why }) => why === 'renamed') ? 'moved' : null
  }
}

/** A stack that is applied is active again; nothing that was left behind counts any more. */
function stateAfter({ ground: { view } }: Draft, hasEvent: boolean): Pick<StackChange, 'state' | 'leftovers'> {
  const { mode, stack } = view
  if (!stack) return {}
  if (mode.do === 'uninstall')
    return stack.state === 'uninstalled' ? {} : { state: 'uninstalled', ...noLeftovers(stack) }
  const applies = mode.do === 'apply' || (mode.do === 'import' && stack.state === 'uninstalled')
  if (!applies || stack.state === 'active' || (stack.state === 'uninstalled' && !hasEvent)) return {}
  return { state: 'active', ...noLeftovers(stack) }
}

const noLeftovers = ({ leftovers }: { leftovers?: unknown }) => (leftovers === undefined ? {} : { leftovers: [] })

function eventOf(
  plan: Plan,
  draft: Draft,
  { type, at, idOf }: { type: StackEvent['type']; at: string; idOf: Carried['idOf'] },
): RecordEvent {
  const { view } = draft.ground
  const changes: RecordEvent['changes'] = []
  for (const { pair, word, why } of draft.planned.values()) {
    if (word === 'none' && why !== 'renamed') continue
    const id = word === 'delete' || word === 'forget' ? pair.entry?.id : idOf(pair)
    const action = word === 'none' ? 'rename' : word
    changes.push({ action, kind: pair.kind.kind, name: pair.name, ...(id !== undefined && { id }) })
  }
  for (const { row } of draft.associations)
    if (row.action === 'create' || row.action === 'delete')
      changes.push({
        action: row.action === 'create' ? 'associate' : 'dissociate',
        kind: row.from.kind,
        name: row.from.name ?? '',
      })
  return {
    type,
    at,
    planId: plan.id,
    ...(view.mode.do === 'apply' && { bundleHash: view.bundle.hash }),
    sources: view.mode.do === 'apply' ? [...view.sources] : [],
    counts: plan.counts,
    changes,
    outcome: outcomeOf(plan.counts),
  }
}

const pastWords = {
  create: 'created',
  adopt: 'adopted',
  update: 'updated',
  replace: 'replaced',
  forget: 'forgotten',
  delete: 'deleted',
} as const

function outcomeOf(counts: Plan['counts']): string {
  const parts = (Object.keys(pastWords) as (keyof typeof pastWords)[])
    .filter(word => counts[word] > 0)
    .map(word => `${counts[word]} ${pastWords[word]}`)
  return parts.length > 0 ? parts.join(', ') : 'no resource changed'
}
