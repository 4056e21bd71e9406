// Everything that people, servers and peers can get wrong, on purpose or not: the answer says what is wrong, with a code and
// an exit code that scripts can go by, and the machine is as it was before.
import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contentIdOf, contentRefOf } from '../../src/content/content-ref.ts'
import type { ContentConfig, ContentStatus, Sha256, Trust } from '../../src/content/messages.ts'
import { connectTo } from '../../src/content/supervisor/connect.ts'
import { type FakeEntry, gzip, plain, tarOf, zstd } from '../../src/lib/archive/archives.fake.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { forgingPeer, hello } from './bad-input-frames.ts'
import { type ContentMachine, type Daemon, installCairn, namesIn, type Program, until } from './faults-machine.ts'
import { type FaultyServer, ociType, serveManifest, startServer } from './faults-server.ts'
import { type VerifiedWatch, watchVerified } from './faults-verified.ts'

const mib = 2 ** 20

let program: Program
let machine: ContentMachine
let daemon: Daemon
let watch: VerifiedWatch
let server: FaultyServer
let kept: Sha256
let before: ReturnType<typeof stateOf>
const servers: FaultyServer[] = []

beforeAll(async () => {
  program = await installCairn()
  machine = program.machine()
  watch = watchVerified(machine.layout.verified)
  server = await serve()
  daemon = await machine.daemon()
  // So that there is something that could be changed.
  kept = server.put('/kept', randomBytes(1000))
  expect((await machine.cairn('content', 'pull', server.url('/kept'))).code).toBe(0)
  expect((await machine.cairn('volume', 'create', 'kept', '--from', 'blank', '--size', '1MiB')).code).toBe(0)
  before = stateOf(machine)
})
afterAll(async () => {
  await daemon?.stop()
  await Promise.all(servers.map(one => one.close()))
  const wrong = watch?.end()
  await program?.remove()
  expect(wrong).toEqual([])
})

async function serve() {
  const one = await startServer()
  servers.push(one)
  return one
}

/** What is asked for and what was made of it. */
function stateOf({ layout }: ContentMachine) {
  const read = (directory: string) =>
    (readdirSync(directory, { recursive: true }) as string[]).sort().map(path => {
      const isFile = /\.json$|\.raw$/.test(path)
      return isFile ? `${path} ${sha256Hex(readFileSync(join(directory, path)))}` : path
    })
  return {
    requests: read(layout.requests),
    volumes: read(layout.volumes),
    latches: read(join(layout.manager, 'latches')),
    kept: namesIn(layout.verified).filter(name => name.startsWith(kept)),
  }
}

/** Refused, and all is as it was; others may be refused at the same time. */
async function refused(exit: number, words: string[]) {
  const { code, said } = await machine.cairn(...words)
  expect({ code, said }, words.join(' ')).toMatchObject({ code: exit, said: { error: { code: expect.any(String) } } })
  await unchanged()
  return said.error
}

/** Soon: what was refused may still be on its way out. */
async function unchanged() {
  const isSame = () => JSON.stringify(stateOf(machine)) === JSON.stringify(before)
  await until('all is as it was', isSame, 20_000).catch(() => expect(stateOf(machine)).toEqual(before))
}

const codesOf = ({ code, problems }: Awaited<ReturnType<typeof refused>>) =>
  problems.length > 0 ? problems.map(problem => `${problem.code} ${problem.path}`.trim()) : [code]

describe.concurrent('on the command line', () => {
  const digest = 'a'.repeat(64)
  const pull = (...words: string[]) => ['content', 'pull', ...words]
  const create = (name: string, ...words: string[]) => ['volume', 'create', name, ...words]
  const address = 'http://127.0.0.1:1/x'

  it.each<[string, number, string[], string[]]>([
    ['a digest that is too short', 64, pull(address, '--digest', 'abc'), ['usage.bad-value']],
    ['a digest that is a path', 64, pull(address, '--digest', '../../../etc/passwd'), ['usage.bad-value']],
    ['a digest of SHA-512', 64, pull(address, '--digest', `sha512:${'a'.repeat(128)}`), ['usage.bad-value']],
    ['a digest of another algorithm in a name', 3, pull(`host/app@sha512:${'a'.repeat(128)}`), ['digest.unsupported']],
    ['a short digest in a name', 3, pull('host/app@sha256:abc'), ['digest.invalid']],
    ['two digests', 3, pull(`host/app@sha256:${digest}`, '--digest', 'b'.repeat(64)), ['digest.conflict']],
    ['an empty name', 3, pull(''), ['reference.invalid']],
    ['a name with a newline', 3, pull('host/app\n:v1'), ['reference.invalid']],
    ['a name that climbs', 3, pull('host/../app:v1'), ['reference.invalid']],
    ['a tag that is none', 3, pull('host/app:v/1'), ['reference.invalid']],
    ['a password in an address', 3, pull('https://ann:secret@host/x'), ['reference.credentials']],
    ['http without a digest', 3, pull('http://example.com/x'), ['reference.insecure']],
    ['an unknown kind of address', 3, pull('ftp://host/x'), ['reference.unsupported']],
    ['a platform that is none', 64, pull('host/app', '--platform', 'linux'), ['usage.bad-value']],
    ['a key that is not there', 3, pull('host/app', '--key', '/nowhere.pub'), ['input.unreadable --key']],
    ['a volume with a slash', 3, create('a/b', '--from', 'blank', '--size', '1MiB'), ['name.invalid NAME']],
    ['a volume with a plus', 3, create('a+b', '--from', 'blank', '--size', '1MiB'), ['name.invalid NAME']],
    ['a volume with a #', 3, create('a#b', '--from', 'blank', '--size', '1MiB'), ['name.invalid NAME']],
    ['a volume of 64 letters', 3, create('a'.repeat(64), '--from', 'blank', '--size', '1MiB'), ['name.invalid NAME']],
    ['a volume in upper case', 3, create('A', '--from', 'blank', '--size', '1MiB'), ['name.invalid NAME']],
    ['several mistakes', 3, create('a/b', '--from', 'blank'), ['name.invalid NAME', 'volume.size-required --size']],
    ['a blank disk of nothing', 3, create('b', '--from', 'blank'), ['volume.size-required --size']],
    ['a blank disk of 0 bytes', 3, create('b', '--from', 'blank', '--size', '0'), ['volume.size-required --size']],
    ['a size below nothing', 64, create('b', '--from', 'blank', '--size', '-5MiB'), ['usage.bad-value']],
    ['half a byte', 3, create('b', '--from', 'blank', '--size', '0.5'), ['volume.size-required --size']],
    ['more bytes than can be counted', 64, create('b', '--from', 'blank', '--size', '9999999TiB'), ['usage.bad-value']],
    ['storage on a network', 3, create('b', '--from', 'nfs://host/x'), ['volume.origin-unsupported --from']],
    ['cloud-init without data', 3, create('b', '--from', 'cloud-init'), ['value.missing --user-data']],
    ['a volume that exists', 4, create('kept', '--from', 'blank', '--size', '1MiB'), ['volume.exists']],
    ['a volume that is not there', 4, ['volume', 'show', 'nothing'], ['volume.unknown']],
    ['data that would be lost', 4, ['volume', 'rm', 'kept'], ['volume.data-loss']],
    ['content that is not there', 4, ['content', 'rm', 'nothing'], ['content.unknown']],
    ['a file that is not there', 1, pull('/nowhere/at/all'), ['source.not-found']],
    ['a directory', 1, pull('/etc/'), ['source.unreadable']],
  ])('%s is refused', async (_, exit, words, codes) => {
    expect(codesOf(await refused(exit, words))).toEqual(codes)
  })

  it('a digest in upper case is the same digest', async () => {
    const sha256 = server.put('/upper', randomBytes(1000))
    const { code, said } = await machine.cairn(
      'content',
      'pull',
      server.url('/upper'),
      '--digest',
      sha256.toUpperCase(),
    )
    expect({ code, said }).toMatchObject({ code: 0, said: { sha256 } })
    await machine.cairn('content', 'rm', sha256)
  })

  it('a blank disk that is larger than the file system is refused with numbers', async () => {
    const { blocks, bsize } = statfsSync(machine.root)
    const more = blocks * bsize + mib
    const { code, message } = await refused(1, create('b', '--from', 'blank', '--size', String(more)))
    expect([code, message]).toEqual(['volume.larger-than-disk', expect.stringContaining(String(more))])
  })

  it('user data of more than 16 MiB is refused with numbers', async () => {
    const file = join(machine.root, 'user-data')
    writeFileSync(file, 'x'.repeat(16 * mib + 1))
    const error = await refused(3, create('b', '--from', 'cloud-init', '--user-data', file))
    expect(codesOf(error)).toEqual(['value.too-long --user-data'])
  })

  it('user data that is no text is refused', async () => {
    const file = join(machine.root, 'not-text')
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0]))
    expect(codesOf(await refused(3, create('b', '--from', 'cloud-init', '--user-data', file)))).toEqual([
      'input.not-utf8',
    ])
  })
})

describe.concurrent('in the settings', () => {
  it.each<[string, object | string, string[]]>([
    ['text that is no JSON', '{ oops', ['json.syntax']],
    ['an unknown key', { 'content.stal': '30s' }, ['key.unknown ["content.stal"]']],
    ['a number that is too small', { 'content.attempts': 0 }, ['value.invalid ["content.attempts"]']],
    ['a duration that is none', { 'content.stall': 'soon' }, ['duration.invalid ["content.stall"]']],
    ['a stall that is too short', { 'content.stall': '1s' }, ['value.invalid ["content.stall"]']],
    ['a size that is none', { 'content.bandwidth': 'much' }, ['size.invalid ["content.bandwidth"]']],
    [
      'a password file that is not there',
      { datastores: [{ host: 'h', passwordFile: 'x' }] },
      ['file.missing datastores[0].passwordFile'],
    ],
    [
      'several mistakes',
      { 'content.attempts': 99, 'content.atOnce': 0, 'content.stall': 'soon' },
      ['duration.invalid ["content.stall"]', 'value.invalid ["content.atOnce"]', 'value.invalid ["content.attempts"]'],
    ],
  ])('%s is refused, and no process is started', async (_, settings, codes) => {
    const other = program.machine()
    other.configure({})
    const file = join(other.root, 'etc/cairn/content.json')
    writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings))
    const { code, said } = await other.cairn('content', 'list')
    expect(code).toBe(3)
    expect(codesOf(said.error).sort()).toEqual(codes.sort())
    expect(existsSync(join(other.root, 'cairn'))).toBe(false)
  })
})

describe.concurrent('in an image', () => {
  const manifestType = ociType('manifest.v1+json')
  const indexType = ociType('index.v1+json')
  const blob = Buffer.from('a blob that nobody should ask for')
  const descriptor = (change: object = {}) => ({
    mediaType: ociType('layer.v1.tar'),
    digest: `sha256:${sha256Hex(blob)}`,
    size: blob.length,
    ...change,
  })
  const manifest = (change: object = {}) => ({
    schemaVersion: 2,
    mediaType: manifestType,
    config: descriptor({ mediaType: ociType('config.v1+json') }),
    layers: [descriptor()],
    ...change,
  })
  const withLayer = (change: object) => manifest({ layers: [descriptor(change)] })
  const index = (...manifests: object[]) => ({ schemaVersion: 2, mediaType: indexType, manifests })

  /** The image cannot be had, for good, and nothing that it names was asked for. */
  async function isRefused(document: object | string, type?: string) {
    const registry = await serve()
    serveManifest(registry, document, type)
    registry.put(`/v2/app/blobs/sha256:${sha256Hex(blob)}`, blob)
    const error = await refused(1, ['content', 'pull', `${registry.host}/app:v1`])
    expect(registry.asked.filter(({ path }) => path.includes('/blobs/'))).toEqual([])
    return error
  }

  it.each<[string, object | string, string]>([
    [
      'a manifest of more than 4 MiB',
      manifest({ annotations: { padding: 'x'.repeat(4 * mib) } }),
      'content.manifest-too-large',
    ],
    ['more than 1000 blobs', manifest({ layers: Array(1000).fill(descriptor()) }), 'content.too-many-blobs'],
    ['a size below nothing', withLayer({ size: -1 }), 'content.manifest-invalid'],
    ['half a byte', withLayer({ size: 1.5 }), 'content.manifest-invalid'],
    ['a size that cannot be counted', withLayer({ size: 2 ** 53 }), 'content.manifest-invalid'],
    ['a size that is a text', withLayer({ size: '5' }), 'content.manifest-invalid'],
    ['a media type with a newline', withLayer({ mediaType: 'text/plain\nx' }), 'content.manifest-invalid'],
    ['a media type of 300 letters', withLayer({ mediaType: `text/${'x'.repeat(300)}` }), 'content.manifest-invalid'],
    ['a digest of SHA-512', withLayer({ digest: `sha512:${'a'.repeat(128)}` }), 'digest.unsupported'],
    ['a digest in upper case', withLayer({ digest: `sha256:${'A'.repeat(64)}` }), 'digest.unsupported'],
    ['a digest that is a path', withLayer({ digest: 'sha256:../../../../etc/passwd' }), 'digest.unsupported'],
    ['a key twice', JSON.stringify(manifest()).replace('{', '{"layers":[],'), 'content.manifest-invalid'],
    ['no JSON', '<html>', 'content.manifest-invalid'],
    ['a list', '[]', 'content.manifest-invalid'],
    ['a byte order mark', `\uFEFF${JSON.stringify(manifest())}`, 'content.manifest-invalid'],
    ['index and manifest at once', { ...manifest(), manifests: [] }, 'content.manifest-invalid'],
    ['a manifest of schema 1', { schemaVersion: 1, fsLayers: [] }, 'content.manifest-unsupported'],
    [
      'JSON that is nested too deeply',
      `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'content.manifest-invalid',
    ],
  ])('%s is refused, and no part of it is fetched', async (_, document, code) => {
    expect((await isRefused(document)).code).toBe(code)
  })

  it('an index in an index is refused', async () => {
    const inner = descriptor({ mediaType: indexType, platform: { os: 'linux', architecture: 'amd64' } })
    expect((await isRefused(index(inner), indexType)).code).toBe('content.nested-index')
  })

  it('an index without this platform is refused, and those that it has are told', async () => {
    const other = descriptor({ mediaType: manifestType, platform: { os: 'plan9', architecture: 'mips' } })
    const { code, message } = await isRefused(index(other), indexType)
    expect([code, message]).toEqual(['content.no-platform', expect.stringContaining('plan9/mips')])
  })

  it('a document that is not what was promised is refused', async () => {
    expect((await isRefused(manifest({ mediaType: indexType }))).code).toBe('content.media-type-mismatch')
  })

  it('addresses of its own are not followed', async () => {
    const [registry, foreign] = [await serve(), await serve()]
    foreign.put('/layer', blob)
    registry.put(`/v2/app/blobs/sha256:${sha256Hex(blob)}`, blob)
    serveManifest(registry, withLayer({ urls: [foreign.url('/layer')] }))
    const { code, said } = await machine.cairn('content', 'pull', `${registry.host}/app:v1`)
    expect([code, said.state]).toEqual([0, 'verified'])
    expect(foreign.asked).toEqual([])
    await machine.cairn('content', 'rm', said.id)
    await unchanged()
  })

  it('a part that has another size than its manifest says is refused', async () => {
    const registry = await serve()
    const layer = randomBytes(1000)
    for (const body of [blob, layer]) registry.put(`/v2/app/blobs/sha256:${sha256Hex(body)}`, body)
    serveManifest(registry, withLayer({ digest: `sha256:${sha256Hex(layer)}`, size: 1001 }))
    const { code } = await refused(1, ['content', 'pull', `${registry.host}/app:v1`])
    expect(['content.size-mismatch', 'content.too-short']).toContain(code)
  })

  it.each<[string, string]>([
    ['of another algorithm', `sha512:${'a'.repeat(128)}`],
    ['in upper case', `sha256:${'A'.repeat(64)}`],
    ['that is a path', 'sha256:../../x'],
  ])('a tag with a digest %s is refused', async (_, digest) => {
    const registry = await serve()
    registry.putTyped('/v2/app/manifests/v1', blob, { 'content-type': manifestType, 'docker-content-digest': digest })
    expect((await refused(1, ['content', 'pull', `${registry.host}/app:v1`])).code).toBe('source.digest-invalid')
    expect(registry.asked.map(({ method }) => method)).toEqual(['HEAD'])
  })

  it.each<[string, string]>([
    ['on http of another host', 'http://192.0.2.1/token'],
    ['that is no address', 'nowhere'],
    ['that is a file', 'file:///etc/passwd'],
  ])('a server that wants a password sent to a realm %s is refused', async (_, realm) => {
    const registry = await startServer({
      guard: (_request, response) =>
        Boolean(response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}"` }).end()),
    })
    servers.push(registry)
    expect((await refused(1, ['content', 'pull', `${registry.host}/app:v1`])).code).toBe('source.realm-refused')
  })
})

describe('in a container', () => {
  const zeros: FakeEntry[] = [{ name: 'zeros', content: Buffer.alloc(160 * mib) }]

  it.each<[string, FakeEntry[], (tar: Buffer) => Buffer, string]>([
    ['a bomb in gzip', zeros, gzip, 'archive.limit'],
    ['a bomb in zstd', zeros, zstd, 'archive.limit'],
    ['a name that climbs', [{ name: '../../escaped', content: 'x' }], plain, 'archive.traversal'],
    ['an absolute name', [{ name: '/../../escaped', content: 'x' }], plain, 'archive.traversal'],
    [
      'a link that leads out',
      [
        { name: 'out', kind: 'symlink', link: '../../../../../../../..' },
        { name: 'out/tmp/escaped', content: 'x' },
      ],
      gzip,
      'archive.link-escape',
    ],
    [
      'a hard link that leads out',
      [{ name: 'x', kind: 'hardlink', link: '../../../../etc/passwd' }],
      plain,
      'archive.traversal',
    ],
    ['a path that is too deep', [{ name: `${'d/'.repeat(200)}x`, content: 'x' }], gzip, 'archive.limit'],
  ])('%s is refused, and nothing is left of it', async (_, entries, compress, code) => {
    const registry = await serve()
    const tar = tarOf(entries)
    const reference = serveContainer(registry, compress(tar), sha256Hex(tar))
    const error = await refused(1, ['volume', 'create', 'bomb', '--kind', 'container', '--from', reference])
    expect(error.code).toBe(code)
    expect(existsSync('/tmp/escaped')).toBe(false)
  })

  it('a layer that is not what its image says is refused', async () => {
    const registry = await serve()
    const reference = serveContainer(registry, tarOf([{ name: 'x' }]), 'a'.repeat(64))
    const error = await refused(1, ['volume', 'create', 'bomb', '--kind', 'container', '--from', reference])
    expect(error.code).toBe('image.layer-mismatch')
  })

  function serveContainer(registry: FaultyServer, layer: Buffer, diffId: string): string {
    const put = (body: Buffer, mediaType: string) => {
      const sha256 = registry.put(`/v2/app/blobs/sha256:${sha256Hex(body)}`, body)
      return { mediaType, digest: `sha256:${sha256}`, size: body.length }
    }
    const config = { os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] } }
    serveManifest(registry, {
      schemaVersion: 2,
      mediaType: ociType('manifest.v1+json'),
      config: put(Buffer.from(JSON.stringify(config)), ociType('config.v1+json')),
      layers: [put(layer, ociType('layer.v1.tar'))],
    })
    return `${registry.host}/app:v1`
  }
})

describe('on a channel', () => {
  const config = (change: object = {}): object => ({
    scope: 'images',
    id: 'forged',
    ref: {
      name: 'forged',
      sources: [{ kind: 'url', url: 'http://127.0.0.1:1/x' }],
      size: 0,
      platform: { os: 'linux', architecture: 'amd64' },
      trust: { policy: 'none', keys: [], certificates: [] },
    },
    until: 'verified',
    ...change,
  })
  const put = (topic: string, value: unknown, more: object = {}) => ({
    do: 'put',
    topic,
    key: 'images/forged',
    value,
    ...more,
  })
  const withRef = (change: object) =>
    put('contentConfig', config({ ref: { ...(config() as ContentConfig).ref, ...change } }))
  const verified = {
    state: 'verified',
    path: '/etc/passwd',
    mediaType: 'a/b',
    size: 1,
    currentSize: 1,
    attempt: 0,
    expired: false,
  }

  it.each<[string, 'agent.sock' | 'status.sock', unknown[], string]>([
    ['a message before hello', 'agent.sock', [put('contentConfig', config())], 'frame.invalid'],
    ['hello twice', 'agent.sock', [hello, hello], 'frame.invalid'],
    ['another protocol', 'agent.sock', [{ ...hello, protocol: 99 }], 'protocol.unknown'],
    ['what is no JSON', 'agent.sock', [hello, Buffer.from('{')], 'frame.invalid'],
    ['what is no UTF-8', 'agent.sock', [hello, Buffer.from([0x22, 0xc3, 0x28, 0x22])], 'frame.invalid'],
    ['nothing', 'agent.sock', [hello, Buffer.alloc(0)], 'frame.invalid'],
    ['an unknown message', 'agent.sock', [hello, { do: 'obey' }], 'frame.invalid'],
    ['a message with more than it has', 'agent.sock', [hello, { do: 'beat', extra: 1 }], 'frame.invalid'],
    ['an unknown topic', 'agent.sock', [hello, put('everything', {})], 'message.not-allowed'],
    ['__proto__ as a topic', 'agent.sock', [hello, put('__proto__', {})], 'message.not-allowed'],
    ['a status of the verifier', 'agent.sock', [hello, put('verifyStatus', verified)], 'message.not-allowed'],
    ['a request of the manager', 'agent.sock', [hello, put('downloadConfig', {})], 'message.not-allowed'],
    [
      'a question for the supervisor',
      'agent.sock',
      [hello, { do: 'call', id: 1, name: 'sync', args: {} }],
      'message.not-allowed',
    ],
    [
      'a request by one who may only look',
      'status.sock',
      [hello, put('contentConfig', config())],
      'message.not-allowed',
    ],
    ['settings by one who may only look', 'status.sock', [hello, put('downloadSettings', {})], 'message.not-allowed'],
    [
      'a removal by one who may only look',
      'status.sock',
      [hello, { do: 'retract', topic: 'volumeConfig', key: 'x', n: 1 }],
      'message.not-allowed',
    ],
    [
      'a scope that does not exist',
      'agent.sock',
      [hello, put('contentConfig', config({ scope: 'everything' }))],
      'message.invalid',
    ],
    [
      'a scope of the manager',
      'agent.sock',
      [hello, put('contentConfig', config({ scope: 'unknown' }))],
      'message.invalid',
    ],
    ['a digest in upper case', 'agent.sock', [hello, withRef({ sha256: 'A'.repeat(64) })], 'message.invalid'],
    [
      'a digest that is a path',
      'agent.sock',
      [hello, withRef({ sha256: '../../../../etc/passwd' })],
      'message.invalid',
    ],
    ['a size below nothing', 'agent.sock', [hello, withRef({ size: -1 })], 'message.invalid'],
    ['half a byte', 'agent.sock', [hello, withRef({ size: 0.5 })], 'message.invalid'],
    ['a size that cannot be counted', 'agent.sock', [hello, withRef({ size: 2 ** 53 })], 'message.invalid'],
    ['a media type with a newline', 'agent.sock', [hello, withRef({ mediaType: 'a/b\nc' })], 'message.invalid'],
    ['no source', 'agent.sock', [hello, withRef({ sources: [] })], 'message.invalid'],
    [
      'settings that are kept',
      'agent.sock',
      [hello, put('managerSettings', {}, { keep: { n: 1 } })],
      'message.not-allowed',
    ],
  ])('%s closes it with the reason, and changes nothing', async (_, name, frames, code) => {
    const peer = await forgingPeer(machine.layout.run, name)
    for (const frame of frames) peer.send(frame)
    expect(await peer.closed()).toMatchObject({ do: 'fault', code })
    await unchanged()
  })

  it('a frame of 2 GiB is not waited for', async () => {
    const peer = await forgingPeer(machine.layout.run, 'agent.sock')
    peer.send(hello)
    peer.send(Buffer.from('x'), 2 ** 31)
    expect(await peer.closed()).toMatchObject({ do: 'fault', code: 'frame.too-long' })
    await unchanged()
  })

  it('half a frame keeps nobody else waiting', async () => {
    const peer = await forgingPeer(machine.layout.run, 'agent.sock')
    peer.send(Buffer.from('x'), 1000)
    expect((await machine.cairn('content', 'list')).code).toBe(0)
    peer.close()
  })

  it('the processes live through all of it', () => {
    expect([...daemon.processes().keys()].sort()).toEqual(['downloader', 'manager', 'verifier'])
    expect(daemon.log).not.toContain('is started again')
  })
})

describe('with a signature', () => {
  const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

  /** Asks for it as an agent would, and tells what came of it. */
  async function judged(trust: Partial<Trust>): Promise<ContentStatus> {
    const peer = (await connectTo(machine.layout, 'requester'))!
    const ref = contentRefOf({
      text: server.url('/kept'),
      baseDirectory: '/',
      sha256: kept,
      trust: { policy: 'required', keys: [], certificates: [], ...trust },
    })
    if (!('name' in ref)) throw new Error(JSON.stringify(ref))
    const key = `packages/${contentIdOf(ref)}`
    peer.publish('contentConfig', key, { scope: 'packages', id: contentIdOf(ref), ref, until: 'verified' })
    try {
      const isJudged = (status?: ContentStatus) => (status?.error || status?.state === 'verified' ? status : null)
      return (await until('it is judged', () => isJudged(peer.all('contentStatus').get(key)))) as ContentStatus
    } finally {
      peer.retract('contentConfig', key)
      peer.close()
    }
  }

  it.each<[string, (sign: (digest: Buffer) => string, digest: Buffer) => Partial<Trust>, string]>([
    ['of 3 bytes', () => ({ signature: Buffer.from('abc').toString('base64') }), 'signature.invalid'],
    ['of nothing', () => ({ signature: '' }), 'signature.invalid'],
    ['that is no base64', () => ({ signature: '!!!!' }), 'signature.invalid'],
    ['of another file', sign => ({ signature: sign(randomBytes(32)) }), 'signature.invalid'],
    ['that is not there', () => ({}), 'signature.missing'],
  ])('%s it is refused', async (_, make, code) => {
    const { publicKey, privateKey } = pair()
    const digest = Buffer.from(kept, 'hex')
    const sign = (of: Buffer) => createSign('sha256').update(of).sign(privateKey).toString('base64')
    const status = await judged({ keys: [pemOf(publicKey)], ...make(sign, digest) })
    expect(status).toMatchObject({ error: { code } })
    expect(status.state).not.toBe('verified')
    await unchanged()
  })

  it('of a key on another curve it is refused, and of the right one it is not', async () => {
    const digest = Buffer.from(kept, 'hex')
    const [right, other] = [pair(), generateKeyPairSync('ec', { namedCurve: 'P-384' })]
    const signature = createSign('sha256').update(digest).sign(right.privateKey).toString('base64')
    expect(await judged({ keys: [pemOf(other.publicKey)], signature })).toMatchObject({
      error: { code: 'signature.invalid' },
    })
    expect(await judged({ keys: [pemOf(right.publicKey)], signature })).toMatchObject({ state: 'verified' })
    await unchanged()
  })
})
