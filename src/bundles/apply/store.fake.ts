// The store in memory: the same contract as the databases, one transaction at a time. It outlives engines: a restart is a new
// engine over the same one.
import type { Clock } from '../../lib/clock.ts'
import type { Lease, Stack, StackEvent } from '../model/stack.ts'
import type { SavedPlan } from '../request.ts'
import type { HeldLease, JournalStep, OpenJournal, Store, StoreTransaction } from '../store.ts'
import { LostLease, WriteConflict } from '../store.ts'
import type { MemoryPlatform, MemoryState } from './platform.fake.ts'

export interface MemoryStore extends Store {
  /** How many transactions were committed. */
  readonly commits: number
  /** Everything kept, as text: for looking for what must not be in it, and for comparing before with after. */
  dump(): string
}

interface Kept {
  stacks: Map<string, Stack>
  events: Map<string, readonly StackEvent[]>
  committed: Set<string>
}

type Journal = Omit<OpenJournal, 'committed' | 'steps'> & { steps: OpenJournal['steps'][number][] }

const keptEvents = 200
const leaseMs = 30_000

/** `platform`: the shared one, whose writes are part of the transactions here. */
export function memoryStore({ clock, platform }: { clock: Clock; platform?: MemoryPlatform }): MemoryStore {
  let kept: Kept = { stacks: new Map(), events: new Map(), committed: new Set() }
  let commits = 0
  let turn: Promise<unknown> = Promise.resolve()
  const plans = new Map<string, SavedPlan>()
  const leases = new Map<string, Lease & { fence: number; released: boolean }>()
  const journals = new Map<string, Journal>()
  const copy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value

  const ownersIn = ({ stacks }: Kept, except?: string) => {
    const owners = new Map<string, { stack: Stack; kind: string; name: string }>()
    for (const stack of stacks.values())
      if (stack.id !== except) for (const { id, kind, name } of stack.resources) owners.set(id, { stack, kind, name })
    return owners
  }
  const held = (lease: HeldLease) => {
    const current = leases.get(lease.key)
    return current !== undefined && !current.released && current.fence === lease.fence
  }
  const ownedOnce = (draft: Kept, stack: Stack) => {
    const others = ownersIn(draft, stack.id)
    for (const { id, kind } of stack.resources) if (others.has(id)) throw new WriteConflict('owner', { kind, id })
  }

  const begin = (draft: Kept, live: { state: MemoryState | undefined }): StoreTransaction => ({
    assertLease: async lease => {
      if (!held(lease)) throw new LostLease(lease.key)
    },
    write: async writes => {
      if (!platform || !live.state) throw new Error('this store has no shared platform')
      for (const write of writes) platform.perform(live.state, write)
    },
    insertStack: async stack => {
      if (draft.stacks.has(stack.id)) throw new Error(`stack ${stack.id} is there already`)
      ownedOnce(draft, stack)
      draft.stacks.set(stack.id, copy(stack))
    },
    updateStack: async (id, ifRevision, { put = [], drop = [], ...change }) => {
      const stack = draft.stacks.get(id)
      if (stack?.revision !== ifRevision) throw new WriteConflict(stack ? 'revision' : 'gone', null)
      const key = ({ kind, name }: { kind: string; name: string }) => `${kind}/${name}`
      const gone = new Set([...drop, ...put].map(key))
      const resources = [...stack.resources.filter(resource => !gone.has(key(resource))), ...copy(put)]
      const changed = { ...stack, ...copy(change), resources: resources.sort(byKindAndName), revision: ifRevision + 1 }
      if (changed.leftovers?.length === 0) delete changed.leftovers
      ownedOnce(draft, changed)
      draft.stacks.set(id, changed)
    },
    deleteStack: async id => {
      draft.stacks.delete(id)
      draft.events.delete(id)
    },
    addEvent: async (stackId, event) => {
      const before = draft.events.get(stackId) ?? []
      const all = [...before, { ...copy(event), seq: (before.at(-1)?.seq ?? 0) + 1 }]
      draft.events.set(stackId, all.length > keptEvents + 1 ? [all[0]!, ...all.slice(-keptEvents)] : all)
    },
    commitJournal: async id => {
      draft.committed.add(id)
    },
  })

  const store: MemoryStore = {
    get commits() {
      return commits
    },
    dump: () =>
      JSON.stringify({
        stacks: [...kept.stacks.values()],
        events: [...kept.events],
        plans: [...plans.values()],
        journals: [...journals.values()],
        state: platform && { resources: [...platform.state.resources.values()], secrets: [...platform.state.secrets] },
      }),
    stack: async id => copy(kept.stacks.get(id) ?? null),
    stacks: async ({ ids, names, reconciled }, { limit, cursor }) => {
      const any = !ids && !names
      const fitting = [...kept.stacks.values()]
        .filter(({ id, name }) => any || ids?.includes(id) || names?.includes(name))
        .filter(({ config }) => !reconciled || config.reconcile !== undefined)
        .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
        .filter(stack => cursor === undefined || placeOf(stack) > cursor)
      const stacks = fitting.slice(0, limit).map(stack => ({
        ...copy(stack),
        resources: stack.resources.map(({ lastApplied, ...resource }) => copy(resource)),
      }))
      return fitting.length > limit ? { stacks, next: placeOf(stacks.at(-1)!) } : { stacks }
    },
    events: async (stackId, { limit, before = Number.POSITIVE_INFINITY }) =>
      copy((kept.events.get(stackId) ?? []).filter(({ seq }) => seq < before))
        .reverse()
        .slice(0, limit),
    owners: async ids => {
      const owners = ownersIn(kept)
      return new Map(
        ids.flatMap(id => {
          const owner = owners.get(id)
          if (!owner) return []
          return [[id, { stackId: owner.stack.id, stackName: owner.stack.name, kind: owner.kind, name: owner.name }]]
        }),
      )
    },
    transaction: work => {
      const run = async () => {
        const draft: Kept = {
          stacks: new Map(kept.stacks),
          events: new Map(kept.events),
          committed: new Set(kept.committed),
        }
        const state = platform && {
          resources: new Map(platform.state.resources),
          refersTo: new Map(platform.state.refersTo),
          secrets: new Map(platform.state.secrets),
        }
        const result = await work(begin(draft, { state }))
        kept = draft
        if (platform && state) platform.state = state
        commits++
        return result
      }
      const mine = turn.then(run, run)
      turn = mine.catch(() => {})
      return mine
    },
    savePlan: async plan => {
      plans.set(plan.plan.id, copy(plan))
    },
    savedPlan: async id => {
      const saved = plans.get(id)
      return saved && saved.plan.expiresAt > clock.now().toISOString() ? copy(saved) : null
    },
    leases: {
      acquire: async (key, { holder, operation }) => {
        const now = clock.now()
        const current = leases.get(key)
        if (current && !current.released && current.expiresAt > now.toISOString()) return leaseOf(current)
        const fence = (current?.fence ?? 0) + 1
        leases.set(key, {
          holder,
          operation,
          since: now.toISOString(),
          expiresAt: new Date(now.getTime() + leaseMs).toISOString(),
          fence,
          released: false,
        })
        return { key, fence }
      },
      renew: async lease => {
        const current = leases.get(lease.key)
        if (!current || !held(lease)) return false
        leases.set(lease.key, {
          ...current,
          expiresAt: new Date(clock.now().getTime() + leaseMs).toISOString(),
        })
        return true
      },
      release: async lease => {
        const current = leases.get(lease.key)
        if (current && held(lease)) leases.set(lease.key, { ...current, released: true })
      },
      holder: async key => {
        const current = leases.get(key)
        return current && !current.released && current.expiresAt > clock.now().toISOString() ? leaseOf(current) : null
      },
      force: async key => {
        const current = leases.get(key)
        if (!current || current.released) return null
        leases.set(key, { ...current, released: true })
        return current.expiresAt > clock.now().toISOString() ? leaseOf(current) : null
      },
    },
    journals: {
      begin: async journal => {
        journals.set(journal.id, { ...journal, steps: [] })
      },
      intend: async (journalId, step) => {
        journals.get(journalId)!.steps.push({ ...(copy(step) as JournalStep), state: 'intended' })
      },
      done: async (journalId, seq, id, revision) => change(journalId, seq, { state: 'done', id, revision }),
      undone: async (journalId, seq) => change(journalId, seq, { state: 'undone' }),
      end: async journalId => {
        journals.delete(journalId)
      },
      open: async stackId =>
        [...journals.values()]
          .filter(journal => stackId === undefined || journal.stackId === stackId)
          .map(journal => ({
            ...copy(journal),
            steps: copy(journal.steps).sort((a, b) => a.seq - b.seq),
            committed: kept.committed.has(journal.id),
          })),
    },
  }
  const change = (journalId: string, seq: number, to: object) => {
    const { steps } = journals.get(journalId)!
    const place = steps.findIndex(step => step.seq === seq)
    steps[place] = { ...steps[place]!, ...to }
  }
  return store
}

const placeOf = ({ createdAt, id }: Stack): string => `${createdAt} ${id}`

const byKindAndName = (a: { kind: string; name: string }, b: { kind: string; name: string }): number =>
  a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.name < b.name ? -1 : 1

const leaseOf = ({ holder, operation, since, expiresAt }: Lease): Lease => ({ holder, operation, since, expiresAt })
