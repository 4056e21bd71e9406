// The database on a real PostgreSQL: the suites that SQLite runs too, and what only several servers on one database can show.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { engineSuite } from '../../src/bundles/apply/engine.suite.ts'
import { platformSuite } from '../../src/bundles/apply/platform.suite.ts'
import { storeSuite } from '../../src/bundles/apply/store.suite.ts'
import type { Stack } from '../../src/bundles/model/stack.ts'
import type { Write } from '../../src/bundles/platform.ts'
import { realClock } from '../../src/lib/clock.ts'
import { makeId } from '../../src/lib/id.ts'
import { databaseSuite } from '../../src/server/database/database.suite.ts'
import type { DatabaseOptions } from '../../src/server/database/open.ts'
import { openPostgres } from '../../src/server/database/postgres.ts'
import {
  engineUnderTest,
  type TemporaryDatabase,
  temporaryDatabase,
  underTest,
} from '../../src/server/database/temporary.fake.ts'
import { describeWith } from '../require.ts'
import { type RealPostgres, startPostgres } from './postgres.ts'

describeWith(['postgres'], 'PostgreSQL', () => {
  let postgres: RealPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.remove())

  const emptyDatabase = async (options: Partial<DatabaseOptions>) =>
    temporaryDatabase({ url: await postgres.createSchema(), ...options })

  storeSuite('PostgreSQL', async clock => underTest(await emptyDatabase({ clock })))
  platformSuite('PostgreSQL', async clock => underTest(await emptyDatabase({ clock })))
  engineSuite('PostgreSQL', async clock => engineUnderTest(await emptyDatabase({ clock }), clock))
  databaseSuite('PostgreSQL', clock => emptyDatabase({ clock }))

  describe('several servers on one database', () => {
    let url: string
    let keys: string
    let open: (options?: Partial<DatabaseOptions>) => Promise<TemporaryDatabase>
    let opened: TemporaryDatabase[]
    beforeEach(async () => {
      url = await postgres.createDatabase()
      keys = mkdtempSync(join(tmpdir(), 'cairn-key-'))
      opened = []
      open = async options => {
        const database = await temporaryDatabase({ url, keyFile: join(keys, 'vault.key'), ...options })
        opened.push(database)
        return database
      }
    })
    afterEach(async () => {
      await Promise.all(opened.map(database => database.close()))
      rmSync(keys, { recursive: true })
    })

    it('makes the tables and the key once when four start together', async () => {
      const all = await Promise.all(Array.from({ length: 4 }, () => open()))
      await all[0]!.store.transaction(tx => tx.write([aMark('edge')]))
      for (const database of all) expect(await database.counts()).toEqual({ resources: { Mark: 1 }, stacks: 0 })
    })

    it('refuses a server with another key, and one without', async () => {
      await open()
      await expect(open({ keyFile: join(keys, 'other.key') })).rejects.toMatchObject({ code: 'vault.key-missing' })
      const stranger = await temporaryDatabase({ keyFile: join(keys, 'stranger.key') })
      await stranger.close()
      await expect(open({ keyFile: join(keys, 'stranger.key') })).rejects.toMatchObject({ code: 'vault.wrong-key' })
    })

    it('tells one of the commits of the other', async () => {
      const [one, other] = [await open(), await open()]
      const heard = vi.fn<() => void>()
      one.feed.onChange(heard)
      const seen = await one.feed.last()
      await vi.waitFor(() => expect(listenersOf(url)).resolves.toBe(2), 10_000)
      heard.mockClear()
      await other.store.transaction(tx => tx.write([aMark('edge')]))
      await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 10_000)
      expect(await one.feed.since(seen, 10)).toMatchObject([{ what: 'created', name: 'edge' }])
    })

    it('runs a transaction again that read what another changed before it could commit', async () => {
      const [one, other] = [await open(), await open()]
      const stack = aStack()
      await one.store.transaction(tx => tx.insertStack(stack))
      let runs = 0
      await one.store.transaction(async tx => {
        await tx.addEvent(stack.id, anEvent('slow'))
        if (++runs === 1) await other.store.transaction(quick => quick.updateStack(stack.id, 1, { name: 'quick' }))
        await tx.updateStack(stack.id, runs, { description: 'slow' })
      })
      expect(runs).toBe(2)
      expect(await other.store.stack(stack.id)).toMatchObject({ name: 'quick', description: 'slow', revision: 3 })
      expect(await other.store.events(stack.id, { limit: 10 })).toHaveLength(1)
    })

    it('loses and repeats nothing when many write at once, and the feed never goes back', async () => {
      const [one, other] = [await open(), await open()]
      const stack = aStack()
      await one.store.transaction(tx => tx.insertStack(stack))
      const seen: number[] = []
      let writing = true
      const watching = (async () => {
        for (let from = 0; ; ) {
          const last = !writing
          const events = await one.feed.since(from, 1000)
          seen.push(...events.map(({ seq }) => seq))
          from = seen.at(-1) ?? 0
          if (last && events.length === 0) return
        }
      })()
      const write = (database: TemporaryDatabase, name: string) =>
        database.store.transaction(async tx => {
          await tx.write([aMark(name)])
          await tx.addEvent(stack.id, anEvent(name))
        })
      const names = Array.from({ length: 40 }, (_, index) => `mark ${index}`)
      for (let from = 0; from < names.length; from += 8)
        await Promise.all(names.slice(from, from + 8).map((name, index) => write(index % 2 ? one : other, name)))
      writing = false
      await watching
      const events = await one.store.events(stack.id, { limit: 100 })
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, index) => 40 - index))
      expect(events.map(({ outcome }) => outcome).sort()).toEqual([...names].sort())
      expect(seen).toEqual((await one.feed.since(0, 1000)).map(({ seq }) => seq))
    })

    it('lets one of two that take the same name at once win, and tells the other why', async () => {
      const all = [await open(), await open()]
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          all[index % 2]!.store.transaction(tx => tx.write([aMark('edge')])).then(
            () => 'made',
            error => error.reason,
          ),
        ),
      )
      expect(outcomes.sort()).toEqual([...Array(7).fill('display-name'), 'made'])
    })

    describe('leadership', () => {
      const times = { renewMs: 100, validMs: 400, graceMs: 700 }

      /** Who leads, and whether two ever did. */
      const watch = () => {
        const leading = new Set<string>()
        const terms: string[] = []
        let most = 0
        const work = (name: string) => async (signal: AbortSignal) => {
          leading.add(name)
          terms.push(name)
          most = Math.max(most, leading.size)
          await new Promise(resolve => signal.addEventListener('abort', resolve))
          leading.delete(name)
        }
        return { work, terms, most: () => most, now: () => [...leading].join() }
      }
      const leaderPid = async () => {
        const [row] = await postgres.query(
          url,
          `select pid from pg_locks where locktype = 'advisory' and classid = 517433 and granted
            and database = (select oid from pg_database where datname = current_database())`,
        )
        return Number(row?.pid)
      }

      it('moves when the connection of the leader is killed, and never two lead', async () => {
        const all = new Map<string, TemporaryDatabase>()
        const watched = watch()
        for (const name of ['a', 'b', 'c']) {
          const database = await open({ leaderTimes: times })
          all.set(name, database)
          database.leadership.lead(watched.work(name))
        }
        for (let round = 1; round <= 6; round++) {
          await vi.waitFor(() => expect(watched.terms).toHaveLength(round), 20_000)
          const leaders = [...all].filter(([, { leadership }]) => leadership.isLeader()).map(([name]) => name)
          expect(leaders).toEqual([watched.now()])
          const pid = await leaderPid()
          await postgres.query(url, `select pg_terminate_backend(${pid})`)
        }
        expect(watched.most()).toBe(1)
      })

      it('is handed over at once by one that closes, and nobody leads who does not stand', async () => {
        const [one, other] = [await open({ leaderTimes: times }), await open({ leaderTimes: times })]
        const watched = watch()
        expect(one.leadership.isLeader()).toBe(false)
        one.leadership.lead(watched.work('one'))
        await vi.waitFor(() => expect(watched.now()).toBe('one'), 10_000)
        other.leadership.lead(watched.work('other'))
        await one.close()
        opened = [other]
        expect(watched.now()).not.toBe('one')
        await vi.waitFor(() => expect(watched.now()).toBe('other'), 10_000)
        expect(watched.most()).toBe(1)
      })

      it('ends a work that is stopped, begins a failed one anew, and leaves one alone that is done', async () => {
        const database = await open({ leaderTimes: times })
        const watched = watch()
        const { stop } = database.leadership.lead(watched.work('work'))
        let fails = 0
        let done = 0
        database.leadership.lead(async () => {
          if (++fails < 2) throw new Error('on purpose')
        })
        database.leadership.lead(async () => {
          done++
        })
        await vi.waitFor(() => expect([watched.now(), fails]).toEqual(['work', 2]), 10_000)
        await stop()
        expect([watched.now(), done]).toEqual(['', 1])
      })
    })
  })

  const listenersOf = async (url: string) => {
    const rows = await postgres.query(
      url,
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and query like 'listen %'`,
    )
    return rows[0]?.count
  }
})

describeWith(['postgres'], 'a PostgreSQL that goes away', () => {
  let postgres: RealPostgres
  let database: TemporaryDatabase
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.remove())
  beforeEach(async () => {
    database = await temporaryDatabase({
      url: await postgres.createSchema(),
      leaderTimes: { renewMs: 100, validMs: 400, graceMs: 600 },
    })
  })
  afterEach(() => database.close())

  it('takes nothing back that it acknowledged, whenever it crashes', async () => {
    const acknowledged: string[] = []
    const stopping = delay(300).then(() => postgres.stopNow())
    for (;;) {
      const stack = aStack()
      try {
        await database.store.transaction(tx => tx.insertStack(stack))
      } catch (error) {
        expect(error).toMatchObject({ code: 'database.unavailable' })
        break
      }
      acknowledged.push(stack.id)
    }
    await stopping
    await expect(database.ping()).rejects.toMatchObject({ code: 'database.unavailable' })
    await postgres.start()
    await vi.waitFor(() => database.ping(), 10_000)
    const { stacks } = await database.store.stacks({}, { limit: 100_000 })
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(new Set(stacks.map(({ id }) => id))).toEqual(new Set([...acknowledged, ...stacks.slice(-1).map(s => s.id)]))
  })

  it('is used, heard and led again when it is back', async () => {
    const led = vi.fn<() => void>()
    database.leadership.lead(async signal => {
      led()
      await new Promise(resolve => signal.addEventListener('abort', resolve))
    })
    await vi.waitFor(() => expect(led).toHaveBeenCalledTimes(1), 10_000)
    const heard = vi.fn<() => void>()
    database.feed.onChange(heard)
    await postgres.crashAndStart()
    await vi.waitFor(() => database.store.transaction(tx => tx.write([aMark('edge')])), 20_000)
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 10_000)
    await vi.waitFor(() => expect(led).toHaveBeenCalledTimes(2), 20_000)
    expect(database.leadership.isLeader()).toBe(true)
  })

  it('is not even begun with when it may forget what it acknowledged', async () => {
    const url = await postgres.createDatabase()
    const set = async (command: string) => {
      await postgres.query(url, `alter system ${command}`)
      await postgres.query(url, 'select pg_reload_conf()')
    }
    await set('set fsync = off')
    try {
      await vi.waitFor(() => expect(temporaryDatabase({ url })).rejects.toMatchObject({ code: 'database.not-durable' }))
    } finally {
      await set('reset fsync')
    }
    await vi.waitFor(async () => (await temporaryDatabase({ url })).close(), 10_000)
  })

  it('waits for the disk also where the server is told not to', async () => {
    const url = await postgres.createDatabase()
    await postgres.query(url, `alter database ${url.split('/').at(-1)} set synchronous_commit = off`)
    expect(await postgres.query(url, 'show synchronous_commit')).toEqual([{ synchronous_commit: 'off' }])
    const { db, close } = await openPostgres({ url, clock: realClock, log: () => {} })
    const { rows } = await sql`show synchronous_commit`.execute(db)
    expect(rows).toEqual([{ synchronous_commit: 'on' }])
    await close()
  })

  it('tells neither the password nor the rest of a URL that cannot be used', async () => {
    for (const url of [
      'postgres://ann:hunter2@127.0.0.1:1/x',
      'postgres://ann:hunter2@[/x',
      'postgres://127.0.0.1:1/%ZZhunter2',
    ]) {
      const error = await temporaryDatabase({ url }).catch((reason: Error) => reason)
      expect(error).toBeInstanceOf(Error)
      const told = JSON.stringify(error, Object.getOwnPropertyNames(error)) + String((error as Error).stack)
      expect(told).not.toContain('hunter2')
    }
  })
})

const aMark = (displayName: string): Write => ({
  do: 'create',
  kind: 'Mark',
  id: makeId(realClock.now()),
  apiVersion: 'cairn.dev/v1',
  displayName,
  spec: {},
  refersTo: [],
})

const aStack = (): Stack => ({
  id: makeId(realClock.now()),
  name: 'web',
  description: '',
  createdAt: realClock.now().toISOString(),
  updatedAt: realClock.now().toISOString(),
  revision: 1,
  state: 'active',
  config: { urls: [] },
  resources: [],
  sources: [],
})

const anEvent = (outcome: string) => ({
  type: 'apply' as const,
  at: realClock.now().toISOString(),
  by: 'ann',
  sources: [],
  changes: [],
  outcome,
})
