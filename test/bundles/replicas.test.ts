// Several real servers on one real PostgreSQL: what one does the others tell, one of them leads, and one that dies, or a
// database that does, takes nothing with it. The tests go on from one another.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiError } from '../../src/server/client.ts'
import { createToken, revokeToken, whoAmI } from '../../src/server/contract/access.ts'
import { applyBundle } from '../../src/server/contract/bundles.ts'
import { type LiveResource, listResources, putResource } from '../../src/server/contract/resources.ts'
import { createStack, getStack, stackEvents } from '../../src/server/contract/stacks.ts'
import type { FeedEvent } from '../../src/server/ports.ts'
import { describeWith } from '../require.ts'
import { a, refusal } from './scene.ts'
import { type Ground, openGround, type TestServer, until } from './server.ts'

describeWith(['postgres'], 'several servers on one PostgreSQL', () => {
  let ground: Ground
  let servers: TestServer[]
  let leaders: LeaderWatch
  beforeAll(async () => {
    ground = await openGround('postgres')
  })
  afterAll(async () => {
    await leaders?.end()
    await ground?.remove()
  })

  it('may begin at once on an empty database, and make one set of tables and one key', async () => {
    const keys = join(ground.directory, 'keys')
    mkdirSync(keys)
    const beside = { database: await ground.postgres?.createDatabase(), data: keys } as TestServer
    servers = await Promise.all([1, 2, 3].map(() => ground.startServer({ beside })))
    leaders = watchLeaders(() => servers)
    const [first, , third] = servers as [TestServer, TestServer, TestServer]
    expect(await first.query("select value from meta where key in ('version', 'recipient')")).toHaveLength(2)
    const { id } = await first.client.call(createStack, { body: { name: 'begun' } })
    expect(await third.client.call(getStack, { params: { id } })).toMatchObject({ name: 'begun', revision: 1 })
  })

  it('refuse one that has another key, or none, and say so', async () => {
    const { database = '' } = servers[0] as TestServer
    const withOther = join(ground.directory, 'other')
    const other = await ground.startServer({ data: withOther })
    await other.kill()
    const up = (data: string) =>
      ground.cairn(['up', '--data', data, '--listen', '127.0.0.1:0', '--database', database], {})
    const wrong = await up(withOther)
    expect(wrong).toMatchObject({ code: 4, stderr: expect.stringContaining('vault.wrong-key') })
    expect(wrong.stderr).toContain('--key-file')
    const missing = await up(join(ground.directory, 'no-key'))
    expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('vault.key-missing') })
  })

  it('tell the changes of each other, all of them and in one order', async () => {
    const [first, second, third] = servers as [TestServer, TestServer, TestServer]
    const live = listen(second, await lastChange(second))
    await Promise.all([
      apply(first, 'one', [a('Label', 'edge', { color: '#111111' }), a('Label', 'core')]),
      apply(third, 'two', [a('Variable', 'words', { value: 1 })]),
    ])
    await apply(first, 'one', [a('Label', 'edge', { color: '#222222' })])
    await until('the last change is told', () =>
      live.changes.some(({ name, revision }) => name === 'edge' && revision === 2),
    )
    const all = listen(third, 0)
    await until('all changes are told again', () => all.changes.at(-1)?.seq === live.changes.at(-1)?.seq)
    expect(all.changes.slice(-live.changes.length)).toEqual(live.changes)
    expect(live.changes.map(({ what, kind, name }) => `${what} ${kind} ${name}`)).toEqual(
      expect.arrayContaining([
        'created Label edge',
        'created Label core',
        'created Variable words',
        'updated Label edge',
        'deleted Label core',
        'stack Stack one',
        'stack Stack two',
      ]),
    )
    expect(isAscending(all.changes.map(({ seq }) => seq))).toBe(true)
    await Promise.all([live.end(), all.end()])
  })

  it('refuse a token that was revoked at another, and end its streams', async () => {
    const [first, second] = servers as [TestServer, TestServer]
    const { token, text } = await first.client.call(createToken, { body: { name: 'screen', role: 'viewer' } })
    const viewer = second.clientOf(text)
    expect(await viewer.call(whoAmI, {})).toMatchObject({ name: 'screen' })
    const stream = listen(second, await lastChange(second), viewer)
    const words = (value: number) => apply(first, 'two', [a('Variable', 'words', { value })])
    await words(2)
    await until('the stream tells', () => stream.changes.some(({ name }) => name === 'words'))
    await first.client.call(revokeToken, { params: { id: token.id } })
    await until('the token is refused', () =>
      viewer.call(whoAmI, {}).then(
        () => false,
        error => error instanceof ApiError && error.status === 401 && error.code === 'auth.revoked',
      ),
    )
    const told = stream.changes.length
    await words(3)
    await until('the stream has ended', () => !stream.open)
    expect(stream.changes).toHaveLength(told)
  })

  it('correct drift once', async () => {
    const [first, second] = servers as [TestServer, TestServer]
    await first.client.call(createStack, { body: { name: 'kept', reconcile: '10s' } })
    await apply(first, 'kept', [a('Label', 'steady', { color: '#aaaaaa' })])
    const { metadata, spec } = await label(second, 'steady')
    await second.client.call(putResource, {
      params: { kind: 'Label', id: metadata.id },
      body: { spec: { ...spec, color: '#bbbbbb' } },
    })
    await until('the drift is corrected', async () => (await label(first, 'steady')).spec.color === '#aaaaaa')
    // Made, changed, corrected.
    expect((await label(second, 'steady')).metadata.revision).toBe(3)
  })

  it('hand on leadership and the locks of one that dies in the middle of an apply, of which nothing is there', async () => {
    const dying = await leader(servers)
    const [next] = servers.filter(server => server !== dying) as [TestServer]
    await apply(next, 'shaken', [a('Label', 'before'), a('Label', 'stays', { color: '#111111' })])
    const before = await next.client.call(getStack, { params: { id: 'shaken' } })
    const after = [a('Label', 'after'), a('Label', 'stays', { color: '#222222' })]

    // The event is the last thing that the transaction writes.
    const held = await holdUp(dying, 'stack_events')
    const lost = refusalOrLoss(apply(dying, 'shaken', after))
    await held.waits()
    await kill(dying)
    expect(await lost).toBe('lost')
    const locked = await refusal(apply(next, 'shaken', after))
    expect(locked).toMatchObject({ status: 409, codes: ['stack.locked'] })
    expect(locked.problems[0]?.reason).toContain('locked by local (apply')
    await held.release()
    expect(await next.client.call(getStack, { params: { id: 'shaken' } })).toEqual({
      ...before,
      lock: expect.anything(),
    })
    expect((await label(next, 'stays')).spec.color).toBe('#111111')

    const [, leading] = await Promise.all([
      apply(next, 'shaken', after, '60s'),
      leader(servers.filter(server => server !== dying)),
    ])
    expect(leading).not.toBe(dying)
    expect((await label(next, 'stays')).spec.color).toBe('#222222')
    const { events } = await next.client.call(stackEvents, { params: { id: 'shaken' } })
    expect(events.map(({ type }) => type)).toEqual(['apply', 'apply', 'create'])

    await dying.start()
    expect((await label(dying, 'stays')).spec.color).toBe('#222222')
    expect(await leader(servers)).toBe(leading)
  })

  it('hand on leadership when the leader stops', async () => {
    const stopping = await leader(servers)
    expect(await stopping.stop()).toBe(0)
    expect(await leader(servers.filter(server => server !== stopping))).not.toBe(stopping)
    await stopping.start()
  })

  it('say that they are not ready while PostgreSQL is gone, answer all the same, and go on when it is back', async () => {
    const [first, second] = servers as [TestServer, TestServer]
    const before = await lastChange(second)
    const stream = listen(second, before)
    await ground.postgres?.stopNow()
    for (const server of servers) {
      await until('it is not ready', async () => (await server.fetch('/readyz')).status === 503)
      expect((await server.fetch('/healthz')).status).toBe(200)
    }
    const body = JSON.stringify({ stack: 'one', sources: [{ name: 'b.yaml', content: 'kind: Label' }] })
    const headers = { 'content-type': 'application/json' }
    for (const [path, init] of [
      ['/api/v1/stacks', {}],
      ['/api/v1/resources/Label', {}],
      ['/api/v1/bundles/apply', { method: 'POST', body, headers }],
    ] as const) {
      const answer = await first.fetch(path, { ...init, signal: AbortSignal.timeout(20_000) })
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        503,
        expect.stringContaining('application/problem+json'),
      ])
      expect(await answer.json()).toMatchObject({ problems: [{ code: 'database.unavailable' }] })
    }

    await ground.postgres?.start()
    for (const server of servers)
      await until('it is ready again', async () => (await server.fetch('/readyz')).status === 200)
    await apply(first, 'one', [a('Label', 'edge', { color: '#333333' })])
    const again = listen(second, before)
    await until('the change is told', () => again.changes.some(({ name }) => name === 'edge'))
    await leader(servers)
    await Promise.all([stream.end(), again.end()])
  })

  it('had one leader at a time, and corrected the drift no second time', async () => {
    await leaders.end()
    expect(leaders.twoAtOnce).toEqual([])
    expect(leaders.seen.size).toBeGreaterThanOrEqual(2)
    expect((await label(servers[0] as TestServer, 'steady')).metadata.revision).toBe(3)
    const { events } = await (servers[0] as TestServer).client.call(stackEvents, { params: { id: 'kept' } })
    expect(events.filter(({ by }) => by === 'reconcile')).toHaveLength(1)
  })
})

/** Makes the stack when it is not there. */
async function apply({ client }: TestServer, stack: string, bundle: readonly object[], lockWait?: string) {
  const isThere = await client.call(getStack, { params: { id: stack } }).then(
    () => true,
    () => false,
  )
  if (!isThere) await client.call(createStack, { body: { name: stack } })
  const body = {
    stack,
    sources: [{ name: 'bundle.json', content: JSON.stringify(bundle) }],
    ...(lockWait && { lockWait }),
  }
  return client.call(applyBundle, { body })
}

async function label({ client }: TestServer, name: string): Promise<LiveResource> {
  const { resources } = await client.call(listResources, { params: { kind: 'Label' }, query: { name: [name] } })
  expect(resources).toHaveLength(1)
  return resources[0] as LiveResource
}

/** Its clients can be used again when it is started again. */
async function kill(server: TestServer) {
  process.kill(server.pid(), 'SIGKILL')
  await server.stop()
}

const refusalOrLoss = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'done',
    error => (error instanceof ApiError ? error : 'lost'),
  )

const lastChange = async ({ query }: TestServer): Promise<number> =>
  Number((await query('select coalesce(max(seq), 0) as seq from feed'))[0]?.seq)

interface Listening {
  readonly changes: FeedEvent[]
  /** False when it has ended. */
  readonly open: boolean
  end(): Promise<void>
}

function listen(server: TestServer, since: number, client = server.client): Listening {
  const stop = new AbortController()
  const listening = { changes: [] as FeedEvent[], open: true, end: async () => {} }
  const read = async () => {
    try {
      for await (const event of client.events({ signal: stop.signal, since }))
        if (event.event === 'change') listening.changes.push(event.change)
    } catch {
      // Its end is what is looked at.
    } finally {
      listening.open = false
    }
  }
  const reading = read()
  listening.end = async () => {
    stop.abort()
    await reading
  }
  return listening
}

const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] as number))

/** A transaction that wants to write to this table waits until it is let go. */
async function holdUp({ database }: TestServer, table: string) {
  const client = new Client({ connectionString: database })
  client.on('error', () => {})
  await client.connect()
  await client.query(`begin; lock table ${table} in share row exclusive mode`)
  const isWaitedFor = async () =>
    (await client.query(`select 1 from pg_locks where not granted and relation = '${table}'::regclass`)).rowCount === 1
  return { waits: () => until(`somebody waits for ${table}`, isWaitedFor), release: () => client.end() }
}

/** Who of these leads, once one does. */
async function leader(servers: readonly TestServer[]): Promise<TestServer> {
  let found: TestServer | undefined
  await until('one leads', async () => {
    const leading = await Promise.all(servers.map(leads))
    found = servers.find((_, index) => leading[index])
    return found !== undefined
  })
  return found as TestServer
}

async function leads({ url }: TestServer): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })
    return answer.ok && ((await answer.json()) as { leader: boolean }).leader
  } catch {
    return false
  }
}

interface LeaderWatch {
  /** When two said twice in a row that they lead: then both did in between. */
  readonly twoAtOnce: string[]
  readonly seen: Set<string>
  end(): Promise<void>
}

function watchLeaders(servers: () => readonly TestServer[]): LeaderWatch {
  const watch = { twoAtOnce: [] as string[], seen: new Set<string>(), end: async () => {} }
  let over = false
  const look = async () => {
    const found = await Promise.all(servers().map(async server => ((await leads(server)) ? server.url : null)))
    return found.filter(url => url !== null)
  }
  const watching = (async () => {
    for (let before: string[] = []; !over; await delay(100)) {
      const now = await look()
      for (const url of now) watch.seen.add(url)
      const both = now.filter(url => before.includes(url))
      if (both.length > 1) watch.twoAtOnce.push(`${new Date().toISOString()}: ${both.join(' and ')}`)
      before = now
    }
  })()
  watch.end = async () => {
    over = true
    await watching
  }
  return watch
}
