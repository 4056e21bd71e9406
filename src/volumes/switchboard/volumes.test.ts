import { describe, expect, it } from 'vitest'
import { defaultSettings } from '../../content/default-settings.ts'
import type { VolumeConfig } from '../../content/messages.ts'
import {
  aContent,
  addBlob,
  addImage,
  aFileRef,
  aRef,
  aVolume,
  chanceOf,
  emptyTruth,
  shaOf,
  volumeKeyOf,
  World,
} from './world.fake.ts'

const url = 'https://files.example/disk.raw'
const hour = 3_600_000

function setUp(files: readonly string[] = []): World {
  const truth = emptyTruth()
  addImage(truth, 'app', ['base'])
  truth.urls.set(url, addBlob(truth, 'disk', 1000))
  addBlob(truth, 'other disk', 1000)
  const world = new World({ truth })
  for (const name of files) world.disk.volumes.set(name, { made: 0 })
  world.start()
  return world
}

const diskRef = (label = 'disk') => aFileRef(url, { sha256: shaOf(label) })
const disk = (more: Partial<VolumeConfig> = {}) => aVolume('data', { content: diskRef(), ...more })
const box = aVolume('box', { kind: 'container', content: aRef({ name: 'app', sha256: shaOf('index app') }) })
const statusOf = (world: World, config: VolumeConfig) => world.state.published.volumeStatus.get(volumeKeyOf(config))
const keysOf = (world: World) => [...world.state.published.volumeStatus.keys()]
const done = (world: World, what: string) => world.log.filter(effect => effect.do === what).length
const fail = (world: World, code: `${string}.${string}`) => {
  const [job] = world.jobs.keys()
  world.jobs.delete(job!)
  world.feed({ on: 'ended', job: job!, outcome: { ok: false, failure: { code, text: code } } })
}
const untilJob = (world: World) => {
  while (world.jobs.size === 0 && world.step());
}

describe('a volume', () => {
  it('follows its tree, is shown verified before it is made, and then holds no blob', () => {
    const world = setUp()
    world.request(disk())
    world.settle()
    const shown = world.log.flatMap(effect =>
      effect.do === 'publish' && effect.topic === 'volumeStatus' ? [effect.value.state] : [],
    )
    expect(shown.filter((state, index) => state !== shown[index - 1]).slice(-3)).toEqual([
      'verified',
      'creating',
      'created',
    ])
    expect(statusOf(world, disk())).toMatchObject({
      state: 'created',
      path: '/volumes/app+data#0.raw',
      content: { sha256: shaOf('disk'), blobs: [] },
    })
    expect(world.verified.size).toBe(0)
  })

  it('that is read-only is the verified file, for as long as it is wanted', () => {
    const world = setUp()
    const reader = disk({ readOnly: true })
    world.request(reader)
    world.settle()
    world.pass(5 * hour)
    world.settle()
    expect(statusOf(world, reader)?.path).toBe(`/content/verified/${shaOf('disk')}`)
    world.withdraw(reader)
    world.settle()
    expect([keysOf(world), [...world.verified], done(world, 'destroy')]).toEqual([[], [], 0])
  })

  it('of an image is loaded first, and made when the runtime is there', () => {
    const world = setUp()
    world.isRuntimeDown = true
    world.request(box)
    world.request(disk())
    world.settle()
    expect(statusOf(world, box)).toMatchObject({
      state: 'verified',
      error: { code: 'runtime.unavailable', severity: 'notice' },
    })
    expect(statusOf(world, disk())?.state).toBe('created')
    world.isRuntimeDown = false
    world.pass(60_000)
    world.settle()
    expect(statusOf(world, box)?.state).toBe('created')
  })

  it('that is only to be verified is not made until it is', () => {
    const world = setUp()
    world.request(disk({ verifyOnly: true }))
    world.settle()
    expect(statusOf(world, disk())).toMatchObject({ state: 'verified' })
    expect(done(world, 'create')).toBe(0)
    world.request(disk())
    world.settle()
    expect([statusOf(world, disk())?.state, world.freshDownloads]).toEqual(['created', 1])
  })

  it.each([
    ['the digest', { content: diskRef('other disk') }],
    ['the format', { format: 'qcow2' }],
    ['the kind', { kind: 'container' }],
    ['a smaller size', { maxSize: 10 }],
  ] as const)(
    'refuses a change of %s without a new generation and stays as it is, after a restart too',
    (_, change) => {
      const world = setUp()
      world.request(disk({ maxSize: 5000 }))
      world.settle()
      const before = world.disk.volumes.get('app+data#0.raw')
      world.request(disk({ maxSize: 5000, ...change }))
      world.settle()
      expect(statusOf(world, disk())).toMatchObject({ state: 'created', error: { code: 'volume.generation-required' } })
      world.crashManager()
      world.settle()
      world.pass(5 * hour)
      world.settle()
      expect(statusOf(world, disk())?.error?.code).toBe('volume.generation-required')
      expect(world.disk.volumes.get('app+data#0.raw')).toBe(before)
    },
  )

  it('grows in place', () => {
    const world = setUp()
    world.request(disk({ maxSize: 5000 }))
    world.settle()
    world.request(disk({ maxSize: 9000 }))
    world.settle()
    expect([done(world, 'grow'), world.disk.records.get('app+data#0.raw')?.size]).toEqual([1, 9000])
  })

  it('is purged as a new generation beside the old one', () => {
    const world = setUp()
    world.request(disk())
    world.settle()
    world.request(disk({ generation: 1 }))
    world.settle()
    expect([...world.disk.volumes.keys()]).toEqual(['app+data#0.raw', 'app+data#1.raw'])
    world.withdraw(disk())
    world.settle()
    expect([...world.disk.volumes.keys()]).toEqual(['app+data#1.raw'])
  })

  it('that is withdrawn while it is being made is cancelled, and a result that comes after is destroyed', () => {
    const world = setUp()
    world.request(disk())
    untilJob(world)
    world.withdraw(disk())
    world.deliverAll()
    expect(done(world, 'cancel')).toBe(1)
    world.jobs.get('volume download:app:data#0')!.isCancelled = false
    world.settle()
    expect([[...world.disk.volumes], keysOf(world), done(world, 'destroy')]).toEqual([[], [], 1])
  })

  it('that cannot be destroyed stays visible, is tried 12 times, and then left', () => {
    const world = setUp()
    world.request(disk())
    world.settle()
    world.withdraw(disk())
    world.deliverAll()
    for (let tries = 1; tries <= 12; tries++) {
      expect(done(world, 'destroy')).toBe(tries)
      fail(world, 'volume.busy')
      expect(statusOf(world, disk())?.error?.code).toBe('volume.busy')
      world.pass(600_000)
    }
    world.pass(100 * hour)
    expect(done(world, 'destroy')).toBe(12)
    expect(statusOf(world, disk())?.error).toMatchObject({ severity: 'error' })
  })

  it('that is refused by its kind waits for another config; what passes by itself is tried again', () => {
    const world = setUp()
    world.request(disk({ maxSize: 1 }))
    untilJob(world)
    fail(world, 'volume.max-size-too-small')
    world.pass(hour)
    world.settle()
    expect([statusOf(world, disk())?.error?.code, done(world, 'create')]).toEqual(['volume.max-size-too-small', 1])
    world.request(disk({ maxSize: 2000 }))
    untilJob(world)
    fail(world, 'volume.write-failed')
    world.pass(5000)
    world.settle()
    expect(statusOf(world, disk())?.state).toBe('created')
  })

  it.each<[string, 'load' | 'create', `${string}.${string}`]>([
    ['a bomb', 'create', 'archive.limit'],
    ['a layer that lies', 'create', 'image.layer-mismatch'],
    ['no container at all', 'load', 'image.not-a-container'],
  ])('of content that is %s is not tried again: the bytes stay what they are', (_, at, code) => {
    const world = setUp()
    world.request(box)
    while (done(world, at) === 0 && world.step());
    fail(world, code)
    world.pass(100 * hour)
    world.settle()
    expect(done(world, at)).toBe(1)
    expect(statusOf(world, box)?.error).toMatchObject({ code, severity: 'error' })
    expect(statusOf(world, box)?.error).not.toHaveProperty('retryAt')
  })

  it('of nobody can be read by many and written by one, and goes with the last of them', () => {
    const world = setUp()
    const claim = (scope: VolumeConfig['scope'], readOnly: boolean) => disk({ owner: 'shared', scope, readOnly })
    world.request(claim('volumes', false))
    world.request(claim('packages', true))
    world.request(claim('images', false))
    world.settle()
    const seen = (scope: VolumeConfig['scope']) => statusOf(world, claim(scope, true))
    // Of the two writers the first by key has it.
    expect([seen('images')?.state, seen('packages')?.path, seen('volumes')?.error?.code]).toEqual([
      'created',
      '/volumes/shared+data#0.raw',
      'volume.claimed',
    ])
    expect(done(world, 'create')).toBe(1)
    world.withdraw(claim('volumes', false))
    world.withdraw(claim('images', false))
    world.settle()
    expect([keysOf(world), done(world, 'destroy')]).toEqual([['packages/download:shared:data#0'], 0])
    world.withdraw(claim('packages', true))
    world.settle()
    expect([keysOf(world), done(world, 'destroy')]).toEqual([[], 1])
  })
})

describe('promotion', () => {
  it('takes what is on disk: one status, no copy, nothing asked of the network', () => {
    const world = setUp(['app+data#0.raw'])
    expect(keysOf(world)).toEqual(['unknown/download:app:data#0'])
    world.request(disk())
    world.settle()
    expect(keysOf(world)).toEqual([volumeKeyOf(disk())])
    expect(statusOf(world, disk())).toMatchObject({ state: 'created', path: '/volumes/app+data#0.raw' })
    expect([done(world, 'create'), world.freshDownloads]).toEqual([0, 0])
    expect(world.disk.records.get('app+data#0.raw')?.sha256).toBe(shaOf('disk'))
  })

  it('takes a volume with the older form of name under that name', () => {
    const name = `${shaOf('disk').toUpperCase()}-app#2.raw`
    const world = setUp([name])
    const wanted = disk({ generation: 2 })
    world.request(wanted)
    world.settle()
    expect(keysOf(world)).toEqual([volumeKeyOf(wanted)])
    expect(statusOf(world, wanted)?.path).toBe(`/volumes/${name}`)
    world.withdraw(wanted)
    world.settle()
    expect(world.disk.volumes.size).toBe(0)
  })

  it('does not take one that was made from something else, and leaves it alone', () => {
    const world = setUp()
    world.request(disk())
    world.settle()
    world.request(disk({ content: diskRef('other disk') }))
    world.crashManager()
    world.settle()
    expect(statusOf(world, disk())).toMatchObject({ state: 'initial', error: { code: 'volume.generation-required' } })
    expect(keysOf(world)).toContain('unknown/download:app:data#0')
    world.pass(50 * hour)
    world.settle()
    expect(world.disk.volumes.size).toBe(1)
    // When nobody uses its name any more, it goes like any other.
    world.withdraw(disk())
    world.settle()
    world.pass(1)
    world.settle()
    expect(world.disk.volumes.size).toBe(0)
  })

  it('makes a container reachable before it is called created', () => {
    const world = setUp(['app+box#0'])
    world.request(box)
    untilJob(world)
    expect(statusOf(world, box)?.state).toBe('creating')
    world.settle()
    expect([statusOf(world, box)?.state, done(world, 'attach'), done(world, 'load')]).toEqual(['created', 1, 0])
  })

  it('survives a restart in its middle', () => {
    const world = setUp(['app+data#0.raw'])
    world.request(disk())
    world.settle()
    world.crashManager()
    world.settle()
    expect(keysOf(world)).toEqual([volumeKeyOf(disk())])
    expect(done(world, 'create')).toBe(0)
  })
})

describe('collecting', () => {
  it('takes an unclaimed volume exactly at its deadline', () => {
    const world = setUp(['app+data#0.raw'])
    expect(world.state.published.volumeStatus.get('unknown/download:app:data#0')?.collectedAt).toBe(
      '2026-01-01T01:00:00.000Z',
    )
    world.pass(hour - 1)
    world.settle()
    expect(world.disk.volumes.size).toBe(1)
    world.pass(1)
    world.settle()
    expect([world.disk.volumes.size, keysOf(world)]).toEqual([0, []])
  })

  it('is not put off or hurried by settings, statuses, other requests or a restart', () => {
    const world = setUp(['app+data#0.raw'])
    world.pass(hour / 2)
    world.put('managerSettings', '', { ...defaultSettings.manager, gcVolumeSeconds: 60 })
    world.request(disk({ id: 'something-else' }))
    world.settle()
    expect(world.disk.volumes.has('app+data#0.raw')).toBe(true)
    world.put('managerSettings', '', defaultSettings.manager)
    world.settle()
    world.crashManager()
    world.settle()
    world.pass(hour / 2)
    world.settle()
    expect(world.disk.volumes.has('app+data#0.raw')).toBe(false)
  })

  it('does not begin before the requests are known', () => {
    const world = new World({ truth: emptyTruth() })
    world.disk.volumes.set('app+data#0.raw', { made: 0 })
    world.isVerifierComplete = false
    world.start()
    world.pass(100 * hour)
    expect(world.jobs.size).toBe(0)
  })

  it('is off in maintenance', () => {
    const world = setUp(['app+data#0.raw'])
    world.put('managerSettings', '', { ...defaultSettings.manager, maintenance: true })
    const request = aContent('disk', diskRef())
    world.request(request)
    world.settle()
    world.withdraw(request)
    world.pass(5 * hour)
    world.settle()
    expect([world.disk.volumes.size, world.verified.size]).toEqual([1, 1])
    world.put('managerSettings', '', defaultSettings.manager)
    world.settle()
    expect([world.disk.volumes.size, world.verified.size]).toEqual([0, 0])
  })

  it('keeps a blob for the delay after its last reference, over a restart', () => {
    const world = setUp()
    world.put('managerSettings', '', { ...defaultSettings.manager, deleteDelaySeconds: 600 })
    const request = aContent('disk', diskRef())
    world.request(request)
    world.settle()
    world.withdraw(request)
    world.settle()
    world.pass(300_000)
    world.crashManager()
    world.settle()
    world.pass(299_999)
    world.settle()
    expect(world.verified.size).toBe(1)
    world.pass(1)
    world.settle()
    expect([world.verified.size, world.disk.deferred.size]).toEqual([0, 0])
  })

  it('leaves what a manifest names alone until the manifest is read, long after the deadline too', () => {
    const world = setUp()
    world.request(aContent('app', aRef({ name: 'app', sha256: shaOf('index app') })))
    world.settle()
    world.pass(5 * hour)
    const before = world.log.length
    world.crashManager()
    world.settle()
    const expired = world.log
      .slice(before)
      .filter(effect => effect.do === 'publish' && effect.topic === 'verifyConfig' && effect.value.expired)
    expect(expired).toEqual([])
  })

  it('takes what is of no use when it is asked to', () => {
    const world = setUp(['app+data#0.raw'])
    world.put('managerSettings', '', {
      ...defaultSettings.manager,
      collectBefore: new Date(world.now.wall).toISOString(),
    })
    world.settle()
    expect(world.disk.volumes.size).toBe(0)
  })
})

describe('letting go and wanting again', () => {
  const moments = Array.from({ length: 40 }, (_, moment) => moment)
  it.each(['download', 'verify'] as const)('revives at every moment of the %s handshake', phase => {
    for (const moment of moments)
      for (const later of moments.slice(0, 12)) {
        const truth = emptyTruth()
        truth.urls.set(url, addBlob(truth, 'disk', 1000))
        const world = new World({ truth, chance: chanceOf(moment * 100 + later) })
        const request = aContent('disk', diskRef())
        world.start()
        world.request(request)
        if (phase === 'verify') world.settle()
        else for (let steps = 0; steps < moment; steps++) world.step()
        world.withdraw(request)
        for (let steps = 0; steps < later; steps++) world.step()
        world.request(request)
        world.settle()
        expect(world.state.published.contentStatus.get('images/disk')?.state).toBe('verified')
        expect(world.verified.has(shaOf('disk'))).toBe(true)
      }
  })

  it('answers each file that the verifier has with a config that wants nothing of it', () => {
    const world = setUp()
    world.verified.set(shaOf('disk'), 'application/octet-stream')
    world.crashVerifier()
    world.settle()
    expect(world.state.published.verifyConfig.get(shaOf('disk'))).toEqual({
      mediaType: 'application/octet-stream',
      size: 1000,
      refs: 0,
      expired: false,
      attempt: 0,
    })
    world.request(aContent('disk', diskRef()))
    world.settle()
    expect([world.freshDownloads, world.state.published.verifyConfig.get(shaOf('disk'))?.refs]).toEqual([0, 1])
  })
})
