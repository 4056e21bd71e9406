// The contract of a Platform, run over memory, SQLite and PostgreSQL. Kinds are those of validate/kinds.fake.ts.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import { makeId } from '../../lib/id.ts'
import { Secret } from '../../lib/redact.ts'
import type { Spec } from '../../resources/kind.ts'
import type { Live, LiveFilter, LiveId, Platform, Write, Written } from '../platform.ts'
import { WriteConflict } from '../store.ts'
import { type MovableClock, movableClock } from './clock.fake.ts'

export interface PlatformUnderTest {
  readonly platform: Platform
  /** Shared: all of them in one transaction; what is returned for each may be undefined then. */
  write(writes: readonly Write[]): Promise<readonly (Written | undefined)[]>
  close(): Promise<void>
}

/** `open` gives an empty platform that lives by this clock. */
export function platformSuite(title: string, open: (clock: Clock) => Promise<PlatformUnderTest>) {
  describe(`${title} as a platform`, () => {
    let clock: MovableClock
    let opened: PlatformUnderTest
    let platform: Platform
    beforeEach(async () => {
      clock = movableClock()
      opened = await open(clock)
      platform = opened.platform
    })
    afterEach(() => opened.close())

    const whole = (kind: string, displayName: string, given: { spec?: Spec; refersTo?: readonly LiveId[] } = {}) => ({
      kind,
      id: makeId(clock.now(), randomBytes),
      apiVersion: 'cairn.dev/v1',
      displayName,
      spec: kind === 'Disk' ? { size: '1GiB', format: 'raw' } : kind === 'Store' ? { url: 'x', retries: 3 } : {},
      refersTo: [],
      ...given,
    })
    const create = async (kind: string, displayName: string, given: Parameters<typeof whole>[2] = {}) => {
      const resource = whole(kind, displayName, given)
      const [written] = await opened.write([{ do: 'create', ...resource }])
      return { ...resource, id: written?.id ?? resource.id }
    }
    const read = async ({ kind, id }: LiveId): Promise<Live | undefined> => {
      const found = (await platform.read([{ kind, id }])).get(id)
      if (found && 'unreadable' in found) throw new Error(found.unreadable.reason)
      return found
    }
    const conflict = (writes: readonly Write[]) =>
      opened.write(writes).then(
        () => 'written',
        error => {
          if (!(error instanceof WriteConflict)) throw error
          return { reason: error.reason, id: error.about?.id }
        },
      )

    describe('resources', () => {
      it('gives back what was created, and nothing for what is not there', async () => {
        const spec = { size: '10GiB', format: 'qcow2', share: 0.25, parts: [{ size: '1GiB' }], notes: { a: 'b' } }
        const disk = await create('Disk', 'data', { spec })
        const live = (await read(disk))!
        expect(live).toMatchObject({ kind: 'Disk', id: disk.id, apiVersion: 'cairn.dev/v1', displayName: 'data' })
        expect({ spec: live.spec, associations: live.associations, status: live.status }).toEqual({
          spec,
          associations: [],
          status: null,
        })
        expect(live.revision).toBeGreaterThan(0)
        for (const time of [live.createdAt, live.updatedAt]) expect(new Date(time).toISOString()).toBe(time)
        expect(await platform.read([{ kind: 'Disk', id: 'nobody' }])).toEqual(new Map())
        expect(await platform.read([])).toEqual(new Map())
      })

      it('reads a thousand at once', async () => {
        const disks = Array.from({ length: 1_000 }, (_, index) => whole('Disk', `disk ${index}`))
        const written = await opened.write(disks.map(disk => ({ do: 'create', ...disk })))
        const ids = disks.map(({ kind, id }, index) => ({ kind, id: written[index]?.id ?? id }))
        const found = await platform.read([...ids, { kind: 'Disk', id: 'nobody' }])
        expect(new Set(found.keys())).toEqual(new Set(ids.map(({ id }) => id)))
      })

      it('renames and changes in place, with a new revision', async () => {
        const store = await create('Store', 'main')
        const before = (await read(store))!
        const spec = { url: 'y', retries: 1 }
        await opened.write([{ do: 'update', ...store, displayName: 'other', spec, ifRevision: before.revision }])
        const after = (await read(store))!
        expect(after).toMatchObject({ id: store.id, displayName: 'other', spec, createdAt: before.createdAt })
        expect(after.revision).toBeGreaterThan(before.revision)
        expect(after.updatedAt > before.updatedAt).toBe(true)
      })

      it('refuses an update that rests on another revision or on nothing', async () => {
        const store = await create('Store', 'main')
        const { revision } = (await read(store))!
        const update = { do: 'update', ...store, displayName: 'late', ifRevision: revision + 1 } as const
        expect(await conflict([update])).toEqual({ reason: 'revision', id: store.id })
        expect((await read(store))?.displayName).toBe('main')
        await opened.write([{ do: 'remove', kind: 'Store', id: store.id }])
        expect(await conflict([update])).toEqual({ reason: 'gone', id: store.id })
      })

      it('lets nobody take a unique display name twice, within a family', async () => {
        await create('RuleA', 'hot', { spec: { every: '1m', status: 'active', threshold: 1 } })
        const rule = whole('RuleB', 'hot', { spec: { every: '1m', status: 'active', silentFor: '5m' } })
        expect(await conflict([{ do: 'create', ...rule }])).toMatchObject({ reason: 'display-name' })
        const cold = await create('RuleB', 'cold', { spec: rule.spec })
        const { revision } = (await read(cold))!
        const rename = { do: 'update', ...cold, displayName: 'hot', ifRevision: revision } as const
        expect(await conflict([rename])).toEqual({ reason: 'display-name', id: cold.id })
        await create('Mark', 'hot')
      })

      it('gives a name that was freed before in the same row of writes', async () => {
        const one = await create('Mark', 'one')
        await opened.write([
          { do: 'remove', kind: 'Mark', id: one.id },
          { do: 'create', ...whole('Mark', 'one') },
        ])
        const two = await create('Mark', 'two')
        const { revision } = (await read(two))!
        await opened.write([
          { do: 'update', ...two, displayName: 'three', ifRevision: revision },
          { do: 'create', ...whole('Mark', 'two') },
        ])
        const found = await platform.list({ kinds: ['Mark'] }, { limit: 10 })
        expect(found.resources.map(({ displayName }) => displayName).sort()).toEqual(['one', 'three', 'two'])
      })

      it('takes not-found on remove as success, but not another revision', async () => {
        const store = await create('Store', 'main')
        const { revision } = (await read(store))!
        const remove = { do: 'remove', kind: 'Store', id: store.id } as const
        expect(await conflict([{ ...remove, ifRevision: revision + 1 }])).toEqual({ reason: 'revision', id: store.id })
        await opened.write([{ ...remove, ifRevision: revision }])
        await opened.write([remove])
        await opened.write([{ ...remove, ifRevision: revision }])
        expect(await read(store)).toBeUndefined()
      })

      it('restores what is there and what was removed', async () => {
        const store = await create('Store', 'main', { spec: { url: 'x', user: 'u', retries: 3 } })
        const { revision } = (await read(store))!
        const bare = { url: 'y', retries: 1 }
        await opened.write([{ do: 'update', ...store, displayName: 'other', spec: bare, ifRevision: revision }])
        await opened.write([{ do: 'restore', ...store }])
        expect(await read(store)).toMatchObject({ displayName: 'main', spec: store.spec })
        await opened.write([{ do: 'remove', kind: 'Store', id: store.id }])
        const [written] = await opened.write([{ do: 'restore', ...store }])
        const id = written?.id ?? store.id
        expect(await read({ kind: 'Store', id })).toMatchObject({ displayName: 'main', spec: store.spec })
        if (platform.clientIds) expect(id).toBe(store.id)
      })
    })

    describe('associations', () => {
      const to = (id: LiveId): LiveId => ({ kind: id.kind, id: id.id })

      it('are there once, and taking off what is not on is nothing', async () => {
        const [disk, mark, other] = [await create('Disk', 'd'), await create('Mark', 'm1'), await create('Mark', 'm2')]
        const edge = { from: to(disk), to: to(mark) }
        await opened.write([
          { do: 'associate', ...edge },
          { do: 'associate', ...edge },
        ])
        await opened.write([{ do: 'associate', from: to(disk), to: to(other) }])
        expect(new Set((await read(disk))?.associations)).toEqual(new Set([to(mark), to(other)]))
        await opened.write([{ do: 'dissociate', ...edge }])
        await opened.write([{ do: 'dissociate', ...edge }])
        expect((await read(disk))?.associations).toEqual([to(other)])
      })

      it('survive an update, and go with either end', async () => {
        const [disk, mark] = [await create('Disk', 'd'), await create('Mark', 'm1')]
        await opened.write([{ do: 'associate', from: to(disk), to: to(mark) }])
        const { revision } = (await read(disk))!
        await opened.write([{ do: 'update', ...disk, displayName: 'e', ifRevision: revision }])
        expect((await read(disk))?.associations).toEqual([to(mark)])
        await opened.write([{ do: 'remove', ...to(mark) }])
        expect((await read(disk))?.associations).toEqual([])
        expect((await platform.list({ labels: ['m1'] }, { limit: 10 })).resources).toEqual([])
      })

      it('need both ends', async () => {
        const [disk, mark] = [await create('Disk', 'd'), await create('Mark', 'm1')]
        const nobody = { kind: 'Mark', id: 'nobody' }
        expect(await conflict([{ do: 'associate', from: to(disk), to: nobody }])).toMatchObject({ reason: 'gone' })
        const missing = { kind: 'Disk', id: 'nobody' }
        expect(await conflict([{ do: 'associate', from: missing, to: to(mark) }])).toMatchObject({ reason: 'gone' })
        await opened.write([{ do: 'dissociate', from: missing, to: to(mark) }])
      })
    })

    describe('finding', () => {
      it('finds every resource of a kind and a display name', async () => {
        const one = await create('Disk', 'same')
        const two = await create('Disk', 'same')
        await create('Mark', 'same')
        await create('Disk', 'other')
        const found = await platform.find([
          { kind: 'Disk', displayName: 'same' },
          { kind: 'Mark', displayName: 'other' },
        ])
        expect(found.map(({ id }) => id).sort()).toEqual([one.id, two.id].sort())
        expect(await platform.find([])).toEqual([])
      })

      it('takes names as they are', async () => {
        for (const name of ["it's", '100%', 'under_score', 'Ünïcode', 'ünïcode']) await create('Mark', name)
        for (const name of ["it's", '100%', 'under_score', 'Ünïcode'])
          expect(await platform.find([{ kind: 'Mark', displayName: name }])).toMatchObject([{ displayName: name }])
        expect(await platform.find([{ kind: 'Mark', displayName: 'underXscore' }])).toEqual([])
      })

      it('lists by kind, name and label: alternatives within a filter, narrowing between them', async () => {
        const [edge, lab] = [await create('Mark', 'edge'), await create('Mark', 'lab')]
        const [a, b, c] = [await create('Disk', 'a'), await create('Disk', 'b'), await create('Store', 'c')]
        for (const [from, to] of [
          [a, edge],
          [b, lab],
          [c, edge],
          [c, lab],
        ] as const)
          await opened.write([
            { do: 'associate', from: { kind: from.kind, id: from.id }, to: { kind: to.kind, id: to.id } },
          ])
        const names = async (filter: LiveFilter) =>
          (await platform.list(filter, { limit: 100 })).resources.map(({ displayName }) => displayName).sort()
        expect(await names({})).toEqual(['a', 'b', 'c', 'edge', 'lab'])
        expect(await names({ kinds: ['Disk', 'Mark'] })).toEqual(['a', 'b', 'edge', 'lab'])
        expect(await names({ labels: ['edge', 'lab'] })).toEqual(['a', 'b', 'c'])
        expect(await names({ labels: ['edge'], kinds: ['Disk'] })).toEqual(['a'])
        expect(await names({ displayNames: ['b', 'c'], labels: ['lab'] })).toEqual(['b', 'c'])
        expect(await names({ kinds: [] })).toEqual([])
      })

      it.each([99, 100, 101, 250])('pages through %i without losing or repeating one', async count => {
        const disks = Array.from({ length: count }, (_, index) => whole('Disk', `disk ${index % 7}`))
        await opened.write(disks.map(disk => ({ do: 'create', ...disk })))
        const seen: string[] = []
        let pages = 0
        let cursor: string | undefined
        do {
          const page = await platform.list({ kinds: ['Disk'] }, { limit: 100, ...(cursor && { cursor }) })
          seen.push(...page.resources.map(({ id }) => id))
          cursor = page.next
          pages++
        } while (cursor !== undefined)
        expect(pages).toBe(Math.ceil(count / 100))
        expect(new Set(seen).size).toBe(count)
        expect(seen).toHaveLength(count)
      })
    })

    describe('referrers', () => {
      it('are those that refer hard, as they stand now', async () => {
        const store = await create('Store', 'main')
        const refersTo = [{ kind: 'Store', id: store.id }]
        const spec = { size: '1GiB', format: 'raw', store: { id: store.id } }
        const disk = await create('Disk', 'data', { spec, refersTo })
        expect(await platform.referrers([store.id, disk.id])).toEqual([
          { from: { kind: 'Disk', id: disk.id, displayName: 'data' }, to: store.id },
        ])
        const { revision } = (await read(disk))!
        const bare = { size: '1GiB', format: 'raw' }
        await opened.write([{ do: 'update', ...disk, spec: bare, refersTo: [], ifRevision: revision }])
        expect(await platform.referrers([store.id])).toEqual([])
        await opened.write([{ do: 'restore', ...disk }])
        expect(await platform.referrers([store.id])).toHaveLength(1)
        await opened.write([{ do: 'remove', kind: 'Disk', id: disk.id }])
        expect(await platform.referrers([store.id])).toEqual([])
      })
    })

    describe('secrets', () => {
      it('tells only fingerprints, equal for equal values', async () => {
        await opened.write([
          { do: 'put-secret', key: 'a', value: new Secret('tell nobody') },
          { do: 'put-secret', key: 'b', value: new Secret('another') },
        ])
        const found = await platform.secrets.fingerprints(['a', 'b', 'c'])
        expect([...found.keys()].sort()).toEqual(['a', 'b'])
        expect(found.get('a')).toBe(platform.secrets.fingerprint(new Secret('tell nobody')))
        expect(found.get('b')).not.toBe(found.get('a'))
        expect(JSON.stringify([...found])).not.toContain('tell nobody')
        await opened.write([{ do: 'put-secret', key: 'a', value: new Secret('another') }])
        expect((await platform.secrets.fingerprints(['a'])).get('a')).toBe(found.get('b'))
      })

      it('goes back to what was sealed before, and to nothing', async () => {
        await opened.write([{ do: 'put-secret', key: 'a', value: new Secret('tell nobody') }])
        const before = await platform.secrets.fingerprints(['a'])
        const sealed = await platform.secrets.sealed('a')
        expect(sealed).not.toContain('tell nobody')
        expect(await platform.secrets.sealed('z')).toBeNull()
        await opened.write([{ do: 'put-secret', key: 'a', value: new Secret('new') }])
        await opened.write([{ do: 'restore-secret', key: 'a', sealed }])
        expect(await platform.secrets.fingerprints(['a'])).toEqual(before)
        await opened.write([{ do: 'restore-secret', key: 'a', sealed: null }])
        expect(await platform.secrets.fingerprints(['a'])).toEqual(new Map())
      })
    })
  })
}
