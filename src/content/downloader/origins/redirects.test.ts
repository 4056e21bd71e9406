import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Sha256 } from '../../messages.ts'
import { hostsOf } from './hosts.ts'
import { blobAt, never, testOrigins, verdictOf } from './origins.fake.ts'
import { nextUrl } from './redirects.ts'
import { answer, type FakeRegistry, redirectTo, startFakeRegistry } from './registry.fake.ts'

const body = Buffer.from('a layer that lies elsewhere')
const user = { username: 'ann', password: 'secret' }
let registry: FakeRegistry
let storage: FakeRegistry
let sha256: Sha256

beforeEach(async () => {
  registry = await startFakeRegistry({ auth: 'basic', ...user })
  storage = await startFakeRegistry()
  sha256 = registry.addBlob(body)
  storage.add('/object', { body, headers: {} })
})
afterEach(() => Promise.all([registry.close(), storage.close()]))

const origins = () => testOrigins([{ host: registry.host, ...user }])

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('(%i) to another origin is followed without Authorization', async status => {
    registry.script.push(redirectTo(`${storage.url}/object?signature=x`, status))
    const read = await origins().read(blobAt(registry, sha256))
    expect(read.bytes.equals(body)).toBe(true)
    expect(registry.seen.at(-1)?.headers.authorization).toMatch(/^Basic /)
    expect(storage.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('within the origin keeps it', async () => {
    registry.script.push(redirectTo('/object'))
    registry.add('/object', { body, headers: {} })
    await origins().read(blobAt(registry, sha256))
    expect(registry.seen.at(-1)).toMatchObject({ path: '/object', headers: { authorization: expect.any(String) } })
  })

  it('that comes back from elsewhere does not bring it back', async () => {
    registry.script.push(redirectTo(`${storage.url}/object`))
    storage.script.push(redirectTo(`${registry.url}/object`))
    expect(await verdictOf(origins().read(blobAt(registry, sha256)))).toBe('source.unauthorized denied')
    expect(registry.seen.at(-1)).toMatchObject({ path: '/object' })
    expect(registry.seen.at(-1)?.headers.authorization).toBe(undefined)
  })

  it('takes the range along, and is resolved anew on each open', async () => {
    const both = origins()
    for (const from of [0, 5]) {
      registry.script.push(redirectTo(`${storage.url}/object?signature=${from}`))
      const read = await both.read(blobAt(registry, sha256, { from, total: body.length }))
      expect(read.bytes.equals(body.subarray(from))).toBe(true)
    }
    expect(storage.seen.map(({ path }) => path)).toEqual(['/object?signature=0', '/object?signature=5'])
    expect(storage.seen[1]?.headers.range).toBe(`bytes=5-${body.length - 1}`)
  })

  it('is followed five times and no oftener', async () => {
    const around = `${registry.url}/around`
    registry.add('/around', { body, headers: {} })
    registry.script.push(...Array.from({ length: 5 }, () => redirectTo(around)))
    expect((await origins().read(blobAt(registry, sha256))).bytes.equals(body)).toBe(true)
    registry.script.push(...Array.from({ length: 6 }, () => redirectTo(around)))
    expect(await verdictOf(origins().read(blobAt(registry, sha256)))).toBe('source.too-many-redirects refused')
  })

  it.each(['ftp://127.0.0.1/x', 'file:///etc/passwd', 'data:,x', 'http://'])('to %s is refused', async location => {
    registry.script.push(redirectTo(location))
    expect(await verdictOf(origins().read(blobAt(registry, sha256)))).toBe('source.redirect-invalid refused')
  })

  it('of a registry to a stranger over http is refused', async () => {
    registry.script.push(redirectTo('http://stranger.example/x'))
    expect(await verdictOf(origins().read(blobAt(registry, sha256)))).toBe('source.insecure-redirect refused')
  })

  it('that ends in a page for people is no content', async () => {
    registry.script.push(redirectTo(`${storage.url}/login`))
    storage.script.push(answer(200, { 'content-type': 'text/html' }, '<html>'))
    expect(await verdictOf(origins().read(blobAt(registry, sha256)))).toBe('source.not-content refused')
  })

  it('applies to tags as well', async () => {
    registry.script.push(redirectTo(`${storage.url}/manifest`))
    const headers = { 'docker-content-digest': `sha256:${sha256}` }
    storage.add('/manifest', { body, headers })
    const source = { kind: 'registry', host: registry.host, repository: 'app' } as const
    const found = await origins().resolve(source, { kind: 'tag', tag: 'v1' }, never)
    expect(found).toEqual([{ sha256, size: body.length }])
    expect(storage.asked()).toEqual(['HEAD /manifest'])
  })
})

describe('the next address', () => {
  const hosts = hostsOf([{ host: 'lab.example', plainHttp: true }])
  const next = (from: string, to: string, plainHttp: 'known hosts' | 'anywhere' = 'anywhere') =>
    nextUrl(new URL(from), to, plainHttp, hosts).href

  it('is never in clear after one that was encrypted, not even here', () => {
    for (const to of ['http://a.example/', 'http://lab.example/', 'http://127.0.0.1/'])
      expect(() => next('https://a.example/', to)).toThrow(
        expect.objectContaining({ code: 'source.insecure-redirect' }) as Error,
      )
  })

  it('may be in clear after one in clear, for a registry where a datastore says so', () => {
    expect(next('http://a.example/', 'http://b.example/x')).toBe('http://b.example/x')
    expect(next('http://127.0.0.1/', 'http://lab.example/x', 'known hosts')).toBe('http://lab.example/x')
    expect(() => next('http://127.0.0.1/', 'http://b.example/x', 'known hosts')).toThrow()
  })

  it('has no credentials in it', () => {
    expect(next('https://a.example/', 'https://user:password@b.example/x')).toBe('https://b.example/x')
  })
})
