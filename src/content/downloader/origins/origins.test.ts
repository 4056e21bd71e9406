import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Source } from '../../source.ts'
import { blobAt, failureOf, shortStallMs, testOrigins } from './origins.fake.ts'
import {
  answer,
  type Behaviour,
  cutAfter,
  type FakeRegistry,
  redirectTo,
  saysNothing,
  stallAfter,
  startFakeRegistry,
} from './registry.fake.ts'

const inRegistry = (host: string): Source => ({ kind: 'registry', host, repository: 'team/app' })
const atUrl = (url: string): Source => ({ kind: 'url', url })

describe('mirrors', () => {
  const origins = testOrigins([
    { host: 'registry.example', mirrors: ['near.example:5000', '127.0.0.1:5000'] },
    { host: 'files.example', mirrors: ['near.example', 'lab.example', 'no host'] },
    { host: 'lab.example', plainHttp: true },
  ])

  it('of a registry are tried before it, in order', () => {
    expect(origins.withMirrors(inRegistry('registry.example'))).toEqual([
      inRegistry('near.example:5000'),
      inRegistry('127.0.0.1:5000'),
      inRegistry('registry.example'),
    ])
    expect(origins.withMirrors(inRegistry('other.example'))).toEqual([inRegistry('other.example')])
  })

  it('of a server have its files at the same path, each spoken to in its own way', async () => {
    const source = atUrl('https://files.example/a%20b/c.img')
    const sources = origins.withMirrors(source)
    expect(sources).toEqual([
      atUrl('https://near.example/a%20b/c.img'),
      atUrl('http://lab.example/a%20b/c.img'),
      atUrl('https://no host/a%20b/c.img'),
      source,
    ])
    expect((await failureOf(origins.read({ source: sources[2]! }))).code).toBe('source.uri-invalid')
  })

  it('get no address with a query or a user in it, since these may be secrets', () => {
    for (const url of ['https://files.example/c.img?signature=x', 'https://ann:pw@files.example/c.img', 'nowhere'])
      expect(origins.withMirrors(atUrl(url))).toEqual([atUrl(url)])
  })

  it('are not for places of this machine', () => {
    const source: Source = { kind: 'oci-layout', path: '/mnt/stick' }
    expect(origins.withMirrors(source)).toEqual([source])
  })
})

describe('the host that limits count', () => {
  it.each([
    [inRegistry('Registry.Example:443'), 'registry.example'],
    [inRegistry('registry-1.docker.io'), 'docker.io'],
    [atUrl('https://files.example:8443/x'), 'files.example:8443'],
    [atUrl('nowhere'), null],
    [{ kind: 'file', path: '/x' } as const, null],
    [{ kind: 'oci-layout', path: '/x' } as const, null],
  ])('of %j is %s', (source, host) => {
    expect(testOrigins().hostOf(source)).toBe(host)
  })
})

describe('secrets', () => {
  const [password, token, signature] = ['canary-password', 'canary-token', 'canary-signature']
  let registry: FakeRegistry
  let storage: FakeRegistry

  beforeEach(async () => {
    registry = await startFakeRegistry({ auth: 'bearer', username: 'ann', password })
    storage = await startFakeRegistry()
    registry.tokens[0] = token
  })
  afterEach(() => Promise.all([registry.close(), storage.close()]))

  const signed = () => `${storage.url}/object?X-Signature=${signature}`
  const echo: Behaviour = ({ headers, url }, response) =>
    void response.writeHead(400, `bad ${headers.authorization}`).end(`${url} ${headers.authorization}`)

  it.each<[string, Behaviour[], Behaviour[]]>([
    ['is missing', [answer(404)], []],
    ['is forbidden', [answer(403)], []],
    ['echoes what it was asked', [echo], []],
    ['wants another token', [answer(401, { 'www-authenticate': `Bearer realm="http://a.example/?t=${token}"` })], []],
    ['leads into the clear', [redirectTo(`http://ann:${password}@a.example/?X=${signature}`)], []],
    ['leads nowhere', [redirectTo(`ftp://a.example/?X=${signature}`)], []],
    ['leads to what is missing', [], [answer(404)]],
    ['leads to what echoes', [], [echo]],
    ['leads to what is cut', [], [cutAfter(1)]],
    ['leads to what stalls', [], [stallAfter(1)]],
    ['leads to what never answers', [], [saysNothing]],
    ['leads to another part', [], [answer(206)]],
    ['leads to what is busy', [], [answer(429)]],
    ['leads to a page', [], [answer(200, { 'content-type': 'text/html' })]],
  ])('are in no text when the content %s', async (_, first, then) => {
    const sha256 = registry.addBlob(Buffer.from('layer'))
    storage.add('/object', { body: Buffer.from('layer'), headers: {} })
    registry.script.push(...(first.length > 0 ? first : [redirectTo(signed())]))
    storage.script.push(...then)
    const origins = testOrigins([{ host: registry.host, username: 'ann', password }], shortStallMs)
    const failure = await failureOf(origins.read(blobAt(registry, sha256)))
    expect(registry.seen.some(({ headers }) => headers.authorization === `Bearer ${token}`)).toBe(true)
    expect(spoken(failure)).not.toMatch(/canary/)
  })

  it('are in no text when an address holds them', async () => {
    const origins = testOrigins([], shortStallMs)
    const texts: string[] = []
    storage.add('/object', { body: Buffer.from('file'), headers: {} })
    for (const behave of [answer(404), answer(401), cutAfter(1), saysNothing, answer(500)]) {
      storage.script.push(behave)
      const url = signed().replace('//', `//ann:${password}@`)
      texts.push(spoken(await failureOf(origins.read({ source: atUrl(url) }))))
    }
    for (const url of [
      `ftp://ann:${password}@a.example/?X=${signature}`,
      `https://ann:${password}@a b/?X=${signature}`,
    ])
      texts.push(spoken(await failureOf(origins.read({ source: atUrl(url) }))))
    const tags = origins.resolve(atUrl(signed()), { kind: 'tag', tag: 'v1' }, new AbortController().signal)
    texts.push(spoken(await failureOf(tags)))
    expect(texts.join('\n')).not.toMatch(/canary/)
  })

  /** All that a log could show of it. */
  const spoken = (failure: Error) =>
    [failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)].join('\n')
})
