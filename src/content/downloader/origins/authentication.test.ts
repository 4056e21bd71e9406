import { afterEach, describe, expect, it } from 'vitest'
import type { Sha256 } from '../../messages.ts'
import { blobAt, failureOf, testOrigins, verdictOf } from './origins.fake.ts'
import { answer, type FakeOptions, type FakeRegistry, startFakeRegistry } from './registry.fake.ts'

const body = Buffer.from('layer')
const started: FakeRegistry[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map(server => server.close()))
})

async function start(options: FakeOptions = {}): Promise<FakeRegistry & { sha256: Sha256 }> {
  const registry = await startFakeRegistry(options)
  started.push(registry)
  return { ...registry, sha256: registry.addBlob(body) }
}

const tokenRequests = ({ seen }: FakeRegistry) => seen.filter(({ path }) => path.startsWith('/token'))
const authorizations = ({ seen }: FakeRegistry) => seen.map(({ headers }) => headers.authorization)
const user = { username: 'ann', password: 'pass:word' }
const basic = `Basic ${Buffer.from('ann:pass:word').toString('base64')}`

describe('a registry that wants a token', () => {
  it.each(['token', 'access_token'] as const)('gets one (%s), asked for with service and scope', async tokenField => {
    const registry = await start({ auth: 'bearer', tokenField })
    const read = await testOrigins().read(blobAt(registry, registry.sha256))
    expect(read.bytes.equals(body)).toBe(true)
    expect(authorizations(registry)).toEqual([undefined, undefined, 'Bearer first-token'])
    expect(tokenRequests(registry)[0]?.path).toBe('/token?service=fake+registry&scope=repository%3Aapp%3Apull')
  })

  it('gets it with the credentials of its host', async () => {
    const registry = await start({ auth: 'bearer', ...user })
    const origins = testOrigins([{ host: registry.host, ...user }])
    await origins.read(blobAt(registry, registry.sha256))
    expect(authorizations(registry)).toEqual([undefined, basic, 'Bearer first-token'])
  })

  it('is asked once for all who wait, and not again while the token is good', async () => {
    const registry = await start({ auth: 'bearer' })
    const origins = testOrigins()
    await Promise.all(Array.from({ length: 8 }, () => origins.read(blobAt(registry, registry.sha256))))
    await origins.read(blobAt(registry, registry.sha256))
    expect(tokenRequests(registry)).toHaveLength(1)
  })

  it.each([
    [undefined, 48_000],
    [100, 80_000],
  ])('is asked anew after 80 % of the time that a token lives (%s s)', async (expiresIn, renewAfterMs) => {
    const registry = await start({ auth: 'bearer', ...(expiresIn !== undefined && { expiresIn }) })
    const origins = testOrigins()
    await origins.read(blobAt(registry, registry.sha256))
    origins.pass(renewAfterMs - 1)
    await origins.read(blobAt(registry, registry.sha256))
    expect(tokenRequests(registry)).toHaveLength(1)
    origins.pass(1)
    registry.tokens.push('second-token')
    await origins.read(blobAt(registry, registry.sha256))
    expect(tokenRequests(registry)).toHaveLength(2)
    expect(authorizations(registry).at(-1)).toBe('Bearer second-token')
  })

  it('that takes a token back is given a new one, once', async () => {
    const registry = await start({ auth: 'bearer' })
    const origins = testOrigins()
    await origins.read(blobAt(registry, registry.sha256))
    registry.tokens.splice(0, 1, 'second-token')
    await origins.read(blobAt(registry, registry.sha256))
    expect(authorizations(registry).slice(3)).toEqual(['Bearer first-token', undefined, 'Bearer second-token'])
  })

  it('that takes no token at all has denied it', async () => {
    const registry = await start({ auth: 'bearer' })
    const origins = testOrigins()
    registry.script.push(answer(401, { 'www-authenticate': `Bearer realm="${registry.url}/token"` }))
    const failure = await failureOf(origins.read(blobAt(registry, registry.sha256)))
    expect(`${failure.code} ${failure.kind}`).toBe('source.unauthorized denied')
    expect(failure.message).toContain(`There are no credentials for ${registry.host}`)
  })

  it('and gives none for these credentials has denied it', async () => {
    const registry = await start({ auth: 'bearer', ...user })
    const origins = testOrigins([{ host: registry.host, username: 'ann', password: 'wrong' }])
    const failure = await failureOf(origins.read(blobAt(registry, registry.sha256)))
    expect(`${failure.code} ${failure.kind}`).toBe('source.unauthorized denied')
    expect(failure.message).toContain(`Check user name and password of the datastore ${registry.host}`)
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['no token', '{}'],
    ['a token that is no text', '{"token":7}'],
    ['a token that would break the header', '{"token":"a\\r\\nx: y"}'],
  ])('and says %s instead is refused', async (_, text) => {
    const realm = await start()
    realm.script.push(answer(200, {}, text))
    const registry = await start({ auth: 'bearer', realm: `${realm.url}/give` })
    expect(await verdictOf(testOrigins().read(blobAt(registry, registry.sha256)))).toBe('source.not-content refused')
  })

  it.each([
    [429, 'source.busy busy'],
    [500, 'source.unreachable passing'],
    [403, 'source.unauthorized denied'],
    [404, 'source.not-found missing'],
  ])('from a place that answers %i has to wait for it', async (status, verdict) => {
    const realm = await start()
    realm.script.push(answer(status))
    const registry = await start({ auth: 'bearer', realm: `${realm.url}/give` })
    expect(await verdictOf(testOrigins().read(blobAt(registry, registry.sha256)))).toBe(verdict)
  })

  it('asks for one by the name of the repository when it names no scope', async () => {
    const realm = await start()
    realm.script.push(answer(200, {}, '{"token":"first-token"}'))
    const registry = await start()
    registry.script.push(answer(401, { 'www-authenticate': `Bearer realm="${realm.url}/give?x=1"` }))
    await testOrigins().read(blobAt(registry, registry.sha256))
    expect(realm.seen[0]?.path).toBe('/give?x=1&scope=repository%3Aapp%3Apull')
  })

  it('does not keep others waiting for one who gave up', async () => {
    const registry = await start({ auth: 'bearer' })
    const origins = testOrigins()
    const controller = new AbortController()
    const [first, second] = [
      origins.read(blobAt(registry, registry.sha256, { signal: controller.signal })),
      origins.read(blobAt(registry, registry.sha256)),
    ]
    controller.abort(new Error('changed my mind'))
    await expect(first).rejects.toThrow('changed my mind')
    expect((await second).bytes.equals(body)).toBe(true)
  })
})

describe('a place to log in at', () => {
  it.each(['http://auth.example/token', 'ftp://auth.example/', 'nowhere', ''])(
    'that is not encrypted, or no place (%j), is not asked',
    async realm => {
      const registry = await start()
      registry.script.push(answer(401, { 'www-authenticate': `Bearer realm="${realm}"` }))
      expect(await verdictOf(testOrigins().read(blobAt(registry, registry.sha256)))).toBe(
        'source.realm-refused refused',
      )
    },
  )

  it('on another host is asked without a name when there are no credentials', async () => {
    const realm = await start()
    realm.script.push(answer(200, {}, '{"token":"first-token"}'))
    const registry = await start({ auth: 'bearer', realm: `${realm.url}/give` })
    await testOrigins().read(blobAt(registry, registry.sha256))
    expect(authorizations(realm)).toEqual([undefined])
  })

  it('on another host does not get the credentials of the registry', async () => {
    const realm = await start()
    const registry = await start({ auth: 'bearer', realm: `${realm.url}/give` })
    const origins = testOrigins([{ host: registry.host, ...user }])
    expect(await verdictOf(origins.read(blobAt(registry, registry.sha256)))).toBe('source.realm-refused refused')
    expect(realm.seen).toEqual([])
  })

  it('on another host gets its own credentials', async () => {
    const realm = await start()
    realm.script.push(answer(200, {}, '{"token":"first-token"}'))
    const registry = await start({ auth: 'bearer', realm: `${realm.url}/give` })
    const origins = testOrigins([
      { host: registry.host, username: 'other', password: 'other' },
      { host: realm.host, ...user },
    ])
    await origins.read(blobAt(registry, registry.sha256))
    expect(authorizations(realm)).toEqual([basic])
  })
})

describe('a server that wants a password', () => {
  it('gets it after it asked, and at once from then on', async () => {
    const registry = await start({ auth: 'basic', ...user })
    const origins = testOrigins([{ host: registry.host, ...user }])
    await origins.read(blobAt(registry, registry.sha256))
    await origins.read(blobAt(registry, registry.sha256))
    expect(authorizations(registry)).toEqual([undefined, basic, basic])
  })

  it.each([
    ['without credentials', [], 'There are no credentials for'],
    ['with wrong ones', [{ username: 'ann', password: 'wrong' }], 'Check user name and password'],
  ])('lets nobody in %s', async (_, credentials, text) => {
    const registry = await start({ auth: 'basic', ...user })
    const origins = testOrigins(credentials.map(each => ({ host: registry.host, ...each })))
    const failure = await failureOf(origins.read(blobAt(registry, registry.sha256)))
    expect(`${failure.code} ${failure.kind}`).toBe('source.unauthorized denied')
    expect(failure.message).toContain(text)
  })

  it('in a way that nobody knows has denied it', async () => {
    const registry = await start()
    registry.script.push(answer(401, { 'www-authenticate': 'Negotiate' }))
    const origins = testOrigins([{ host: registry.host, ...user }])
    expect(await verdictOf(origins.read(blobAt(registry, registry.sha256)))).toBe('source.unauthorized denied')
    expect(authorizations(registry)).toEqual([undefined])
  })
})

describe('other datastores', () => {
  it('drop the tokens of before', async () => {
    const registry = await start({ auth: 'bearer' })
    const origins = testOrigins([{ host: registry.host }])
    await origins.read(blobAt(registry, registry.sha256))
    origins.configure([{ host: registry.host }], 4000)
    await origins.read(blobAt(registry, registry.sha256))
    expect(tokenRequests(registry)).toHaveLength(1)
    origins.configure([{ host: registry.host, ...user }], 4000)
    await origins.read(blobAt(registry, registry.sha256))
    expect(tokenRequests(registry).map(({ headers }) => headers.authorization)).toEqual([undefined, basic])
  })
})
