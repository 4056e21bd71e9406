import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../lib/json.ts'
import type { Sha256 } from '../../messages.ts'
import { never, type TestOrigins, testOrigins, verdictOf } from './origins.fake.ts'
import { answer, type FakeRegistry, redirectTo, startFakeRegistry } from './registry.fake.ts'

const body = Buffer.alloc(10_000, 'file ')
const sha256 = sha256Hex(body) as Sha256
let server: FakeRegistry
let origins: TestOrigins

beforeEach(async () => {
  server = await startFakeRegistry()
  origins = testOrigins()
  server.add('/file', { body, headers: { etag: '"v1"', 'content-type': 'text/html' } })
})
afterEach(() => server.close())

const at = (path: string) => ({ kind: 'url', url: `${server.url}${path}` }) as const

describe('a file at an address', () => {
  it('comes whole, whatever it calls itself', async () => {
    const read = await origins.read({ source: at('/file#part') })
    expect(read.bytes.equals(body)).toBe(true)
    expect(read).toMatchObject({ offset: 0, total: 10_000, validator: '"v1"', contentType: 'text/html' })
    expect(server.asked()).toEqual(['GET /file'])
  })

  it('is asked for with its query', async () => {
    await origins.read({ source: at('/file?version=2') })
    expect(server.asked()).toEqual(['GET /file?version=2'])
  })

  it('goes on while its validator holds', async () => {
    const read = await origins.read({ source: at('/file'), from: 4000, total: 10_000, validator: '"v1"' })
    expect(read.offset).toBe(4000)
    expect(read.bytes.equals(body.subarray(4000))).toBe(true)
    expect(server.seen[0]?.headers).toMatchObject({ range: 'bytes=4000-9999', 'if-range': '"v1"' })
  })

  it('begins anew when it has changed', async () => {
    const read = await origins.read({ source: at('/file'), from: 4000, validator: '"v0"' })
    expect(read).toMatchObject({ offset: 0, total: 10_000 })
  })

  it('begins anew when nothing says that it is the same', async () => {
    expect(await origins.read({ source: at('/file'), from: 4000 })).toMatchObject({ offset: 0 })
    expect(server.seen[0]?.headers.range).toBe(undefined)
  })

  it('goes on without a validator when a digest says what it is', async () => {
    const read = await origins.read({ source: at('/file'), from: 4000, sha256, validator: '"v0"' })
    expect(read.offset).toBe(4000)
    expect(server.seen[0]?.headers['if-range']).toBe(undefined)
  })

  it('may lead to another server in clear when it is in clear itself', async () => {
    const other = await startFakeRegistry()
    other.add('/there', { body, headers: {} })
    server.script.push(redirectTo(`${other.url}/there`))
    try {
      expect((await origins.read({ source: at('/file') })).bytes.equals(body)).toBe(true)
    } finally {
      await other.close()
    }
  })

  it.each(['ftp://a.example/x', 'file:///etc/passwd', 'nowhere', ''])('is not at %j', async url => {
    expect(await verdictOf(origins.read({ source: { kind: 'url', url } }))).toBe('source.uri-invalid refused')
  })

  it('has no tags, and nothing refers to it', async () => {
    expect(await verdictOf(origins.resolve(at('/file'), { kind: 'tag', tag: 'v1' }, never))).toBe(
      'source.without-tags refused',
    )
    expect(await origins.resolve(at('/file'), { kind: 'referrers', sha256 }, never)).toEqual([])
  })
})

describe('credentials', () => {
  const basic = `Basic ${Buffer.from('ann:p@ss').toString('base64')}`
  const withUser = (path: string) => {
    const url = new URL(path, server.url)
    url.username = 'ann'
    url.password = 'p@ss'
    return { kind: 'url', url: url.href } as const
  }
  const authorizations = () => server.seen.map(({ headers }) => headers.authorization)

  it('in the address are shown at once, and to no other origin', async () => {
    const other = await startFakeRegistry()
    other.add('/there', { body, headers: {} })
    server.script.push(redirectTo(`${other.url}/there`))
    try {
      await origins.read({ source: withUser('/file') })
      expect(authorizations()).toEqual([basic])
      expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
    } finally {
      await other.close()
    }
  })

  it('in the address that are not accepted are not shown again', async () => {
    server.script.push(answer(401, { 'www-authenticate': 'Basic realm="x"' }))
    expect(await verdictOf(origins.read({ source: withUser('/file') }))).toBe('source.unauthorized denied')
    expect(authorizations()).toEqual([basic])
  })

  it('of the datastore are shown when they are asked for', async () => {
    origins.configure([{ host: server.host, username: 'ann', password: 'p@ss' }], 5000)
    server.script.push(answer(401, { 'www-authenticate': 'Basic realm="x"' }))
    await origins.read({ source: at('/file') })
    expect(authorizations()).toEqual([undefined, basic])
  })
})
