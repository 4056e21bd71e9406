// The contract of a Store, run over memory, SQLite and PostgreSQL. Kinds are those of validate/kinds.fake.ts.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import { makeId } from '../../lib/id.ts'
import type { Stack, StackEvent, StackResource } from '../model/stack.ts'
import type { Platform, Write } from '../platform.ts'
import type { SavedPlan } from '../request.ts'
import { type HeldLease, LostLease, type Store, WriteConflict } from '../store.ts'
import { type MovableClock, movableClock } from './clock.fake.ts'

export interface StoreUnderTest {
  readonly store: Store
  /** The one whose writes are part of the transactions. */
  readonly platform: Platform
  close(): Promise<void>
}

/** `open` gives an empty store that lives by this clock. */
export function storeSuite(title: string, open: (clock: Clock) => Promise<StoreUnderTest>) {
  describe(`${title} as a store`, () => {
    let clock: MovableClock
    let opened: StoreUnderTest
    let store: Store
    beforeEach(async () => {
      clock = movableClock()
      opened = await open(clock)
      store = opened.store
    })
    afterEach(() => opened.close())

    const newId = () => makeId(clock.now(), randomBytes)
    const insert = async (given: Partial<Stack> = {}) => {
      const stack = aStack({ id: newId(), createdAt: clock.now().toISOString(), ...given })
      await store.transaction(tx => tx.insertStack(stack))
      return stack
    }
    const acquire = async (key: string, holder = 'ann'): Promise<HeldLease> => {
      const lease = await store.leases.acquire(key, { holder, operation: 'apply' })
      if (!('fence' in lease)) throw new Error('expected to get the lease')
      return lease
    }

    describe('stacks', () => {
      it('gives back a stack as it was put in', async () => {
        const stack = await insert({ name: 'web', resources: [aResource({ name: 'a' }), aResource({ name: 'b' })] })
        expect(await store.stack(stack.id)).toEqual(stack)
        expect(await store.stack('nobody')).toBeNull()
      })

      it('changes the fields given and no others, and counts', async () => {
        const stack = await insert({ resources: [aResource({ name: 'a' }), aResource({ name: 'b' })] })
        const put = [aResource({ name: 'b', associations: [{ kind: 'Mark', name: 'm' }] }), aResource({ name: 'c' })]
        await store.transaction(tx =>
          tx.updateStack(stack.id, 1, { description: 'new', put, drop: [{ kind: 'Disk', name: 'a' }] }),
        )
        expect(await store.stack(stack.id)).toEqual({ ...stack, description: 'new', revision: 2, resources: put })
      })

      it('moves updatedAt, state and leftovers when they are given, and lets go of leftovers', async () => {
        const stack = await insert()
        const updatedAt = clock.now().toISOString()
        const leftovers = [{ code: 'rollback.conflict' as const, path: 'Disk/a', reason: 'somebody changed it' }]
        await store.transaction(tx => tx.updateStack(stack.id, 1, { updatedAt, state: 'degraded', leftovers }))
        expect(await store.stack(stack.id)).toEqual({ ...stack, updatedAt, state: 'degraded', leftovers, revision: 2 })
        await store.transaction(tx => tx.updateStack(stack.id, 2, { state: 'active', leftovers: [] }))
        const { leftovers: none = [], ...rest } = (await store.stack(stack.id))!
        expect({ rest, none }).toEqual({ rest: { ...stack, updatedAt, revision: 3 }, none: [] })
      })

      it('refuses a change that rests on another revision, and on a stack that is gone', async () => {
        const stack = await insert()
        await expect(store.transaction(tx => tx.updateStack(stack.id, 7, { name: 'x' }))).rejects.toThrow(WriteConflict)
        await expect(store.transaction(tx => tx.updateStack('nobody', 1, {}))).rejects.toThrow(WriteConflict)
        expect(await store.stack(stack.id)).toEqual(stack)
      })

      it('lets one of two changes at once win', async () => {
        const stack = await insert()
        const change = (description: string) =>
          store
            .transaction(tx => tx.updateStack(stack.id, 1, { description }))
            .then(
              () => 'changed',
              error => (error instanceof WriteConflict ? 'refused' : String(error)),
            )
        expect((await Promise.all([change('one'), change('two')])).sort()).toEqual(['changed', 'refused'])
        expect((await store.stack(stack.id))?.revision).toBe(2)
      })

      it('keeps nothing of a transaction that throws', async () => {
        const stack = await insert()
        const write: Write = aMark(newId(), 'edge')
        await expect(
          store.transaction(async tx => {
            await tx.write([write])
            await tx.insertStack(aStack({ id: newId() }))
            await tx.updateStack(stack.id, 1, { name: 'other', put: [aResource({ name: 'a' })] })
            await tx.addEvent(stack.id, anEvent())
            throw new Error('on purpose')
          }),
        ).rejects.toThrow('on purpose')
        expect(await store.stacks({}, { limit: 10 })).toEqual({ stacks: [stack] })
        expect(await store.events(stack.id, { limit: 10 })).toEqual([])
        expect(await opened.platform.find([{ kind: 'Mark', displayName: 'edge' }])).toEqual([])
      })

      it('lists by creation, without what was applied last, and in pages', async () => {
        const stacks: Stack[] = []
        for (const name of ['c', 'a', 'b', 'a'])
          stacks.push(await insert({ name, resources: [aResource({ name: 'x', id: newId() })] }))
        const short = stacks.map(stack => ({
          ...stack,
          resources: stack.resources.map(({ lastApplied, ...resource }) => resource),
        }))
        expect((await store.stacks({}, { limit: 10 })).stacks).toEqual(short)
        const first = await store.stacks({}, { limit: 3 })
        const second = await store.stacks({}, { limit: 3, cursor: first.next! })
        expect([...first.stacks, ...second.stacks]).toEqual(short)
        expect(second.next).toBeUndefined()
      })

      it('finds by id or name, any of them, and those that are reconciled', async () => {
        const a = await insert({ name: 'a' })
        const b = await insert({ name: 'b', config: { urls: ['https://example.org/b.yaml'], reconcile: '1h' } })
        const c = await insert({ name: 'c' })
        const ids = async (filter: Parameters<Store['stacks']>[0]) =>
          (await store.stacks(filter, { limit: 10 })).stacks.map(({ id }) => id)
        expect(await ids({ names: ['a'], ids: [c.id] })).toEqual([a.id, c.id])
        expect(await ids({ names: ['a', 'b'] })).toEqual([a.id, b.id])
        expect(await ids({ ids: [] })).toEqual([])
        expect(await ids({ reconciled: true })).toEqual([b.id])
      })

      it('takes events and ownership along when it deletes a stack, and deleting an unknown one is nothing', async () => {
        const resource = aResource({ name: 'a', id: newId() })
        const stack = await insert({ resources: [resource] })
        await store.transaction(tx => tx.addEvent(stack.id, anEvent()))
        await store.transaction(tx => tx.deleteStack(stack.id))
        await store.transaction(tx => tx.deleteStack(stack.id))
        expect(await store.stack(stack.id)).toBeNull()
        expect(await store.events(stack.id, { limit: 10 })).toEqual([])
        expect(await store.owners([resource.id])).toEqual(new Map())
      })
    })

    describe('ownership', () => {
      it('names the owner', async () => {
        const resource = aResource({ name: 'a', id: newId() })
        const stack = await insert({ name: 'web', resources: [resource] })
        expect(await store.owners([resource.id, 'nobody'])).toEqual(
          new Map([[resource.id, { stackId: stack.id, stackName: 'web', kind: 'Disk', name: 'a' }]]),
        )
      })

      it('lets no second stack own a resource, neither at insert nor later', async () => {
        const resource = aResource({ name: 'a', id: newId() })
        await insert({ resources: [resource] })
        const other = await insert()
        const conflict = await store
          .transaction(tx => tx.updateStack(other.id, 1, { put: [resource] }))
          .catch((error: unknown) => error)
        expect(conflict).toBeInstanceOf(WriteConflict)
        expect(conflict).toMatchObject({ reason: 'owner' })
        await expect(insert({ resources: [resource] })).rejects.toMatchObject({ reason: 'owner' })
      })

      it('hands a resource over in one transaction, and renames it within a stack', async () => {
        const resource = aResource({ name: 'a', id: newId() })
        const from = await insert({ resources: [resource] })
        const to = await insert()
        await store.transaction(async tx => {
          await tx.updateStack(from.id, 1, { drop: [{ kind: 'Disk', name: 'a' }] })
          await tx.updateStack(to.id, 1, { put: [resource] })
        })
        expect((await store.owners([resource.id])).get(resource.id)?.stackId).toBe(to.id)
        const renamed = { ...resource, name: 'b' }
        await store.transaction(tx => tx.updateStack(to.id, 2, { drop: [{ kind: 'Disk', name: 'a' }], put: [renamed] }))
        expect((await store.stack(to.id))?.resources).toEqual([renamed])
      })
    })

    describe('events', () => {
      it('numbers them and gives the newest first, in pages', async () => {
        const stack = await insert()
        for (const outcome of ['one', 'two', 'three'])
          await store.transaction(tx => tx.addEvent(stack.id, anEvent({ outcome })))
        const seen = await store.events(stack.id, { limit: 2 })
        expect(seen.map(({ seq, outcome }) => [seq, outcome])).toEqual([
          [3, 'three'],
          [2, 'two'],
        ])
        expect(await store.events(stack.id, { limit: 2, before: 2 })).toEqual([anEvent({ seq: 1, outcome: 'one' })])
      })

      it('keeps the first and the newest 200', async () => {
        const stack = await insert()
        await store.transaction(async tx => {
          for (let count = 1; count <= 205; count++) await tx.addEvent(stack.id, anEvent())
        })
        await store.transaction(tx => tx.addEvent(stack.id, anEvent()))
        const seqs = (await store.events(stack.id, { limit: 1000 })).map(({ seq }) => seq)
        expect(seqs).toEqual([...Array.from({ length: 200 }, (_, index) => 206 - index), 1])
      })
    })

    describe('saved plans', () => {
      it('gives one back until it has expired', async () => {
        const plan = aSavedPlan('plan-1', new Date(clock.now().getTime() + 3_600_000).toISOString())
        await store.savePlan(plan)
        await store.savePlan(plan)
        expect(await store.savedPlan('plan-1')).toEqual(plan)
        expect(await store.savedPlan('plan-2')).toBeNull()
        clock.advance(3_600_001)
        expect(await store.savedPlan('plan-1')).toBeNull()
      })
    })

    describe('leases', () => {
      it('gives a lease to one and tells the second who has it', async () => {
        await acquire('stack-1')
        const second = await store.leases.acquire('stack-1', { holder: 'bob', operation: 'uninstall' })
        expect(second).toMatchObject({ holder: 'ann', operation: 'apply' })
        expect(await store.leases.holder('stack-1')).toEqual(second)
        await acquire('stack-2', 'bob')
      })

      it('gives it to one of many that ask at once', async () => {
        const all = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            store.leases.acquire('stack-1', { holder: `h${index}`, operation: 'apply' }),
          ),
        )
        expect(all.filter(lease => 'fence' in lease)).toHaveLength(1)
      })

      it('is free again after release', async () => {
        const lease = await acquire('stack-1')
        await store.leases.release(lease)
        expect(await store.leases.holder('stack-1')).toBeNull()
        expect((await acquire('stack-1', 'bob')).fence).toBeGreaterThan(lease.fence)
      })

      it('lives for at least fifteen seconds and at most a minute, and longer when it is renewed', async () => {
        const lease = await acquire('stack-1')
        clock.advance(14_000)
        expect(await store.leases.renew(lease)).toBe(true)
        clock.advance(14_000)
        expect(await store.leases.holder('stack-1')).toMatchObject({ holder: 'ann' })
        clock.advance(60_001)
        expect(await store.leases.holder('stack-1')).toBeNull()
      })

      it('fences off a holder whose lease another has taken since', async () => {
        const stack = await insert()
        const old = await acquire(stack.id)
        clock.advance(60_001)
        const young = await acquire(stack.id, 'bob')
        expect(await store.leases.renew(old)).toBe(false)
        await expect(
          store.transaction(async tx => {
            await tx.assertLease(old)
            await tx.updateStack(stack.id, 1, { name: 'late' })
          }),
        ).rejects.toThrow(LostLease)
        await store.leases.release(old)
        expect(await store.leases.holder(stack.id)).toMatchObject({ holder: 'bob' })
        await store.transaction(tx => tx.assertLease(young))
      })

      it('takes a lease away by force', async () => {
        const lease = await acquire('stack-1')
        expect(await store.leases.force('stack-1')).toMatchObject({ holder: 'ann' })
        expect(await store.leases.force('stack-1')).toBeNull()
        expect(await store.leases.renew(lease)).toBe(false)
        await expect(store.transaction(tx => tx.assertLease(lease))).rejects.toThrow(LostLease)
        expect((await acquire('stack-1', 'bob')).fence).toBeGreaterThan(lease.fence)
      })
    })

    describe('journals', () => {
      const step = (seq: number) => ({
        seq,
        platform: 'far',
        write: { do: 'remove', kind: 'Mark', id: `m${seq}` } as const,
        before: { what: 'association', was: true } as const,
      })

      it('keeps what is intended, done and undone until the end', async () => {
        await store.journals.begin({ id: 'j1', stackId: 's1', planId: 'p1', by: 'ann' })
        await store.journals.intend('j1', step(1))
        await store.journals.intend('j1', step(2))
        await store.journals.done('j1', 2, 'm2', 4)
        await store.journals.intend('j1', step(3))
        await store.journals.done('j1', 3, 'm3', 1)
        await store.journals.undone('j1', 3)
        expect(await store.journals.open()).toMatchObject([
          {
            id: 'j1',
            stackId: 's1',
            planId: 'p1',
            by: 'ann',
            committed: false,
            steps: [
              { ...step(1), state: 'intended' },
              { ...step(2), state: 'done', id: 'm2', revision: 4 },
              { ...step(3), state: 'undone' },
            ],
          },
        ])
        await store.journals.end('j1')
        expect(await store.journals.open()).toEqual([])
      })

      it('is asked for by stack, oldest first, and has journals of no stack', async () => {
        for (const [id, stackId] of [
          ['j1', 's1'],
          ['j0', null],
          ['j2', 's1'],
        ] as const)
          await store.journals.begin({ id, stackId, planId: 'p', by: 'ann' })
        expect((await store.journals.open('s1')).map(({ id }) => id)).toEqual(['j1', 'j2'])
        expect((await store.journals.open()).map(({ id }) => id)).toEqual(['j1', 'j0', 'j2'])
      })

      it('is committed together with its transaction or not at all', async () => {
        const stack = await insert()
        await store.journals.begin({ id: 'j1', stackId: stack.id, planId: 'p', by: 'ann' })
        const commit = (fail: boolean) =>
          store.transaction(async tx => {
            await tx.commitJournal('j1')
            if (fail) throw new Error('on purpose')
          })
        await expect(commit(true)).rejects.toThrow('on purpose')
        expect(await store.journals.open()).toMatchObject([{ committed: false }])
        await commit(false)
        expect(await store.journals.open()).toMatchObject([{ committed: true }])
      })
    })
  })
}

function aStack(given: Partial<Stack> & { id: string }): Stack {
  const createdAt = given.createdAt ?? '2026-01-01T00:00:00.000Z'
  return {
    name: 'stack',
    description: '',
    createdAt,
    updatedAt: createdAt,
    revision: 1,
    state: 'active',
    config: { urls: [] },
    resources: [],
    sources: [],
    ...given,
  }
}

function aResource(given: Partial<StackResource> & { name: string }): StackResource {
  return {
    apiVersion: 'cairn.dev/v1',
    kind: 'Disk',
    id: `id-${given.name}`,
    associations: [],
    lifecycle: { onRemove: 'retain', ignore: ['spec.size'] },
    adopted: false,
    lastApplied: { name: given.name, size: '10GiB', format: 'raw' },
    envRefs: [{ path: 'spec.size', key: 'size', value: '10GiB', default: '1GiB' }],
    appliedAt: '2026-01-01T00:00:00.000Z',
    ...given,
  }
}

const anEvent = <Given extends Partial<StackEvent>>(given?: Given) => ({
  type: 'apply' as const,
  at: '2026-01-01T00:00:00.000Z',
  by: 'ann',
  planId: 'p1',
  bundleHash: 'b1',
  sources: ['web.yaml'],
  counts: { create: 1, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0, unchanged: 0 },
  changes: [{ action: 'create', kind: 'Disk', name: 'a', id: 'id-a' }],
  outcome: 'applied',
  ...given,
})

const aMark = (id: string, displayName: string): Write => ({
  do: 'create',
  kind: 'Mark',
  id,
  apiVersion: 'cairn.dev/v1',
  displayName,
  spec: {},
  refersTo: [],
})

const aSavedPlan = (id: string, expiresAt: string): SavedPlan => ({
  plan: {
    id,
    stack: { name: 'web' },
    basis: { stackRevision: 0, liveRevisions: {}, bundleHash: 'b', settingsHash: 's' },
    actions: [],
    associations: [],
    secrets: [],
    drift: [],
    blockers: [],
    needs: [],
    applicable: true,
    counts: { create: 0, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0, unchanged: 0 },
    expiresAt,
  },
  request: {
    stackName: 'web',
    env: { a: 1 },
    skip: [],
    options: {},
    sources: [{ name: 'a.yaml', content: 'kind: Mark\n', encoding: 'yaml' }],
  },
})
