// What carrying out a plan comes to. Deterministic but for the new ids; `plan` is planStack(view) of the same view.
// Order: secrets, associations that go, resources as the graph says, associations that come.
import type { Plan } from '../model/plan.ts'
import type { LiveId, Write } from '../platform.ts'
import type { PlannedAssociation } from './associations.ts'
import type { Draft } from './draft.ts'
import type { OrderedWrites, PlannedWrite, WriteAction } from './ordered-writes.ts'
import { liveOf, type Pair } from './pair.ts'
import { draftFor } from './plan.ts'
import { hasWanted, isFresh } from './planned.ts'
import { recordChange } from './record.ts'
import type { Step } from './steps.ts'
import { addressIn, type PlanView } from './view.ts'
import { writtenResource } from './written.ts'

export function writesOf(plan: Plan, view: PlanView, newId: () => string): OrderedWrites {
  const draft = draftFor(view)
  const fresh = new Map<string, string>()
  for (const { planned, part } of draft.steps.steps)
    if (part === 'make' && isFresh(planned)) fresh.set(planned.pair.identity, newId())
  const idOf: IdOf = pair => fresh.get(pair.identity) ?? liveOf(draft.ground, pair)?.id ?? pair.entry?.id

  const list = writeList()
  const secrets = putSecrets(draft, list)
  const dissociated = dissociate(draft, list)
  const made = writeResources(draft, list, { idOf, secrets, dissociated })
  associate(draft, list, { idOf, made })
  const hasWrites = list.platforms.size > 0
  return { platforms: list.platforms, record: recordChange(plan, draft, { idOf, hasWrites }) }
}

type IdOf = (pair: Pair) => string | undefined

interface WriteList {
  readonly platforms: ReadonlyMap<string, readonly PlannedWrite[]>
  /** Returns the number that it got. */
  add(platform: string, write: Omit<PlannedWrite, 'seq'>): number
}

function writeList(): WriteList {
  const platforms = new Map<string, PlannedWrite[]>()
  let seq = 0
  return {
    platforms,
    add: (platform, write) => {
      const planned = { seq: ++seq, ...write }
      const others = platforms.get(platform)
      if (others) others.push(planned)
      else platforms.set(platform, [planned])
      return seq
    },
  }
}

/** By platform and key: the number of the write. */
function putSecrets({ secrets, ground: { view } }: Draft, list: WriteList): ReadonlyMap<string, number> {
  const seqs = new Map<string, number>()
  for (const { platform, key } of secrets.puts) {
    const value = view.secrets.values.get(key)
    if (!value) continue
    const write = { do: 'put-secret', key, value } as const
    seqs.set(`${platform} ${key}`, list.add(platform, { action: 'secret', resource: key, write, after: [] }))
  }
  return seqs
}

/** By id of either end: the numbers of the writes. */
function dissociate(draft: Draft, list: WriteList): ReadonlyMap<string, readonly number[]> {
  const seqs = new Map<string, number[]>()
  for (const association of draft.associations) {
    const { live } = association.from
    if (association.row.action !== 'delete' || !live || !('live' in association.to)) continue
    const [from, to] = [{ kind: live.kind, id: live.id }, liveId(association.to.live)]
    const seq = addAssociation(draft, list, association, { do: 'dissociate', from, to }, [])
    for (const { id } of [from, to]) {
      const others = seqs.get(id)
      if (others) others.push(seq)
      else seqs.set(id, [seq])
    }
  }
  return seqs
}

/** By step: the number of its write, or of those that it waits for when it has none. */
function writeResources(
  draft: Draft,
  list: WriteList,
  before: {
    idOf: IdOf
    secrets: ReadonlyMap<string, number>
    dissociated: ReadonlyMap<string, readonly number[]>
  },
): ReadonlyMap<Pair, readonly number[]> {
  const seqs = new Map<Step, readonly number[]>()
  const made = new Map<Pair, readonly number[]>()
  for (const step of draft.steps.steps) {
    const { pair } = step.planned
    const platform = platformOf(draft, pair.kind.kind)
    const after = (draft.steps.after.get(step) ?? []).flatMap(other => seqs.get(other) ?? [])
    const write = writeOf(draft, step, before.idOf)
    if (write?.do === 'remove') after.push(...(before.dissociated.get(write.id) ?? []))
    else if (write)
      for (const key of pair.wanted?.secretKeys ?? []) after.push(before.secrets.get(`${platform} ${key}`) ?? 0)
    const waits = [...new Set(after)].filter(seq => seq > 0).sort((a, b) => a - b)
    const own = write && [list.add(platform, { action: wordOf(write), resource: pair.address, write, after: waits })]
    seqs.set(step, own ?? waits)
    if (step.part === 'make') made.set(pair, own ?? waits)
  }
  return made
}

function writeOf(draft: Draft, { planned, part }: Step, idOf: IdOf): ResourceWrite | null {
  const { pair, live, comparison } = planned
  if (part === 'release') return null
  if (part === 'remove') return live && { do: 'remove', ...liveId(live), ifRevision: live.revision }
  if (!hasWanted(planned)) return null
  const { apiVersion } = planned.pair.wanted
  const kind = pair.kind.kind
  if (isFresh(planned))
    return { do: 'create', kind, id: idOf(pair)!, apiVersion, ...writtenResource(draft, planned, idOf) }
  if (!live || comparison?.changes.length === 0) return null
  return {
    do: 'update',
    kind,
    id: live.id,
    ifRevision: live.revision,
    apiVersion,
    ...writtenResource(draft, planned, idOf),
  }
}

type ResourceWrite = Extract<Write, { do: 'create' | 'update' | 'remove' }>

const wordOf = (write: ResourceWrite): WriteAction => (write.do === 'remove' ? 'delete' : write.do)

function associate(
  draft: Draft,
  list: WriteList,
  { idOf, made }: { idOf: IdOf; made: ReadonlyMap<Pair, readonly number[]> },
): void {
  for (const association of draft.associations) {
    if (association.row.action !== 'create') continue
    const { pair } = association.from
    const own = 'own' in association.to ? association.to.own : null
    const to = 'live' in association.to ? liveId(association.to.live) : { kind: own!.kind.kind, id: idOf(own!) ?? '' }
    const from = { kind: pair.kind.kind, id: idOf(pair) ?? '' }
    const after = [...(made.get(pair) ?? []), ...(own ? (made.get(own) ?? []) : [])]
    addAssociation(draft, list, association, { do: 'associate', from, to }, after)
  }
}

function addAssociation(
  draft: Draft,
  list: WriteList,
  { from, row }: PlannedAssociation,
  write: Extract<Write, { do: 'associate' | 'dissociate' }>,
  after: readonly number[],
): number {
  const to = addressIn(draft.ground.view, { kind: row.to.kind, name: row.to.name ?? row.to.external ?? '' })
  const platform = platformOf(draft, from.pair.kind.kind)
  return list.add(platform, { action: write.do, resource: `${from.pair.address} → ${to}`, write, after })
}

const platformOf = ({ ground }: Draft, kind: string): string => ground.view.platformOf.get(kind) ?? ''

const liveId = ({ kind, id }: LiveId): LiveId => ({ kind, id })
