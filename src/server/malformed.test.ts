// Whatever arrives, the answer is 4xx with a code, and the server goes on.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, openHarness } from './harness.fake.ts'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ requestBytes: 100_000, headerBytes: 8_000 })
})
afterAll(() => harness.close())

const json = { 'content-type': 'application/json' }

async function answerTo(
  path: string,
  init: Parameters<Harness['request']>[1],
): Promise<{ status: number; codes: string[] }> {
  const response = await harness.request(path, init)
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  const body = (await response.json()) as { status: number; problems: { code: string }[] }
  expect(body.status).toBe(response.status)
  return { status: response.status, codes: body.problems.map(({ code }) => code) }
}

const stack = (name: string) => JSON.stringify({ name })

describe('a body', () => {
  it.each<[string, string | Uint8Array, number, string]>([
    ['that is no JSON', '{"name":', 400, 'request.unreadable'],
    ['that is a comment', '{"name":"x" /* y */}', 400, 'request.unreadable'],
    ['that is empty text in JSON', '""', 400, 'value.type'],
    ['that is null', 'null', 400, 'value.type'],
    ['that is a list', '[]', 400, 'value.type'],
    ['without a required key', '{}', 400, 'value.missing'],
    ['with an unknown key', '{"name":"x","nmae":"y"}', 400, 'request.unknown-key'],
    ['with a key twice', '{"name":"x","name":"y"}', 400, 'request.given-twice'],
    ['with a key twice in two spellings', '{"name":"x","n\\u0061me":"y"}', 400, 'request.given-twice'],
    ['with a prototype as key', '{"name":"x","__proto__":{"a":1}}', 400, 'request.unknown-key'],
    ['with a constructor as key', '{"name":"x","constructor":{"a":1}}', 400, 'request.unknown-key'],
    ['with a NUL', '{"name":"a\\u0000b"}', 400, 'request.unreadable'],
    ['with a raw control character', '{"name":"a\u0000b"}', 400, 'request.unreadable'],
    ['with half of a surrogate pair', '{"name":"\\ud800"}', 400, 'request.unreadable'],
    ['in UTF-16', Buffer.from('{"name":"x"}', 'utf16le'), 400, 'request.unreadable'],
    ['in bad UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 400, 'request.unreadable'],
    ['nested very deep', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`, 400, 'limit.depth'],
    ['of open brackets only', '['.repeat(90_000), 400, 'limit.depth'],
    ['of a wrong type', '{"name":{}}', 400, 'value.type'],
    ['with a number that is none', '{"name":NaN}', 400, 'request.unreadable'],
    ['that is too large', stack('x'.repeat(100_001)), 413, 'limit.request'],
    ['with a name that is too long', stack('x'.repeat(300)), 400, 'value.too-long'],
    ['with a duration that is none', '{"name":"x","reconcile":"soon"}', 422, 'duration.invalid'],
  ])('%s is refused', async (_what, body, status, code) => {
    const answer = await answerTo('/api/v1/stacks', { method: 'POST', headers: json, body: body as string })
    expect(answer).toEqual({ status, codes: [code] })
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })

  it.each([
    ['no type', undefined],
    ['another type', 'text/plain'],
    ['another charset', 'application/json; charset=latin1'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['YAML, where it is no bundle', 'application/yaml'],
    ['rubbish as type', ';;;'],
  ])('with %s is 415', async (_what, type) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
    const body = new Blob([stack('x')])
    expect(await answerTo('/api/v1/stacks', { method: 'POST', headers, body })).toEqual({
      status: 415,
      codes: ['request.content-type'],
    })
  })

  it('that is compressed is 415', async () => {
    const headers = { ...json, 'content-encoding': 'gzip' }
    expect((await answerTo('/api/v1/stacks', { method: 'POST', headers, body: stack('x') })).status).toBe(415)
  })

  it('of the bundle itself needs no envelope, in YAML and in JSON, and its place is the stack of the query', async () => {
    const yaml = 'kind: Label\nmetadata: {name: edge}\n'
    const bundles: [string, string, string][] = [
      ['application/yaml', yaml, 'yaml'],
      ['application/json', '[{"kind":"Label"}]', 'json'],
      ['application/json', '{"kind":"Label"}', 'json'],
    ]
    for (const [type, body, encoding] of bundles) {
      const headers = { 'content-type': type }
      const response = await harness.request('/api/v1/bundles/plan?stack=homelab', { method: 'POST', headers, body })
      expect(response.status).toBe(200)
      expect(harness.engine.calls.at(-1)).toEqual([
        'plan',
        [expect.objectContaining({ stack: 'homelab', sources: [{ name: 'body', content: body, encoding }] }), {}],
      ])
    }
  })

  it('that names the stack a second time is 400', async () => {
    const request = { method: 'POST', headers: json, body: '{"stack":"homelab"}' }
    expect(await answerTo('/api/v1/bundles/plan?stack=homelab', request)).toEqual({
      status: 400,
      codes: ['request.given-twice'],
    })
  })

  it('of several forms is told the problems of the form that was meant', async () => {
    const apply = (body: object) =>
      answerTo('/api/v1/bundles/apply', { method: 'POST', headers: json, body: JSON.stringify(body) })
    expect((await apply({ planId: 'p', confrm: [] })).codes).toEqual(['request.unknown-key'])
    expect((await apply({ sources: [{ name: 'a' }] })).codes).toEqual(['value.missing'])
  })

  it('without anything stands for an empty object', async () => {
    expect((await harness.request('/api/v1/stacks/homelab/cancel', { method: 'POST' })).status).toBe(200)
  })
})

describe('an address', () => {
  it.each([
    ['/api/v1/stacks/%zz', 400, 'request.unreadable'],
    ['/api/v1/stacks/%ff', 400, 'request.unreadable'],
    ['/api/v1/stacks/a%00b', 400, 'request.unreadable'],
    ['/api/v1/stacks/no-such', 404, 'stack.unknown'],
    ['/api/v1/stacks/', 400, 'value.too-short'],
    ['/api/v1/resources/Lable', 404, 'kind.unknown'],
    ['/api/v1/resources/__proto__', 404, 'kind.unknown'],
    ['/api/v1/kinds/constructor/schema', 404, 'kind.unknown'],
    ['/api/v1/resources/Label/none', 404, 'resource.unknown'],
    ['/api/v1/../../etc/passwd', 404, 'route.unknown'],
    ['/api/v1/stacks?limit=0', 400, 'value.range'],
    ['/api/v1/stacks?limit=1e99', 400, 'value.range'],
    ['/api/v1/stacks?limit=x', 400, 'value.type'],
    ['/api/v1/stacks?limit=1&limit=2', 400, 'value.type'],
    ['/api/v1/stacks?limit', 400, 'value.range'],
    ['/api/v1/stacks?unknown=1', 400, 'request.unknown-key'],
    ['/api/v1/stacks?__proto__=1', 400, 'request.unknown-key'],
    ['/api/v1/stacks?name=%zz', 400, 'request.unreadable'],
    ['/api/v1/stacks?name=%C3%28', 400, 'request.unreadable'],
    ['/api/v1/stacks?name=a%00b', 400, 'request.unreadable'],
    ['/api/v1/events?since=-1', 400, 'value.range'],
    ['/favicon.ico', 404, 'route.unknown'],
  ])('%s is refused', async (path, status, code) => {
    expect(await answerTo(path, {})).toEqual({ status, codes: [code] })
  })

  it('that is too long is refused, in its path and in its query', async () => {
    const codes = ['value.too-long']
    expect(await answerTo(`/api/v1/stacks/${'x'.repeat(400)}`, {})).toEqual({ status: 400, codes })
    expect(await answerTo(`/api/v1/stacks?${'name=x&'.repeat(101)}`, {})).toEqual({ status: 400, codes })
  })

  it('asked with another method names those that there are', async () => {
    const response = await harness.request('/api/v1/stacks/homelab', { method: 'PUT' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'PATCH'])
  })
})

describe('headers', () => {
  it.each<[string, Record<string, string>, number, string]>([
    ['If-Match that is no revision', { 'if-match': 'W/"1"' }, 400, 'request.if-match'],
    ['If-Match with two revisions', { 'if-match': '"1", "2"' }, 400, 'request.if-match'],
  ])('%s', async (_what, headers, status, code) => {
    const request = { method: 'PATCH', headers: { ...json, ...headers }, body: '{}' }
    expect(await answerTo('/api/v1/stacks/homelab', request)).toEqual({ status, codes: [code] })
  })

  it('Last-Event-ID that is no number is 400, an Accept that nothing fits 406', async () => {
    expect((await answerTo('/api/v1/events', { headers: { 'last-event-id': 'x' } })).status).toBe(400)
    expect((await answerTo('/api/v1/stacks', { headers: { accept: 'image/png' } })).codes).toEqual(['request.accept'])
    expect((await answerTo('/api/v1/events', { headers: { accept: 'application/json' } })).status).toBe(406)
  })

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    [
      'two content lengths',
      'POST /api/v1/stacks HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
    ],
    [
      'a length and chunks',
      'POST /healthz HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
    ['headers that are too long', `GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(9_000)}\r\n\r\n`, 431],
    [
      'two tokens',
      'GET /api/v1/me HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n',
      400,
    ],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
  ])('with %s are refused', async (_what, text, status) => {
    const { port } = new URL(harness.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(text)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })
})

describe('every answer', () => {
  it('says to browsers that nothing here is theirs, and has an id that the log has too', async () => {
    for (const path of ['/healthz', '/api/v1/me', '/nowhere', '/api/v1/stacks/%zz']) {
      const { headers } = await harness.request(path)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
    }
    const answer = await harness.request('/api/v1/me', { headers: { 'x-request-id': 'mine-1' } })
    expect(answer.headers.get('x-request-id')).toBe('mine-1')
    expect(harness.log.some(line => line.includes('"request":"mine-1"'))).toBe(true)
  })

  it('of a failure nobody foresaw tells nothing of the inside, and the log has it without secrets', async () => {
    harness.engine.answers = {
      stacks: async () => {
        throw new Error('SQLITE_CORRUPT at /var/lib/cairn.db, password=hunter2')
      },
    }
    const response = await harness.request('/api/v1/stacks')
    harness.engine.answers = {}
    expect(response.status).toBe(500)
    expect(await response.text()).not.toMatch(/SQLITE|hunter2|\.ts/)
    const logged = harness.log.find(line => line.includes('SQLITE_CORRUPT'))
    expect(logged).toBeDefined()
    expect(logged).not.toContain('hunter2')
  })
})
