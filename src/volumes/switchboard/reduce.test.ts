import { describe, expect, it } from 'vitest'
import { defaultSettings } from '../../content/default-settings.ts'
import type { VolumeConfig } from '../../content/messages.ts'
import { ociManifestType } from '../../content/oci/media-types.ts'
import type { Effect } from './protocol.ts'
import {
  aContent,
  addBlob,
  addImage,
  aFileRef,
  aRef,
  aVolume,
  emptyTruth,
  shaOf,
  type Truth,
  trustNothing,
  volumeKeyOf,
  World,
} from './world.fake.ts'

const url = 'https://files.example/disk.raw'

function setUp(more: Partial<ConstructorParameters<typeof World>[0]> = {}): { world: World; truth: Truth } {
  const truth = more.truth ?? emptyTruth()
  addImage(truth, 'app', ['base', 'app layer'])
  truth.urls.set(url, addBlob(truth, 'disk', 1000))
  const world = new World({ truth, ...more })
  world.start()
  return { world, truth }
}

const imageRef = (more = {}) => aRef({ name: 'app', sha256: shaOf('index app'), ...more })
const diskRef = (more = {}) => aFileRef(url, { sha256: shaOf('disk'), ...more })
const disk = (more: Partial<VolumeConfig> = {}) => aVolume('data', { content: diskRef(), ...more })

const statusOf = (world: World, key: string) => world.state.published.contentStatus.get(key)
const volumeOf = (world: World, config: VolumeConfig) => world.state.published.volumeStatus.get(volumeKeyOf(config))
const statesOf = (world: World, key: string): string[] =>
  world.log.flatMap(effect =>
    effect.do === 'publish' && effect.topic === 'contentStatus' && effect.key === key ? [effect.value.state] : [],
  )
const count = (world: World, match: (effect: Effect) => boolean): number => world.log.filter(match).length
const downloadsAsked = (world: World) =>
  new Set(
    world.log.flatMap(effect => (effect.do === 'publish' && effect.topic === 'downloadConfig' ? [effect.key] : [])),
  )

describe('a tree', () => {
  it('with a tag is resolved, latched on disk, and only then downloaded', () => {
    const { world } = setUp()
    world.request(aContent('app', aRef({ name: 'app', tag: '1' })))
    world.settle()
    const order = world.log.map(effect => (effect.do === 'publish' ? effect.topic : effect.do))
    expect(order.indexOf('resolveConfig')).toBeLessThan(order.indexOf('latch'))
    expect(order.indexOf('latch')).toBeLessThan(order.indexOf('downloadConfig'))
    expect(statesOf(world, 'images/app')[0]).toBe('resolving')
    expect(statusOf(world, 'images/app')).toMatchObject({ state: 'verified', sha256: shaOf('index app') })
    expect(world.state.published.resolveConfig.size).toBe(0)
  })

  it('goes through its states in order, with verified before loading', () => {
    const { world } = setUp()
    world.request(aContent('app', imageRef(), { until: 'loaded' }))
    world.settle()
    const states = statesOf(world, 'images/app').filter((state, index, all) => state !== all[index - 1])
    expect(states.slice(-3)).toEqual(['verified', 'loading', 'loaded'])
  })

  it('keeps a latched digest when the tag moves, over a restart, until its request goes', () => {
    const { world, truth } = setUp()
    const request = aContent('app', aRef({ name: 'app', tag: '1' }))
    world.request(request)
    world.settle()
    truth.tags.set('app', shaOf('something else'))
    world.crashManager()
    world.settle()
    expect(statusOf(world, 'images/app')).toMatchObject({ state: 'verified', sha256: shaOf('index app') })
    world.withdraw(request)
    world.settle()
    expect(world.disk.latches.size).toBe(0)
  })

  it('stays resolving while its digest cannot be written down, and goes on when there is space', () => {
    const { world } = setUp()
    world.request(aContent('app', aRef({ name: 'app', tag: '1' })))
    while (!world.later.some(({ on }) => on === 'latched')) world.step()
    const latched = world.later.findIndex(({ on }) => on === 'latched')
    const { key } = world.later.splice(latched, 1)[0] as { key: string }
    world.feed({ on: 'latched', key, outcome: { ok: false, failure: { code: 'content.no-space', text: 'full' } } })
    world.settle()
    expect(statusOf(world, 'images/app')).toMatchObject({ state: 'resolving', error: { code: 'content.no-space' } })
    expect(downloadsAsked(world).size).toBe(0)
    world.feed({ on: 'space', free: world.free + 1, total: 2 * 10 ** 12 })
    world.settle()
    expect(statusOf(world, 'images/app')?.state).toBe('verified')
  })

  it('takes exactly the manifest for its platform, and says which there are when there is none', () => {
    const { world } = setUp()
    world.request(aContent('app', imageRef({ platform: { os: 'linux', architecture: 'riscv64' } })))
    world.settle()
    const { error, blobs } = statusOf(world, 'images/app')!
    expect(error).toMatchObject({
      code: 'content.no-platform',
      severity: 'error',
      text: expect.stringContaining('linux/amd64'),
    })
    expect(error?.retryAt).toBeUndefined()
    expect(blobs).toHaveLength(1)
  })

  it('counts a digest that is listed twice, or that two trees share, once', () => {
    const { world, truth } = setUp()
    addImage(truth, 'twice', ['base', 'base'])
    world.request(aContent('app', imageRef()))
    world.request(aContent('twice', aRef({ name: 'twice', sha256: shaOf('index twice') })))
    world.settle()
    expect(statusOf(world, 'images/twice')?.blobs.map(({ role }) => role)).toEqual([
      'index',
      'manifest',
      'config',
      'layer',
    ])
    expect(world.freshDownloads).toBe(downloadsAsked(world).size)
    expect(world.state.published.verifyConfig.get(shaOf('base'))?.refs).toBe(2)
  })

  it('ends when a manifest names itself', () => {
    const { world, truth } = setUp()
    const self = addBlob(truth, 'self', 50, ociManifestType)
    const own = { sha256: self, mediaType: 'application/x', size: 50, annotations: {} }
    truth.manifests.set(self, { ok: true, kind: 'manifest', mediaType: ociManifestType, config: own, layers: [own] })
    world.request(aContent('self', aRef({ name: 'self', sha256: self })))
    world.settle()
    expect(statusOf(world, 'images/self')).toMatchObject({ state: 'verified', blobs: [{ sha256: self }] })
  })

  it('refuses more than 1000 blobs for good', () => {
    const { world, truth } = setUp()
    addImage(
      truth,
      'huge',
      Array.from({ length: 999 }, (_, index) => `layer ${index}`),
    )
    world.request(aContent('huge', aRef({ name: 'huge', sha256: shaOf('index huge') })))
    world.settle()
    const { error, blobs } = statusOf(world, 'images/huge')!
    expect(error).toMatchObject({ code: 'content.too-many-blobs', severity: 'error' })
    expect(blobs).toHaveLength(1000)
  })

  it('tries the other kinds of manifest when the hint about its root was wrong', () => {
    const { world, truth } = setUp()
    truth.types.set(shaOf('index app'), 'application/vnd.docker.distribution.manifest.list.v2+json')
    world.request(aContent('app', imageRef()))
    world.settle()
    expect(statusOf(world, 'images/app')?.state).toBe('verified')
    expect(world.freshDownloads).toBe(downloadsAsked(world).size)
  })

  it('stays with an error when the type that was promised is not that of the root', () => {
    const { world } = setUp()
    world.request(aContent('app', imageRef({ mediaType: ociManifestType })))
    world.settle()
    expect(statusOf(world, 'images/app')?.error).toMatchObject({
      code: 'content.media-type-mismatch',
      severity: 'error',
    })
  })

  it('of an address without a digest latches what the first download was', () => {
    const { world, truth } = setUp()
    const request = aContent('disk', aFileRef(url))
    world.request(request)
    world.settle()
    expect(statusOf(world, 'images/disk')).toMatchObject({ state: 'verified', sha256: shaOf('disk') })
    expect([...downloadsAsked(world)]).toEqual([expect.stringMatching(/^url-[0-9a-f]{64}$/)])
    truth.urls.set(url, addBlob(truth, 'another disk'))
    world.crashManager()
    world.settle()
    expect(statusOf(world, 'images/disk')?.sha256).toBe(shaOf('disk'))
    expect(world.freshDownloads).toBe(1)
  })
})

describe('a blob', () => {
  it('that is verified already costs no network, even when nobody answers there', () => {
    const { world } = setUp()
    const request = aContent('app', imageRef())
    world.put('managerSettings', '', { ...defaultSettings.manager, deleteDelaySeconds: 60 })
    world.request(request)
    world.settle()
    world.withdraw(request)
    world.settle()
    const before = world.log.length
    world.request(request)
    world.settle()
    expect(statusOf(world, 'images/app')?.state).toBe('verified')
    expect(
      world.log.slice(before).filter(effect => effect.do === 'publish' && /download|resolve/.test(effect.topic)),
    ).toEqual([])
  })

  it('lets go of its download when it is verified', () => {
    const { world } = setUp()
    world.request(aContent('app', imageRef()))
    world.settle()
    expect(world.state.published.downloadConfig.size).toBe(0)
    expect(world.pendingFiles.size).toBe(0)
    expect(world.state.reserved).toBe(0)
  })

  it('with wrong bytes is fetched again, up to the attempts of the settings, while its siblings go on', () => {
    const { world } = setUp({ badDownloads: new Map([[shaOf('base'), 4]]) })
    world.request(aContent('app', imageRef()))
    world.settle()
    expect(statusOf(world, 'images/app')?.state).toBe('verified')

    const { world: hopeless } = setUp({ badDownloads: new Map([[shaOf('base'), 99]]) })
    hopeless.request(aContent('app', imageRef()))
    hopeless.settle()
    const { state, error, blobs } = statusOf(hopeless, 'images/app')!
    expect(state).toBe('verifying')
    expect(error).toMatchObject({ code: 'content.digest-mismatch', severity: 'error' })
    expect(error?.retryAt).toBeUndefined()
    expect(blobs.filter(blob => blob.state === 'verified')).toHaveLength(4)
    expect(hopeless.bad.get(shaOf('base'))).toBe(99 - defaultSettings.manager.attempts)
  })

  it('that was left alone is tried again when its sources change', () => {
    const { world } = setUp({ badDownloads: new Map([[shaOf('base'), 5]]) })
    const request = aContent('app', imageRef())
    world.request(request)
    world.settle()
    const sources = [...request.ref.sources, { kind: 'registry', host: 'mirror.example', repository: 'app' } as const]
    world.request({ ...request, ref: { ...request.ref, sources } })
    world.settle()
    expect(statusOf(world, 'images/app')?.state).toBe('verified')
  })

  it('that rots is fetched again with a notice, and the volume made of it is not touched', () => {
    const { world } = setUp()
    const volume = disk()
    world.request(volume)
    world.request(aContent('disk', diskRef()))
    world.settle()
    world.verified.delete(shaOf('disk'))
    world.drop('verifyStatus', shaOf('disk'))
    world.deliverAll()
    expect(statusOf(world, 'images/disk')).toMatchObject({
      state: 'downloading',
      error: { code: 'content.lost', severity: 'notice' },
    })
    expect(volumeOf(world, volume)?.state).toBe('created')
    world.settle()
    expect(statusOf(world, 'images/disk')).toMatchObject({ state: 'verified' })
    expect(statusOf(world, 'images/disk')?.error).toBeUndefined()
    expect(count(world, ({ do: what }) => what === 'create')).toBe(1)
  })

  it('that only changes its referent within one batch is not dropped', () => {
    const { world } = setUp()
    const first = aContent('first', diskRef())
    world.request(first)
    world.settle()
    world.withdraw(first)
    world.request(aContent('second', diskRef()))
    const effects = world.deliver(world.differing(['contentConfig']))
    expect(effects.filter(effect => 'topic' in effect && effect.topic === 'verifyConfig')).toEqual([])
    expect(statusOf(world, 'images/second')?.state).toBe('verified')
  })
})

describe('signatures', () => {
  const signed = (more = {}) =>
    imageRef({ trust: { ...trustNothing, policy: 'required', keys: ['a key'], certificates: [], ...more } })

  it('are fetched as blobs beside the image, judged, and shown', () => {
    const { world, truth } = setUp()
    const signature = addImage(truth, 'signature', ['payload'])
    truth.referrers.set(shaOf('index app'), [signature.manifest])
    world.request(aContent('app', signed()))
    world.settle()
    const { state, signedBy, blobs } = statusOf(world, 'images/app')!
    expect({ state, signedBy }).toEqual({ state: 'verified', signedBy: 'somebody' })
    expect(blobs.filter(({ role }) => role === 'signature').map(({ sha256 }) => sha256)).toEqual([
      signature.manifest,
      shaOf('payload'),
    ])
  })

  it('that are required and missing refuse the tree for good, without a second download', () => {
    const { world } = setUp()
    world.request(aContent('app', signed()))
    world.settle()
    expect(statusOf(world, 'images/app')).toMatchObject({
      state: 'verifying',
      error: { code: 'signature.missing', severity: 'error' },
    })
    expect(world.freshDownloads).toBe(downloadsAsked(world).size)
  })

  it('that are optional and missing do not; under policy none nobody is asked', () => {
    const { world } = setUp()
    world.request(aContent('app', signed({ policy: 'optional' })))
    world.settle()
    expect(statusOf(world, 'images/app')?.state).toBe('verified')
    const { world: other } = setUp()
    other.request(aContent('app', imageRef()))
    other.settle()
    expect(count(other, effect => effect.do === 'publish' && effect.topic === 'signatureConfig')).toBe(0)
  })

  it('that came with the request need no material', () => {
    const { world } = setUp()
    world.request(aContent('app', signed({ policy: 'optional', signature: 'c2ln' })))
    world.settle()
    expect(world.state.published.signatureConfig.get('images/app')?.material).toEqual([])
    expect(count(world, effect => effect.do === 'publish' && effect.topic === 'resolveConfig')).toBe(0)
  })

  it('that wait for a certificate say so', () => {
    const { world } = setUp()
    world.request(aContent('app', signed({ signature: 'c2ln' })))
    world.settle()
    const status = world.table(world.said, 'signatureStatus').get('images/app') as object
    world.put('signatureStatus', 'images/app', { ...status, verdict: 'waiting' })
    world.deliverAll()
    expect(statusOf(world, 'images/app')).toMatchObject({ state: 'verifying', waitingForCerts: true })
  })
})

describe('a certificate', () => {
  it('is handed to the verifier when it comes with its request, and taken back with it', () => {
    const { world } = setUp()
    world.put('certConfig', 'ca', { id: 'ca', role: 'intermediate', from: { kind: 'inline', pem: 'PEM' } })
    world.settle()
    expect(world.state.published.certMaterial.get('ca')).toEqual({ pem: 'PEM' })
    world.drop('certConfig', 'ca')
    world.settle()
    expect(world.state.published.certMaterial.size).toBe(0)
  })

  it('that lies elsewhere is fetched and verified first', () => {
    const { world } = setUp()
    world.put('certConfig', 'ca', {
      id: 'ca',
      role: 'leaf',
      from: { kind: 'content', sources: [{ kind: 'url', url }] },
    })
    world.settle()
    expect(world.state.published.certMaterial.get('ca')).toEqual({ sha256: shaOf('disk') })
    world.drop('certConfig', 'ca')
    world.settle()
    expect([world.state.published.certMaterial.size, world.verified.size, world.disk.latches.size]).toEqual([0, 0, 0])
  })
})

describe('the switchboard', () => {
  it('has no effects in a second run, and none for the same news again', () => {
    const { world } = setUp()
    world.request(aContent('app', imageRef(), { until: 'loaded' }))
    world.request(disk())
    world.settle()
    expect(world.feed({ on: 'tick' })).toEqual([])
    const before = world.log.length
    world.resync()
    expect(world.log.slice(before)).toEqual([])
  })

  it('asks nothing of the network before it knows what is there and what is wanted', () => {
    const world = new World({ truth: emptyTruth() })
    world.isVerifierComplete = false
    world.request(aContent('app', imageRef()))
    world.start()
    expect(world.log).toEqual([])
  })

  it('touches only the referents of what changed', () => {
    const { world, truth } = setUp()
    for (let index = 0; index < 100; index++) {
      addImage(
        truth,
        `image ${index}`,
        Array.from({ length: 8 }, (_, layer) => `${index} ${layer}`),
      )
      world.request(aContent(`image-${index}`, aRef({ name: `image ${index}`, sha256: shaOf(`index image ${index}`) })))
    }
    world.settle()
    const before = new Map(world.state.published.contentStatus)
    const key = shaOf('7 3')
    const status = world.state.inputs.verifyStatus.get(key)!
    world.put('verifyStatus', key, { ...status, state: 'initial', path: undefined })
    world.deliverAll()
    const changed = [...world.state.published.contentStatus].filter(([tree, value]) => before.get(tree) !== value)
    expect(changed.map(([tree]) => tree)).toEqual(['images/image-7'])
  })
})

describe('space', () => {
  it('is refused with what is needed and what is free, and given when something goes', () => {
    const { world } = setUp({ free: 1000 })
    world.put('managerSettings', '', { ...defaultSettings.manager, reserve: false })
    world.request(aContent('disk', diskRef({ size: 1000 })))
    world.settle()
    expect(statusOf(world, 'images/disk')?.error).toMatchObject({
      code: 'content.no-space',
      text: expect.stringContaining('2000 bytes'),
    })
    expect(downloadsAsked(world).size).toBe(0)
    world.feed({ on: 'space', free: 2000, total: 4000 })
    world.settle()
    expect(statusOf(world, 'images/disk')?.state).toBe('verified')
  })

  it('is made by what nobody wants, the oldest first, before anyone is refused', () => {
    const { world, truth } = setUp({ free: 10_000 })
    world.put('managerSettings', '', { ...defaultSettings.manager, reserve: false, deleteDelaySeconds: 86_400 })
    for (const label of ['old', 'new']) {
      const request = aContent(
        label,
        aFileRef(`https://files.example/${label}`, { sha256: addBlob(truth, label, 500), size: 500 }),
      )
      world.request(request)
      world.settle()
      world.withdraw(request)
      world.settle()
      world.pass(1000)
    }
    world.feed({ on: 'space', free: 1600, total: 10_000 })
    world.request(aContent('disk', diskRef({ size: 1000 })))
    world.settle()
    expect([...world.verified.keys()]).toEqual([shaOf('new')])
  })

  it('that is needed for a download of unknown size limits it', () => {
    const { world } = setUp({ free: 100_000 })
    world.put('managerSettings', '', { ...defaultSettings.manager, reserve: false })
    world.request(aContent('disk', diskRef()))
    world.deliverAll()
    expect(world.state.published.downloadConfig.get(shaOf('disk'))).toMatchObject({ size: 0, limit: 100_000 })
    world.request(aContent('another', aFileRef('https://files.example/another', { sha256: shaOf('another') })))
    world.deliverAll()
    expect(statusOf(world, 'images/another')?.error?.code).toBe('content.no-space')
  })

  it('keeps a fifth, at most 2 GiB, for the system', () => {
    const { world } = setUp({ free: 2 ** 31 + 1999 })
    world.request(aContent('disk', diskRef({ size: 1000 })))
    world.settle()
    expect(statusOf(world, 'images/disk')?.error?.code).toBe('content.no-space')
    world.put('managerSettings', '', { ...defaultSettings.manager, reserve: false })
    world.settle()
    expect(statusOf(world, 'images/disk')?.state).toBe('verified')
  })
})
