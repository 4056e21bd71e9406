// What the database does beside stacks and resources, run over SQLite and PostgreSQL. Kinds are those of kinds.fake.ts.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type MovableClock, movableClock } from '../../bundles/apply/clock.fake.ts'
import type { Stack } from '../../bundles/model/stack.ts'
import type { Live, WholeResource, Write } from '../../bundles/platform.ts'
import { WriteConflict } from '../../bundles/store.ts'
import type { Clock } from '../../lib/clock.ts'
import { makeId } from '../../lib/id.ts'
import { Secret } from '../../lib/redact.ts'
import type { Database, Token } from '../ports.ts'

/** `open` gives an empty database that lives by this clock. */
export function databaseSuite(title: string, open: (clock: Clock) => Promise<Database>) {
  describe(`${title} as a database`, () => {
    let clock: MovableClock
    let database: Database
    beforeEach(async () => {
      clock = movableClock()
      database = await open(clock)
    })
    afterEach(() => database.close())

    const newId = () => makeId(clock.now(), randomBytes)
    const now = () => clock.now().toISOString()
    const write = (...writes: Write[]) => database.store.transaction(tx => tx.write(writes))
    const aMark = (displayName: string): WholeResource => ({
      kind: 'Mark',
      id: newId(),
      apiVersion: 'cairn.dev/v1',
      displayName,
      spec: {},
      refersTo: [],
    })
    const aStore = (displayName: string, spec: object = {}): WholeResource => ({
      ...aMark(displayName),
      kind: 'Store',
      spec: { url: 'x', retries: 3, ...spec },
    })
    const aDisk = (displayName: string, store: WholeResource): WholeResource => ({
      ...aMark(displayName),
      kind: 'Disk',
      spec: { size: '1GiB', format: 'raw', store: { id: store.id } },
      refersTo: [{ kind: 'Store', id: store.id }],
    })
    const aStack = (name: string): Stack => ({
      id: newId(),
      name,
      description: '',
      createdAt: now(),
      updatedAt: now(),
      revision: 1,
      state: 'active',
      config: { urls: [] },
      resources: [],
      sources: [],
    })

    describe('tokens', () => {
      const aToken = (given: Partial<Token> = {}): Token => ({
        id: newId(),
        name: 'ci',
        role: 'operator',
        createdAt: now(),
        ...given,
      })

      it('gives back a token with its hash, and lists them by creation', async () => {
        const first = aToken({ role: 'machine', machine: 'web-1', expiresAt: now() })
        const second = aToken()
        await database.tokens.add(first, 'hash-1')
        await database.tokens.add(second, 'hash-2')
        expect(await database.tokens.find(first.id)).toEqual({ token: first, hash: 'hash-1' })
        expect(await database.tokens.find('nobody')).toBeNull()
        expect(await database.tokens.list()).toEqual([first, second])
      })

      it('revokes a token once', async () => {
        const token = aToken()
        await database.tokens.add(token, 'hash')
        const at = now()
        expect(await database.tokens.revoke(token.id, at)).toBe(true)
        expect(await database.tokens.revoke(token.id, now())).toBe(false)
        expect(await database.tokens.revoke('nobody', now())).toBe(false)
        expect((await database.tokens.find(token.id))?.token).toEqual({ ...token, revokedAt: at })
      })
    })

    describe('audit', () => {
      it('gives the newest first, in pages, and keeps them for a year', async () => {
        const entry = (target: string) => ({
          at: now(),
          who: 'ci',
          role: 'operator' as const,
          action: 'POST /api/v1/bundles/apply',
          target,
          status: 200,
          detail: { planId: 'p', nested: { deep: [1, 2] } },
        })
        for (const target of ['a', 'b', 'c']) await database.audit.add(entry(target))
        const first = await database.audit.list({ limit: 2 })
        expect(first.map(({ target }) => target)).toEqual(['c', 'b'])
        expect(first[0]).toMatchObject({ detail: { planId: 'p', nested: { deep: [1, 2] } }, status: 200 })
        const rest = await database.audit.list({ limit: 2, before: first[1]!.seq })
        expect(rest.map(({ target }) => target)).toEqual(['a'])
        clock.advance(366 * 24 * 3_600_000)
        await database.tidy()
        expect(await database.audit.list({ limit: 10 })).toHaveLength(3)
        clock.advance(40 * 24 * 3_600_000)
        await database.tidy()
        expect(await database.audit.list({ limit: 10 })).toEqual([])
      })
    })

    describe('secrets', () => {
      it('tells that a value changed, and gives it back to controllers', async () => {
        const at = now()
        expect(await database.secrets.put('db', new Secret('one'), at)).toEqual({ changed: true })
        expect(await database.secrets.put('db', new Secret('one'), now())).toEqual({ changed: false })
        expect(await database.secrets.list()).toEqual([{ key: 'db', createdAt: at, updatedAt: at, usedBy: [] }])
        const later = now()
        expect(await database.secrets.put('db', new Secret('two'), later)).toEqual({ changed: true })
        expect(await database.secrets.list()).toEqual([{ key: 'db', createdAt: at, updatedAt: later, usedBy: [] }])
        expect((await database.secrets.reveal('db'))?.reveal()).toBe('two')
        expect(await database.secrets.reveal('other')).toBeNull()
      })

      it('keeps one that resources use, in either form, and names them', async () => {
        for (const key of ['a', 'b', 'c']) await database.secrets.put(key, new Secret(key), now())
        const main = aStore('main', { password: { secretRef: { key: 'a' } }, pullSecrets: [{ name: 'b' }] })
        await write({ do: 'create', ...main })
        expect((await database.secrets.list()).map(({ key, usedBy }) => [key, usedBy])).toEqual([
          ['a', ['Store/main']],
          ['b', ['Store/main']],
          ['c', []],
        ])
        expect(await database.secrets.remove('a')).toBe('used')
        expect(await database.secrets.remove('c')).toBe('removed')
        expect(await database.secrets.remove('c')).toBe('unknown')
        await write({ do: 'update', ...main, spec: { url: 'x', retries: 3 }, ifRevision: 1 })
        expect(await database.secrets.remove('a')).toBe('removed')
      })

      it('tells the users of a secret when it changes', async () => {
        const main = aStore('main', { password: { secretRef: { key: 'a' } } })
        await write({ do: 'create', ...main })
        const seen = await database.feed.last()
        await database.secrets.put('a', new Secret('x'), now())
        await database.secrets.put('a', new Secret('x'), now())
        expect(await database.feed.since(seen, 10)).toMatchObject([{ what: 'updated', id: main.id, revision: 1 }])
      })
    })

    describe('the feed', () => {
      it('tells what happened, in order, with revision and name', async () => {
        expect(await database.feed.last()).toBe(0)
        const mark = aMark('edge')
        const disk = aStore('main')
        const stack = aStack('web')
        await database.store.transaction(async tx => {
          await tx.write([
            { do: 'create', ...mark },
            { do: 'create', ...disk },
          ])
          await tx.insertStack(stack)
        })
        await write({ do: 'update', ...disk, displayName: 'other', ifRevision: 1 })
        await write({ do: 'associate', from: { kind: 'Store', id: disk.id }, to: { kind: 'Mark', id: mark.id } })
        await database.setStatus(disk.id, { ready: true })
        await write({ do: 'remove', kind: 'Mark', id: mark.id })
        await database.store.transaction(tx => tx.deleteStack(stack.id))
        const events = await database.feed.since(0, 100)
        expect(events.map(({ what, kind, id, name, revision }) => [what, kind, id, name, revision])).toEqual([
          ['created', 'Mark', mark.id, 'edge', 1],
          ['created', 'Store', disk.id, 'main', 1],
          ['stack', 'Stack', stack.id, 'web', 1],
          ['updated', 'Store', disk.id, 'other', 2],
          ['updated', 'Store', disk.id, 'other', 2],
          ['status', 'Store', disk.id, 'other', 2],
          ['deleted', 'Mark', mark.id, 'edge', 1],
          ['stack', 'Stack', stack.id, 'web', 1],
        ])
        const seqs = events.map(({ seq }) => seq)
        expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
        expect(await database.feed.last()).toBe(seqs.at(-1))
        expect(await database.feed.first()).toBe(seqs[0])
        expect(await database.feed.since(seqs[2]!, 2)).toEqual(events.slice(3, 5))
      })

      it('says nothing of what changed nothing, or was undone', async () => {
        const [mark, disk] = [aMark('edge'), aStore('main')]
        const edge = { from: { kind: 'Store', id: disk.id }, to: { kind: 'Mark', id: mark.id } }
        await write({ do: 'create', ...mark }, { do: 'create', ...disk }, { do: 'associate', ...edge })
        const seen = await database.feed.last()
        await write({ do: 'associate', ...edge })
        await write({ do: 'remove', kind: 'Mark', id: 'nobody' })
        await expect(
          database.store.transaction(async tx => {
            await tx.write([{ do: 'create', ...aMark('lab') }])
            throw new Error('on purpose')
          }),
        ).rejects.toThrow('on purpose')
        expect(await database.feed.since(seen, 10)).toEqual([])
      })

      it('calls whoever listens, after the commit, until they stop', async () => {
        const heard = Promise.withResolvers<void>()
        const stop = database.feed.onChange(heard.resolve)
        await write({ do: 'create', ...aMark('edge') })
        await heard.promise
        expect(await database.feed.last()).toBeGreaterThan(0)
        stop()
      })
    })

    describe('status', () => {
      it('is kept beside the spec: no new revision, no new time, nothing when equal', async () => {
        const disk = aStore('main')
        await write({ do: 'create', ...disk })
        const read = async () => (await database.platform.read([disk])).get(disk.id)
        const before = await read()
        expect(await database.setStatus(disk.id, { phase: 'ready' })).toBe(true)
        expect(await read()).toEqual({ ...before, status: { phase: 'ready' } })
        const seen = await database.feed.last()
        expect(await database.setStatus(disk.id, { phase: 'ready' })).toBe(true)
        expect(await database.feed.last()).toBe(seen)
        expect(await database.setStatus('nobody', { phase: 'ready' })).toBe(false)
        await write({ do: 'update', ...disk, displayName: 'other', ifRevision: 1 })
        expect((await read()) as object).toMatchObject({ displayName: 'other', status: { phase: 'ready' } })
      })
    })

    describe('references', () => {
      const conflictOf = (writes: Write[]) =>
        write(...writes).catch((error: unknown) => (error instanceof WriteConflict ? error : Promise.reject(error)))

      it('refuses to remove what somebody refers to by now, and names them', async () => {
        const store = aStore('main')
        const disk = aDisk('data', store)
        await write({ do: 'create', ...store }, { do: 'create', ...disk })
        const remove = { do: 'remove', kind: 'Store', id: store.id } as const
        expect(await conflictOf([remove])).toMatchObject({ reason: 'revision', about: { kind: 'Disk', id: disk.id } })
        expect(await database.platform.read([store])).toHaveProperty('size', 1)
        await write(remove, { do: 'remove', kind: 'Disk', id: disk.id })
        expect(await database.platform.read([store, disk])).toHaveProperty('size', 0)
      })

      it('refuses to refer to what is gone by now', async () => {
        const store = aStore('main')
        const disk = { do: 'create', ...aDisk('data', store) } as const
        expect(await conflictOf([disk])).toMatchObject({ reason: 'gone', about: { kind: 'Store', id: store.id } })
        await write(disk, { do: 'create', ...store })
        expect(await database.platform.referrers([store.id])).toHaveLength(1)
      })

      it('lets a replacement take over name and referrers in one transaction', async () => {
        const [old, young] = [aStore('main'), aStore('main')]
        const disk = aDisk('data', old)
        await write({ do: 'create', ...old }, { do: 'create', ...disk })
        const moved = { ...disk, spec: aDisk('', young).spec, refersTo: [{ kind: 'Store', id: young.id }] }
        await write(
          { do: 'remove', kind: 'Store', id: old.id, ifRevision: 1 },
          { do: 'create', ...young },
          { do: 'update', ...moved, ifRevision: 1 },
        )
        expect(await database.platform.find([{ kind: 'Store', displayName: 'main' }])).toMatchObject([{ id: young.id }])
      })
    })

    it('lets names wander along a chain of renames, each freed before it is taken', async () => {
      const marks = Array.from({ length: 50 }, (_, index) => aMark(`m${index}`))
      await write(...marks.map(mark => ({ do: 'create', ...mark }) as const))
      const renames = marks.map(
        (mark, index) => ({ do: 'update', ...mark, displayName: `m${index + 1}`, ifRevision: 1 }) as const,
      )
      await expect(write(...renames)).rejects.toMatchObject({ reason: 'display-name' })
      await write(...renames.reverse())
      expect(await database.platform.find([{ kind: 'Mark', displayName: 'm0' }])).toEqual([])
      expect(await database.platform.find([{ kind: 'Mark', displayName: 'm50' }])).toMatchObject([
        { id: marks[49]!.id },
      ])
    })

    it('writes one resource several times in one transaction, in order', async () => {
      const mark = aMark('one')
      await write(
        { do: 'create', ...mark },
        { do: 'update', ...mark, displayName: 'two', ifRevision: 1 },
        { do: 'remove', kind: 'Mark', id: mark.id, ifRevision: 2 },
        { do: 'restore', ...mark, displayName: 'three' },
      )
      expect((await database.platform.read([mark])).get(mark.id)).toMatchObject({ displayName: 'three' })
    })

    it('keeps specs as they are: the order of keys, numbers, any text', async () => {
      const notes = { z: 'ü ☃ 💥', a: 'nul \u0000 and \\u0000', 'key "quoted"': "it's; -- $1 ? \n\t" }
      const spec = { size: '1GiB', format: 'raw', share: 0.1 + 0.2, notes }
      const disk = { ...aMark('d'), kind: 'Disk', spec }
      await write({ do: 'create', ...disk })
      const live = (await database.platform.read([disk])).get(disk.id) as Live
      expect(JSON.stringify(live.spec)).toBe(JSON.stringify(spec))
    })

    it('writes thousands of resources at once and reads them back', async () => {
      const main = aStore('main')
      const disks = Array.from({ length: 4_500 }, (_, index) => aDisk(`disk ${index}`, main))
      await write({ do: 'create', ...main }, ...disks.map(disk => ({ do: 'create', ...disk }) as const))
      const lives = await database.platform.read(disks)
      expect(lives.size).toBe(4_500)
      expect(await database.counts()).toEqual({ resources: { Disk: 4_500, Store: 1 }, stacks: 0 })
      expect(await database.feed.since(0, 10_000)).toHaveLength(4_501)
    })

    it('answers a ping, and refuses a cursor that no page gave', async () => {
      await database.ping()
      await expect(database.platform.list({}, { limit: 1, cursor: 'x' })).rejects.toMatchObject({
        problems: [{ code: 'cursor.invalid' }],
      })
      await expect(database.store.stacks({}, { limit: 1, cursor: 'e30' })).rejects.toMatchObject({
        problems: [{ code: 'cursor.invalid' }],
      })
    })

    it('tells whoever begins a transaction inside another, instead of waiting for itself', async () => {
      const inner = () => database.store.leases.acquire('stack', { holder: 'ann', operation: 'apply' })
      await expect(database.store.transaction(inner)).rejects.toThrow('a transaction was begun inside another')
    })

    it('drops plans that have expired, and free leases after a week, without repeating a fence', async () => {
      const lease = await database.store.leases.acquire('stack', { holder: 'ann', operation: 'apply' })
      clock.advance(8 * 24 * 3_600_000)
      await database.tidy()
      const next = await database.store.leases.acquire('stack', { holder: 'bob', operation: 'apply' })
      if (!('fence' in lease && 'fence' in next)) throw new Error('both were to be had')
      expect(next.fence).toBeGreaterThan(lease.fence)
    })
  })
}
