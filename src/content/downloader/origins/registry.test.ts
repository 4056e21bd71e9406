import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../lib/json.ts'
import type { Sha256 } from '../../messages.ts'
import type { OpenRequest } from '../origin.ts'
import { blobAt, failureOf, never, shortStallMs, type TestOrigins, testOrigins, verdictOf } from './origins.fake.ts'
import {
  answer,
  chunked,
  cutAfter,
  type FakeRegistry,
  notThere,
  partCalled,
  saysNothing,
  stallAfter,
  startFakeRegistry,
} from './registry.fake.ts'

const indexType = 'application/vnd.oci.image.index.v1+json'
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const accepted = [
  indexType,
  manifestType,
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

const body = Buffer.alloc(300_000, 'cairn ')
let registry: FakeRegistry
let origins: TestOrigins
let sha256: Sha256

beforeEach(async () => {
  registry = await startFakeRegistry()
  origins = testOrigins()
  sha256 = registry.addBlob(body)
})
afterEach(() => registry.close())

const blob = (more: Partial<OpenRequest> = {}) => origins.read(blobAt(registry, sha256, more))

describe('a blob', () => {
  it('comes whole, as it lies there', async () => {
    const read = await blob()
    expect(read.bytes.equals(body)).toBe(true)
    expect(read).toMatchObject({ offset: 0, total: body.length, contentType: 'application/octet-stream' })
    expect(registry.seen[0]?.headers).toMatchObject({ 'user-agent': 'cairn', 'accept-encoding': 'identity' })
    expect(registry.asked()).toEqual([`GET /v2/app/blobs/sha256:${sha256}`])
  })

  it('goes on in the middle, with a closed range when the size is known', async () => {
    const read = await blob({ from: 100_000, total: body.length })
    expect(read).toMatchObject({ offset: 100_000, total: body.length })
    expect(read.bytes.equals(body.subarray(100_000))).toBe(true)
    await blob({ from: 100_000 })
    expect(registry.seen.map(({ headers }) => headers.range)).toEqual(['bytes=100000-299999', 'bytes=100000-'])
    expect(registry.seen.map(({ headers }) => headers['if-range'])).toEqual([undefined, undefined])
  })

  it('begins anew when the range is ignored, and says so', async () => {
    registry.script.push(chunked)
    const read = await blob({ from: 100_000, total: body.length })
    expect(read).toMatchObject({ offset: 0, total: null })
    expect(read.bytes.equals(body)).toBe(true)
  })

  it('comes without a word on how long it is', async () => {
    registry.script.push(chunked)
    const read = await blob()
    expect(read.total).toBe(null)
    expect(read.bytes.equals(body)).toBe(true)
  })

  it('that sends less of a range than was asked for ends there, whole as far as it was promised', async () => {
    registry.script.push(answer(206, { 'content-range': 'bytes 100-199/300000' }, body.subarray(100, 200)))
    const read = await blob({ from: 100, total: body.length })
    expect([read.bytes.length, read.total]).toEqual([100, body.length])
  })

  it('is asked for with its digest, or not at all', async () => {
    const source = { kind: 'registry', host: registry.host, repository: 'app' } as const
    expect(await verdictOf(origins.read({ source }))).toBe('source.digest-required refused')
  })

  it.each(['../app', 'App', 'a//b', 'a?b', 'a%2fb', '/a', ''])('of the repository %j is refused', async repository => {
    const source = { kind: 'registry', host: registry.host, repository } as const
    expect(await verdictOf(origins.read({ source, sha256 }))).toBe('source.uri-invalid refused')
    expect(registry.seen).toEqual([])
  })
})

describe('a manifest', () => {
  it('is asked for as all of its kinds, by its digest', async () => {
    const manifest = registry.addManifest('{}', manifestType)
    const read = await origins.read(blobAt(registry, manifest, { as: 'manifest' }))
    expect(read.bytes.toString()).toBe('{}')
    expect(read.contentType).toBe(manifestType)
    expect(registry.asked()).toEqual([`GET /v2/app/manifests/sha256:${manifest}`])
    expect(registry.seen[0]?.headers.accept).toBe(accepted)
  })

  it('of another kind is asked for as that as well', async () => {
    const manifest = registry.addManifest('{}', 'application/x.test+json')
    await origins.read(blobAt(registry, manifest, { as: 'manifest', mediaType: 'application/x.test+json' }))
    expect(registry.seen[0]?.headers.accept).toBe(`${accepted}, application/x.test+json`)
  })
})

describe('a registry that misbehaves', () => {
  it.each([
    ['cuts the connection', cutAfter(1000), 'source.truncated passing'],
    ['cuts it before the first byte', cutAfter(0), 'source.truncated passing'],
    [
      'sends a page for people',
      answer(200, { 'content-type': 'text/html; charset=utf-8' }, '<html>'),
      'source.not-content refused',
    ],
    ['does not have it', notThere, 'source.not-found missing'],
    ['has it no more', answer(410), 'source.not-found missing'],
    ['forbids it', answer(403), 'source.unauthorized denied'],
    ['wants a proxy to be logged in to', answer(407), 'source.unauthorized denied'],
    ['does not like the request', answer(400), 'source.rejected refused'],
    ['has nothing to say', answer(204), 'source.rejected refused'],
    ['leads nowhere', answer(302), 'source.rejected refused'],
    ['is broken', answer(500), 'source.unreachable passing'],
    ['took too long', answer(408), 'source.unreachable passing'],
    ['asks to wait', answer(429), 'source.busy busy'],
    ['is overloaded', answer(503), 'source.busy busy'],
  ])('%s', async (_, behaviour, verdict) => {
    registry.script.push(behaviour)
    expect(await verdictOf(blob())).toBe(verdict)
  })

  it.each([
    ['sends another part', partCalled('bytes 0-299999/300000', 0)],
    ['sends a part of something larger', partCalled('bytes 100000-300000/300001', 100_000)],
    ['does not say which part it sends', answer(206)],
    ['has no such part', answer(416)],
  ])('%s: the download has to begin anew', async (_, behaviour) => {
    registry.script.push(behaviour)
    expect(await verdictOf(blob({ from: 100_000, total: body.length }))).toBe('source.range-unusable range')
  })

  it('sends more than the part it promised', async () => {
    registry.script.push(partCalled('bytes 100-199/300000', 100))
    expect(await verdictOf(blob({ from: 100, total: body.length }))).toBe('source.too-long range')
  })

  it.each([
    ['never answers', saysNothing],
    ['stops in the middle', stallAfter(1000)],
  ])('%s', async (_, behaviour) => {
    origins.configure([], shortStallMs)
    registry.script.push(behaviour)
    expect(await verdictOf(blob())).toBe('source.stalled passing')
  })

  it.each([
    ['7', 7000],
    ['999999', 3_600_000],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
    ['Tue, 01 Jan 2019 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('asks to wait %s', async (header, ms) => {
    registry.script.push(answer(429, { 'retry-after': header }))
    expect((await failureOf(blob())).retryAfterMs).toBe(ms)
  })

  it('is not there', async () => {
    await registry.close()
    expect(await verdictOf(blob())).toBe('source.unreachable passing')
  })
})

describe('a tag', () => {
  const resolve = (tag: string) =>
    origins.resolve({ kind: 'registry', host: registry.host, repository: 'app' }, { kind: 'tag', tag }, never)

  it('is resolved without its body', async () => {
    const manifest = registry.addManifest('{"a":1}', indexType, 'v1')
    expect(await resolve('v1')).toEqual([{ sha256: manifest, mediaType: indexType, size: 7 }])
    expect(registry.asked()).toEqual(['HEAD /v2/app/manifests/v1'])
    expect(registry.seen[0]?.headers.accept).toBe(accepted)
  })

  it.each([
    ['names no digest', answer(200)],
    ['knows no HEAD', answer(405)],
  ])('is resolved by its body when the registry %s', async (_, behaviour) => {
    const manifest = registry.addManifest('{"a":1}', indexType, 'v1')
    registry.script.push(behaviour)
    expect(await resolve('v1')).toEqual([{ sha256: manifest, mediaType: indexType, size: 7 }])
    expect(registry.asked()).toEqual(['HEAD /v2/app/manifests/v1', 'GET /v2/app/manifests/v1'])
  })

  it.each([
    `sha512:${'a'.repeat(128)}`,
    `sha256:${'A'.repeat(64)}`,
    'sha256:../x',
    `sha256:${'a'.repeat(64)}\u00e9`,
    'x',
  ])('of the digest %s is refused', async digest => {
    registry.script.push(answer(200, { 'docker-content-digest': digest }))
    expect(await verdictOf(resolve('v1'))).toBe('source.digest-invalid refused')
  })

  it('whose body is larger than any manifest is refused', async () => {
    registry.script.push(answer(200), answer(200, {}, Buffer.alloc(4 * 2 ** 20 + 1)))
    expect(await verdictOf(resolve('v1'))).toBe('source.too-large refused')
  })

  it('behind a gate that sends pages is not resolved', async () => {
    const page = { 'content-type': 'text/html' }
    registry.script.push(answer(200, { ...page, 'docker-content-digest': `sha256:${sha256}` }))
    expect(await verdictOf(resolve('v1'))).toBe('source.not-content refused')
    registry.script.push(answer(200, page), answer(200, page, '<html>'))
    expect(await verdictOf(resolve('v1'))).toBe('source.not-content refused')
  })

  it('that does not exist is missing', async () => {
    expect(await verdictOf(resolve('v2'))).toBe('source.not-found missing')
  })

  it.each(['../x', 'a/b', '', '.x', 'a'.repeat(129)])('spelled %j is refused', async tag => {
    expect(await verdictOf(resolve(tag))).toBe('source.uri-invalid refused')
    expect(registry.seen).toEqual([])
  })
})

describe('what refers to a digest', () => {
  const root = 'b'.repeat(64) as Sha256
  const descriptor = (of: string, more: object = {}) => ({ mediaType: manifestType, digest: of, size: 5, ...more })
  const found = (sha: string) => ({ sha256: sha, mediaType: manifestType, size: 5 })
  const [one, two] = [sha256Hex('one'), sha256Hex('two')]
  const indexOf = (...manifests: object[]) => JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests })
  const referrers = () =>
    origins.resolve(
      { kind: 'registry', host: registry.host, repository: 'app' },
      { kind: 'referrers', sha256: root },
      never,
    )
  const addApi = (text: string, headers: Record<string, string> = {}) =>
    registry.add(`/v2/app/referrers/sha256:${root}`, {
      body: Buffer.from(text),
      headers: { 'content-type': indexType, ...headers },
    })

  it('is told by the registry', async () => {
    addApi(indexOf(descriptor(`sha256:${one}`), descriptor(`sha256:${two}`)))
    expect(await referrers()).toEqual([found(one), found(two)])
    expect(registry.asked().sort()).toEqual([
      `GET /v2/app/referrers/sha256:${root}`,
      `HEAD /v2/app/manifests/sha256-${root}.sig`,
    ])
  })

  it('is at its tag in registries that cannot tell', async () => {
    registry.addManifest(indexOf(descriptor(`sha256:${one}`)), indexType, `sha256-${root}`)
    expect(await referrers()).toEqual([found(one)])
  })

  it('is at the tag of cosign as well, and comes once', async () => {
    const signature = registry.addManifest('{"signed":true}', manifestType, `sha256-${root}.sig`)
    const described = descriptor(`sha256:${signature}`, { size: 15 })
    addApi(indexOf(described, descriptor(`sha256:${one}`), described))
    expect(await referrers()).toEqual([{ sha256: signature, mediaType: manifestType, size: 15 }, found(one)])
  })

  it('is nothing when there is nothing', async () => {
    expect(await referrers()).toEqual([])
  })

  it('goes on over pages of the same registry, and of no other', async () => {
    addApi(indexOf(descriptor(`sha256:${one}`)), { link: '</v2/app/more?n=1>; rel="next"' })
    registry.add('/v2/app/more', {
      body: Buffer.from(indexOf(descriptor(`sha256:${two}`))),
      headers: { link: '<http://127.0.0.1:1/elsewhere>; rel="next"' },
    })
    expect(await referrers()).toEqual([found(one), found(two)])
  })

  it('leaves out what nobody could fetch, and types that are none', async () => {
    addApi(indexOf(descriptor('sha512:aa'), descriptor(`sha256:${one}`, { mediaType: 'a\nb', size: -1 })))
    expect(await referrers()).toEqual([{ sha256: one, size: 0 }])
  })

  it.each([
    ['no JSON', 'hello'],
    ['no index', '{"layers":[]}'],
  ])('is not read out of %s', async (_, text) => {
    addApi(text)
    expect(await verdictOf(referrers())).toBe('source.not-content refused')
  })

  it('is not known when a gate answers, so that nothing passes for unsigned', async () => {
    addApi('<html>', { 'content-type': 'text/html' })
    expect(await verdictOf(referrers())).toBe('source.not-content refused')
  })
})
