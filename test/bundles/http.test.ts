// The API of a real server process: who may do what, hostile bytes, many at once, a stop under load, TLS.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createToken, revokeToken } from '../../src/server/contract/access.ts'
import { routes } from '../../src/server/contract/all.ts'
import * as resources from '../../src/server/contract/resources.ts'
import type { Route } from '../../src/server/contract/route.ts'
import { type Role, roles } from '../../src/server/ports.ts'
import { exchange, sendUntilClosed } from './raw-http.ts'
import { type Ground, openGround, type TestServer, until } from './server.ts'

const json = { 'content-type': 'application/json' }
const lasts = {
  expired: 'auth.expired',
  revoked: 'auth.revoked',
  unknown: 'auth.invalid',
  none: 'auth.missing',
} as const

let ground: Ground
let server: TestServer
const tokens: Partial<Record<Role | 'expired' | 'revoked' | 'unknown', string>> = {}

beforeAll(async () => {
  ground = await openGround()
  server = await ground.startServer({ flags: ['--limit', 'refusedLogins=1000000', '--limit', 'arriveMs=4000'] })
  const make = (role: Role, more: { machine?: string; expiresIn?: string } = {}) =>
    server.client.call(createToken, { body: { name: `a ${role}`, role, ...more } })
  for (const role of roles) tokens[role] = (await make(role, role === 'machine' ? { machine: 'atlas' } : {})).text
  tokens.expired = (await make('admin', { expiresIn: '1ms' })).text
  const revoked = await make('admin')
  await server.client.call(revokeToken, { params: { id: revoked.token.id } })
  tokens.revoked = revoked.text
  tokens.unknown = `${server.adminToken.slice(0, -4)}0000`
})
afterAll(() => ground?.remove())

/** After whatever a test did. */
afterEach(async () => {
  expect((await server.fetch('/readyz')).status).toBe(200)
  expect(server.log().match(/"level":(50|60).*/g)).toBeNull()
  expect(server.log()).not.toMatch(/"status":5\d\d/)
})

const authorized = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

async function ask(token: string | undefined, path: string, init: RequestInit = {}) {
  const response = await fetch(server.url + path, { ...init, headers: { ...authorized(token), ...init.headers } })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream) await response.body?.cancel()
  const text = isStream ? '' : await response.text()
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json')
  return { status: response.status, text, code: isProblem ? JSON.parse(text).problems[0]?.code : undefined }
}

describe('every route times every caller', () => {
  const callers = [...roles, 'expired', 'revoked', 'unknown', 'none'] as const
  const table = (Object.entries(routes) as [string, Route][]).flatMap(([name, route]) =>
    callers.map(caller => ({ name, caller, route })),
  )

  /** Nothing is there under this name, so that nobody who may do it does harm. */
  const askFor = (route: Route, token: string | undefined) =>
    ask(token, route.path.replace('{kind}', 'Label').replace(/\{\w+\}/g, 'nothing-here'), {
      method: route.method,
      ...(route.body && { headers: json, body: route.path.endsWith('/status') ? '{"status":{}}' : '{}' }),
    })

  it.each(table)('$name as $caller', async ({ caller, route }) => {
    const { status, code } = await askFor(route, caller === 'none' ? undefined : tokens[caller])
    if (route.allow === 'anyone') return expect(status).toBe(200)
    if (caller in lasts)
      return expect({ status, code }).toEqual({ status: 401, code: lasts[caller as keyof typeof lasts] })
    // Of resources a machine may see one, itself.
    const isOther = caller === 'machine' && route.path.startsWith('/api/v1/resources/')
    if (isOther || !route.allow.includes(caller as Role))
      return expect({ status, code }).toEqual({ status: 403, code: 'auth.not-allowed' })
    const declared = [...route.statuses, 400, ...route.errors.filter(error => error < 500)]
    expect(declared).toContain(status)
  })
})

describe('a machine', () => {
  const idOf = (name: string) =>
    server.client
      .call(resources.createResource, { params: { kind: 'Machine' }, body: { spec: { name } } })
      .then(made => made.metadata.id)
  let atlas: string
  let borea: string

  beforeAll(async () => {
    borea = await idOf('borea')
    atlas = await idOf('atlas')
  })

  it('sees itself, by id and by name, and of others not even whether they are there', async () => {
    for (const id of [atlas, 'atlas']) {
      const own = await ask(tokens.machine, `/api/v1/resources/Machine/${id}`)
      expect(own.status).toBe(200)
      expect(JSON.parse(own.text)).toMatchObject({ metadata: { id: atlas }, spec: { name: 'atlas' } })
    }
    const other = await ask(tokens.machine, `/api/v1/resources/Machine/${borea}`)
    expect(other).toMatchObject({ status: 403, code: 'auth.not-allowed' })
    expect(await ask(tokens.machine, '/api/v1/resources/Machine/no-such')).toEqual(other)
  })

  it('reports its own status and no other', async () => {
    const put = (id: string) =>
      ask(tokens.machine, `/api/v1/resources/Machine/${id}/status`, {
        method: 'PUT',
        headers: json,
        body: JSON.stringify({ status: { phase: 'Healthy', conditions: [] } }),
      })
    expect((await put(borea)).status).toBe(403)
    expect((await put(atlas)).status).toBe(204)
    const statusOf = async (id: string) =>
      (await server.client.call(resources.getResource, { params: { kind: 'Machine', id } })).status
    expect(await statusOf(atlas)).toMatchObject({ phase: 'Healthy' })
    expect(await statusOf(borea)).toBeNull()
  })

  it('hears of itself only', async () => {
    const heard = async (token: string | undefined) => {
      const stop = new AbortController()
      const names: string[] = []
      for await (const event of server.clientOf(token ?? '').events({ since: 0, signal: stop.signal })) {
        if (event.event !== 'change') continue
        names.push(event.change.name)
        // Told after everything that was done to the other.
        if (event.change.name === 'atlas') stop.abort()
      }
      return names
    }
    expect(await heard(tokens.admin)).toContain('borea')
    expect(new Set(await heard(tokens.machine))).toEqual(new Set(['atlas']))
  })
})

describe('who may not', () => {
  it('changes nothing by trying', async () => {
    const label = await server.client.call(resources.createResource, {
      params: { kind: 'Label' },
      body: { spec: { name: 'kept' } },
    })
    const path = `/api/v1/resources/Label/${label.metadata.id}`
    for (const caller of ['viewer', 'machine', 'expired', 'revoked', 'unknown'] as const) {
      expect((await ask(tokens[caller], path, { method: 'DELETE' })).status).toBeGreaterThanOrEqual(401)
      const body = JSON.stringify({ spec: { name: 'changed' } })
      expect((await ask(tokens[caller], path, { method: 'PUT', headers: json, body })).status).toBeGreaterThanOrEqual(
        401,
      )
    }
    const now = await server.client.call(resources.getResource, { params: { kind: 'Label', id: label.metadata.id } })
    expect(now).toEqual(label)
  })
})

describe('hostile bytes', () => {
  const head = (start: string, headers: readonly string[] = []) =>
    [start, 'host: here', `authorization: Bearer ${server.adminToken}`, ...headers, '', ''].join('\r\n')
  const post = (
    path: string,
    body: string | Uint8Array,
    headers: readonly string[] = ['content-type: application/json'],
  ) =>
    Buffer.concat([
      Buffer.from(head(`POST ${path} HTTP/1.1`, [...headers, `content-length: ${Buffer.byteLength(body)}`])),
      Buffer.from(body as Uint8Array),
    ])
  const stack = (body: string | Uint8Array, ...headers: string[]) =>
    post('/api/v1/stacks', body, headers.length > 0 ? headers : undefined)
  const plan = (body: string | Uint8Array) => post('/api/v1/bundles/plan', body, ['content-type: application/yaml'])
  const unfinished = (...headers: string[]) =>
    head('POST /api/v1/stacks HTTP/1.1', ['content-type: application/json', ...headers])
  const get = (path: string, ...headers: string[]) => head(`GET ${path} HTTP/1.1`, headers)
  const mebibyte = 2 ** 20

  it.each<[string, () => string | Uint8Array, readonly number[]]>([
    ['a body of 10 MiB and one byte', () => stack(Buffer.alloc(10 * mebibyte + 1, 'x')), [413]],
    ['a body that says it is a terabyte', () => unfinished('content-length: 1000000000000'), [413]],
    ['a length beyond all numbers', () => unfinished(`content-length: ${'9'.repeat(30)}`), [400]],
    ['a negative length', () => unfinished('content-length: -1'), [400]],
    ['100,000 open brackets', () => stack('['.repeat(100_000)), [400]],
    ['100,000 nested objects', () => stack(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), [400]],
    ['100,000 nested lists in the bundle', () => post('/api/v1/bundles/plan', '['.repeat(100_000)), [400]],
    ['100,000 nested lists in YAML', () => plan('['.repeat(100_000)), [400, 422]],
    ['YAML that unfolds without end', () => plan(aliases(40)), [400, 422]],
    ['UTF-8 that is none, in JSON', () => stack(Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d])), [400]],
    ['UTF-8 that is none, in YAML', () => plan(Buffer.from([0x6b, 0x3a, 0x20, 0xff, 0xfe])), [400, 422]],
    ['UTF-16', () => stack(Buffer.from('{"name":"x"}', 'utf16le')), [400]],
    ['a NUL in a text', () => stack('{"name":"a\\u0000b"}'), [400]],
    ['a form', () => stack('name=x', 'content-type: application/x-www-form-urlencoded'), [415]],
    ['no content type', () => stack('{"name":"x"}', 'x-none: 1'), [415]],
    ['another charset', () => stack('{"name":"x"}', 'content-type: application/json; charset=latin1'), [415]],
    [
      'a zipped body',
      () => stack(gzipSync('{"name":"x"}'), 'content-type: application/json', 'content-encoding: gzip'),
      [415],
    ],
    [
      'a bomb of zeroes, zipped',
      () => stack(gzipSync(Buffer.alloc(50 * mebibyte)), 'content-type: application/json', 'content-encoding: gzip'),
      [415],
    ],
    ['two lengths', () => unfinished('content-length: 2', 'content-length: 3'), [400]],
    ['a length and chunks', () => unfinished('content-length: 2', 'transfer-encoding: chunked'), [400]],
    ['an unknown transfer encoding', () => unfinished('transfer-encoding: xchunked'), [400]],
    ['chunks of no size', () => `${unfinished('transfer-encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`, [400]],
    [
      'a chunk beyond all numbers',
      () => `${unfinished('transfer-encoding: chunked')}${'f'.repeat(20)}\r\n{}`,
      [400, 413],
    ],
    ['a chunk longer than it says', () => `${unfinished('transfer-encoding: chunked')}2\r\n{}{}{}\r\n0\r\n\r\n`, [400]],
    ['an address of 15 KiB', () => get(`/api/v1/stacks/${'x'.repeat(15_000)}`), [400, 404, 414]],
    ['an address of 100 KiB', () => get(`/${'x'.repeat(100_000)}`), [431]],
    ['a header of 100 KiB', () => get('/healthz', `x: ${'y'.repeat(100_000)}`), [431]],
    ['10,000 headers', () => get('/healthz', ...Array.from({ length: 10_000 }, (_, at) => `x-${at}: y`)), [431]],
    ['a NUL in the address', () => get('/api/v1/stacks/a\0b'), [400]],
    ['a NUL in the address, encoded', () => get('/api/v1/stacks/a%00b'), [400]],
    ['half of an encoded character', () => get('/api/v1/stacks/%e2%82'), [400]],
    ['percent signs of no meaning', () => get('/api/v1/stacks/%%%zz%'), [400]],
    ['percent signs of no meaning in the query', () => get('/api/v1/stacks?name=%zz'), [400]],
    ['a way up', () => get('/api/v1/../../../etc/passwd'), [404]],
    ['a way up, encoded', () => get('/api/v1/stacks/..%2f..%2f..%2fetc%2fpasswd'), [400, 404]],
    ['a method nobody knows', () => head('FETCH /healthz HTTP/1.1'), [400]],
    ['a method of others', () => head('PROPFIND /healthz HTTP/1.1'), [405]],
    ['a method of late', () => head('QUERY /healthz HTTP/1.1'), [405]],
    ['a trace', () => head('TRACE /healthz HTTP/1.1'), [405]],
    ['a tunnel', () => head('CONNECT elsewhere.example:443 HTTP/1.1'), []],
    ['another version', () => head('GET /healthz HTTP/9.9'), [400]],
    ['the greeting of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['the greeting of TLS', () => Buffer.from('16030100a5010000a10303', 'hex'), [400]],
    ['a space before the colon', () => get('/healthz', 'x : y'), [400]],
    ['a folded header', () => get('/healthz', 'x: y\r\n z: w'), [400]],
    ['an expectation nobody has', () => unfinished('content-length: 2', 'expect: wonders'), [417]],
    ['two tokens', () => get('/api/v1/me', 'authorization: Bearer other'), [400]],
    ['rubbish', () => Buffer.from(Array.from({ length: 4_000 }, (_, at) => (at * 7919) % 256)), [400]],
  ])('%s: refused, and the server goes on', async (_what, bytes, expected) => {
    const { statuses, closed } = await exchange(server.url, bytes())
    // A tunnel is not answered at all.
    if (expected.length === 0) return expect({ statuses, closed }).toEqual({ statuses: [], closed: true })
    expect(statuses).toHaveLength(1)
    expect(expected).toContain(statuses[0])
  })

  it('a body without end, in chunks: refused once it is too large', async () => {
    const piece = Buffer.from(`${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`)
    const { statuses, sent } = await sendUntilClosed(server.url, unfinished('transfer-encoding: chunked'), piece, {
      withinMs: 20_000,
    })
    expect(statuses).toEqual([413])
    expect(sent).toBeGreaterThan(10 * mebibyte)
    expect(sent).toBeLessThan(64 * mebibyte)
  })

  it.each([
    ['without a token', () => 'POST /api/v1/stacks HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n', 401],
    ['to no route', () => 'POST /nowhere HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n', 404],
  ])('a body without end %s is refused before it is read', async (_what, start, status) => {
    expect((await exchange(server.url, `${start()}2\r\n{}\r\n`)).statuses).toEqual([status])
  })

  it.each([
    ['a body', () => unfinished('content-length: 1000')],
    ['headers', () => 'POST /api/v1/stacks HTTP/1.1\r\nx: '],
    [
      'the body of one who is refused',
      () => 'POST /api/v1/stacks HTTP/1.1\r\nhost: here\r\ncontent-length: 1000\r\n\r\n',
    ],
  ])('%s that comes byte by byte is not waited for', async (_what, start) => {
    const { closed, statuses } = await sendUntilClosed(server.url, start(), Buffer.from('x'), {
      pauseMs: 100,
      withinMs: 20_000,
    })
    expect(closed).toBe(true)
    for (const status of statuses) expect([401, 408]).toContain(status)
  })

  it('HTTP/1.0 is answered and closed', async () => {
    const { statuses, closed } = await exchange(server.url, 'GET /healthz HTTP/1.0\r\n\r\n', { answers: 2 })
    expect({ statuses, closed }).toEqual({ statuses: [200], closed: true })
  })

  it('requests in one go are answered one by one, in their order', async () => {
    const ids = Array.from({ length: 50 }, (_, at) => `r-${at}`)
    const paths = ['/healthz', '/api/v1/stacks', '/api/v1/me']
    const good = ids.map((id, at) => get(paths[at % 3] ?? '', `x-request-id: ${id}`)).join('')
    const { statuses, text } = await exchange(server.url, good, { answers: ids.length })
    expect(statuses).toEqual(ids.map(() => 200))
    expect([...text.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id)).toEqual(ids)
  })

  it('a hundred who send 10 MiB at once leave it no larger than 400 MB', async () => {
    const body = stack(Buffer.alloc(10 * mebibyte - 1, 'x'))
    const all = await Promise.all(Array.from({ length: 100 }, () => exchange(server.url, body, { withinMs: 60_000 })))
    const statuses = all.flatMap(answer => answer.statuses)
    // What a busy machine does not bring in time is 408.
    for (const status of statuses) expect([400, 408, 429]).toContain(status)
    expect(statuses).toContain(429)
    expect(residentMegabytes(server.pid())).toBeLessThan(400)
  })
})

describe('many at once', () => {
  it('500 requests are all answered', async () => {
    const bundle = JSON.stringify({ sources: [{ name: 'a.yaml', content: 'kind: Label\nmetadata: { name: edge }\n' }] })
    const asked = Array.from({ length: 500 }, (_, at) => {
      const token = tokens[roles[at % 3] ?? 'viewer']
      return at % 5 === 0
        ? ask(token, '/api/v1/bundles/plan', { method: 'POST', headers: json, body: bundle })
        : ask(token, at % 2 === 0 ? '/api/v1/stacks' : '/api/v1/resources/Label')
    })
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter(status => status !== 200)).toEqual([])
  })

  it('of one token are refused beyond its share, not queued without end', async () => {
    const asked = await Promise.all(Array.from({ length: 600 }, () => ask(tokens.viewer, '/api/v1/stacks')))
    for (const { status, code } of asked) expect([200, 'limit.requests']).toContain(status === 200 ? 200 : code)
    expect((await ask(tokens.viewer, '/api/v1/stacks')).status).toBe(200)
  })

  it('leave it no larger than 400 MB', () => {
    expect(residentMegabytes(server.pid())).toBeLessThan(400)
  })
})

describe('what browsers are told', () => {
  it.each(['/healthz', '/api/v1/docs', '/api/v1/me', '/nowhere', '/api/v1/stacks/%zz', '/api/v1/events'])(
    '%s',
    async path => {
      const response = await server.fetch(path)
      await response.body?.cancel()
      const policy = response.headers.get('content-security-policy')
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toContain('unsafe')
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      })
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
      expect(response.headers.get('server')).toBeNull()
    },
  )

  it('what is no HTTP', async () => {
    expect((await exchange(server.url, 'rubbish\r\n\r\n')).text).toMatch(/x-content-type-options: nosniff/i)
  })
})

describe('beyond loopback', () => {
  it('speaks TLS only, with a certificate of its own', async () => {
    const open = await ground.startServer({ listen: '0.0.0.0:0' })
    expect(open.url).toMatch(/^https:/)
    expect((await open.client.call(routes.whoAmI, {})).role).toBe('admin')
    const plain = `http://127.0.0.1:${new URL(open.url).port}`
    const { statuses } = await exchange(plain, 'GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n', { withinMs: 5_000 })
    for (const status of statuses) expect(status).toBe(400)
    // Nobody has to believe that certificate unseen.
    await expect(fetch(`https://127.0.0.1:${new URL(open.url).port}/healthz`)).rejects.toThrow()
    expect(await open.stop()).toBe(0)
  })
})

describe('a stop under load', () => {
  it('finishes what it began, takes nothing new, and ends well', async () => {
    const busy = await ground.startServer()
    const content = Array.from({ length: 2_000 }, (_, at) => `kind: Label\nmetadata: { name: l-${at} }\n`)
    let begun = 0
    let answered = 0
    const applies = ['a', 'b', 'c', 'd'].map(async name => {
      const body = {
        stackName: name,
        sources: [{ name: 'l.yaml', content: content.join('---\n').replaceAll('l-', `${name}-`) }],
      }
      const onProgress = once(() => begun++)
      const { outcome } = await busy.client.stream(routes.applyBundle, { body, onProgress })
      answered++
      return outcome.did
    })
    const all = Promise.all(applies)
    await expect.poll(() => begun, { timeout: 30_000 }).toBe(4)
    const before = answered
    const stopped = busy.stop()
    expect(await all).toEqual(['applied', 'applied', 'applied', 'applied'])
    expect(await stopped).toBe(0)
    expect(before, 'some were under way').toBeLessThan(4)
    await expect(busy.fetch('/healthz')).rejects.toThrow()
    expect(busy.log()).not.toMatch(/"level":(50|60)/)

    await busy.start()
    const { stacks } = await busy.clientOf(busy.adminToken).call(routes.listStacks, {})
    expect(stacks.map(({ name, resources }) => [name, resources.length]).sort()).toEqual(
      ['a', 'b', 'c', 'd'].map(name => [name, 2_000]),
    )
    expect(await busy.stop()).toBe(0)
  })

  it('lets every reader know, and leaves nobody waiting', async () => {
    const busy = await ground.startServer()
    const streams = await Promise.all(Array.from({ length: 20 }, () => busy.fetch('/api/v1/events')))
    const ended = Promise.all(streams.map(stream => stream.text()))
    let refused = 0
    const asking = Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let turn = 0; turn < 10_000; turn++) {
          const status = await busy.fetch('/api/v1/stacks').then(
            response => response.arrayBuffer().then(() => response.status),
            () => 'refused' as const,
          )
          if (status === 200) continue
          expect([503, 'refused']).toContain(status)
          refused++
          return
        }
      }),
    )
    await until('there is load', () => busy.log().split('"route":"listStacks"').length > 100)
    expect(await busy.stop()).toBe(0)
    await Promise.all([ended, asking])
    expect(refused).toBe(20)
  })
})

/** Each alias stands for ten of the one before. */
const aliases = (depth: number): string =>
  Array.from(
    { length: depth },
    (_, at) =>
      `a${at}: &a${at} [${Array(10)
        .fill(at === 0 ? 'x' : `*a${at - 1}`)
        .join(', ')}]`,
  ).join('\n')

const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

function once(action: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    action()
  }
}
