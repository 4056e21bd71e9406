import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakePeer, until } from '../../content/downloader/peer.fake.ts'
import { contentLayoutOf } from '../../content/layout.ts'
import type { Sha256, VolumeConfig } from '../../content/messages.ts'
import { ociManifestType } from '../../content/oci/media-types.ts'
import type { ManagerContext } from '../../content/process/calls.ts'
import { realClock } from '../../lib/clock.ts'
import { CairnError } from '../../lib/errors.ts'
import { realFiles } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import type { ContainerRuntime } from '../container/runtime.ts'
import type { VolumeKind } from '../kinds/kind.ts'
import { urlKeyOf } from '../switchboard/keys.ts'
import { aContent, aFileRef, aRef, aVolume, volumeKeyOf } from '../switchboard/world.fake.ts'
import { type ManagerParts, startManager } from './manager.ts'

let base: string
let running: { stop: () => Promise<void> }[]

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-manager-'))
  running = []
  for (const directory of ['content/verified', 'content/manager', 'volumes/records'])
    mkdirSync(join(base, directory), { recursive: true })
})
afterEach(async () => {
  for (const { stop } of running) await stop()
  rmSync(base, { recursive: true })
})

/** Makes plain files; cancelled when it is told to. */
const plainKind: VolumeKind = {
  async create({ target, signal, config }) {
    if (config.displayName === 'slow') await delay(5000, undefined, { signal })
    if (existsSync(target)) throw new CairnError('volume.exists', 'there already')
    writeFileSync(target, 'made')
    return { path: target, usedSize: 4 }
  },
  grow: async ({ target }) => ({ path: target, usedSize: 4 }),
  destroy: async target => rmSync(target, { force: true, recursive: true }),
}

function start(parts: Partial<ManagerParts> = {}) {
  const peer = fakePeer()
  const ending = new AbortController()
  const synced: string[] = []
  const lines: string[] = []
  const layout = contentLayoutOf({ base, run: join(base, 'run') })
  const context: ManagerContext = {
    peer,
    layout,
    files: { ...realFiles, fsync: () => expect.fail('a walled-in process may not fsync') },
    durability: { sync: async (directory, names) => void synced.push(directory, ...names) },
    clock: realClock,
    random: Math.random,
    log: line => lines.push(line),
    signal: ending.signal,
    calls: {
      mkfs: async () => {},
      mount: async () => {},
      unmount: async () => {},
      syncFileSystem: async () => {},
      symlink: async () => {},
      connectRuntime: async () => null,
    },
  }
  const kinds = { disk: plainKind, blank: plainKind, cloudInit: plainKind, container: plainKind }
  const done = startManager(context, { kinds, openRuntime: async () => null, ...parts })
  const stop = async () => {
    ending.abort()
    await done
  }
  running.push({ stop })
  const ready = () => {
    for (const topic of ['verifyStatus', 'contentConfig', 'volumeConfig'] as const) peer.setComplete(topic)
  }
  return { peer, layout, synced, lines, stop, ready }
}

const blank = (more: Partial<VolumeConfig> = {}) => aVolume('data', { origin: 'blank', maxSize: 100, ...more })

function verify(peer: ReturnType<typeof fakePeer>, bytes: string, mediaType: string): Sha256 {
  const sha256 = sha256Hex(bytes) as Sha256
  const path = join(base, 'content/verified', sha256)
  writeFileSync(path, bytes)
  const size = bytes.length
  peer.set('verifyStatus', sha256, {
    state: 'verified',
    path,
    mediaType,
    size,
    currentSize: size,
    attempt: 0,
    expired: false,
  })
  return sha256
}

const listening = (peer: ReturnType<typeof fakePeer>) =>
  new Promise<void>(done => {
    const { onChange } = peer
    peer.onChange = listener => {
      done()
      return onChange(listener)
    }
  })

describe('the manager', () => {
  it('makes a volume with its record, finds it again after a restart, and destroys it when it is withdrawn', async () => {
    const first = start()
    const key = volumeKeyOf(blank())
    first.peer.set('volumeConfig', key, blank())
    first.ready()
    await until(() => first.peer.said('volumeStatus', key)?.state === 'created')
    await until(() => existsSync(join(base, 'volumes/records/app+data#0.raw.json')))
    expect(first.peer.completed.has('downloadConfig')).toBe(true)
    await first.stop()

    const second = start()
    second.peer.set('volumeConfig', key, blank())
    second.ready()
    await until(() => second.peer.said('volumeStatus', key)?.state === 'created')
    expect(second.peer.said('volumeStatus', 'unknown/blank:app:data#0')).toBeUndefined()
    expect(readFileSync(join(base, 'volumes/app+data#0.raw'), 'utf8')).toBe('made')
    second.peer.remove('volumeConfig', key)
    await until(() => readdirSync(join(base, 'volumes')).join() === 'records')
    await until(() => second.peer.said('volumeStatus', key) === undefined)
    expect(readdirSync(join(base, 'volumes/records'))).toEqual([])
  })

  it('asks for nothing that the verifier names in the same breath in which it says that this is all', async () => {
    const { peer } = start()
    await listening(peer)
    const sha256 = sha256Hex('disk') as Sha256
    const size = 4
    const path = join(base, 'content/verified', sha256)
    peer.set('contentConfig', 'images/disk', aContent('disk', aFileRef('https://files.example/disk.raw', { sha256 })))
    for (const topic of ['contentConfig', 'volumeConfig'] as const) peer.setComplete(topic)
    const status = { state: 'verified', mediaType: 'application/octet-stream', attempt: 0, expired: false } as const
    peer.setComplete('verifyStatus', [sha256, { ...status, path, size, currentSize: size }])
    await until(() => peer.said('contentStatus', 'images/disk')?.state === 'verified')
    expect(peer.history('downloadConfig', sha256)).toEqual([])
  })

  it('removes what is half-made, tells of names it does not know, and leaves those alone', async () => {
    for (const name of ['.app+data#0.raw.tmp-0123456789ab', 'holiday.jpg', 'app+old#3.qcow2'])
      writeFileSync(join(base, 'volumes', name), '')
    const { peer, lines, ready } = start()
    ready()
    await until(() => peer.said('volumeStatus', 'unknown/download:app:old#3') !== undefined)
    expect(readdirSync(join(base, 'volumes')).sort()).toEqual(['app+old#3.qcow2', 'holiday.jpg', 'records'])
    expect(lines.join()).toContain('holiday.jpg')
  })

  it('reads the manifests of an image from what is verified, and says verified without a download', async () => {
    const { peer, ready } = start()
    const config = verify(peer, '{}', 'application/vnd.oci.image.config.v1+json')
    const layer = verify(peer, 'layer', 'application/vnd.oci.image.layer.v1.tar')
    const descriptor = (sha256: string, mediaType: string, size: number) => ({
      mediaType,
      digest: `sha256:${sha256}`,
      size,
    })
    const manifest = {
      schemaVersion: 2,
      mediaType: ociManifestType,
      config: descriptor(config, 'application/vnd.oci.image.config.v1+json', 2),
      layers: [descriptor(layer, 'application/vnd.oci.image.layer.v1.tar', 5)],
    }
    const root = verify(peer, JSON.stringify(manifest), ociManifestType)
    peer.set('contentConfig', 'images/app', aContent('app', aRef({ name: 'app', sha256: root })))
    ready()
    await until(() => peer.said('contentStatus', 'images/app')?.state === 'verified')
    expect(peer.said('contentStatus', 'images/app')?.blobs.map(({ role }) => role)).toEqual([
      'manifest',
      'config',
      'layer',
    ])
    expect(peer.said('downloadConfig', root)).toBeUndefined()
  })

  it('has a latch on disk, synced, before it goes on with what it names, and keeps it until the request goes', async () => {
    const { peer, synced, layout, ready } = start()
    const request = aContent('tool', aFileRef('https://files.example/tool'), { scope: 'packages' })
    const sha256 = sha256Hex('tool') as Sha256
    const latches = join(layout.manager, 'latches')
    const download = urlKeyOf(request.ref)
    peer.set('contentConfig', 'packages/tool', request)
    ready()
    await until(() => peer.said('downloadConfig', download)?.refs === 1)
    expect(existsSync(latches)).toBe(false)
    const done = {
      state: 'downloaded',
      sha256,
      currentSize: 4,
      totalSize: 4,
      attempt: 0,
      expired: false,
      retryCount: 0,
    } as const
    peer.set('downloadStatus', download, done)
    expect(peer.said('verifyConfig', sha256)).toBeUndefined()
    await until(() => peer.said('verifyConfig', sha256)?.refs === 1)
    const [name] = readdirSync(latches)
    expect(JSON.parse(readFileSync(join(latches, name!), 'utf8'))).toEqual({ sha256, size: 4 })
    expect(synced.filter(path => path.endsWith(latches) || path.includes(name!))).toHaveLength(3)
    expect(peer.said('verifyConfig', sha256)?.path).toBe(peer.said('downloadConfig', download)?.target)
    peer.remove('contentConfig', 'packages/tool')
    await until(() => readdirSync(latches).length === 0)
  })

  it('stops making what is withdrawn, and leaves nothing', async () => {
    const { peer, ready } = start()
    const slow = blank({ displayName: 'slow' })
    const key = volumeKeyOf(slow)
    peer.set('volumeConfig', key, slow)
    ready()
    await until(() => peer.said('volumeStatus', key)?.state === 'creating')
    peer.remove('volumeConfig', key)
    await until(() => peer.said('volumeStatus', key) === undefined)
    expect(readdirSync(join(base, 'volumes'))).toEqual(['records'])
  })

  it('says that the container runtime is missing, and goes on with disks', async () => {
    const { peer, ready } = start()
    const bytes = JSON.stringify({
      schemaVersion: 2,
      mediaType: ociManifestType,
      config: { mediaType: 'application/x', digest: `sha256:${sha256Hex('{}')}`, size: 2 },
      layers: [],
    })
    verify(peer, '{}', 'application/x')
    const root = verify(peer, bytes, ociManifestType)
    peer.set('contentConfig', 'images/app', aContent('app', aRef({ name: 'app', sha256: root }), { until: 'loaded' }))
    peer.set('volumeConfig', volumeKeyOf(blank()), blank())
    ready()
    await until(() => peer.said('contentStatus', 'images/app')?.error?.code === 'runtime.unavailable')
    await until(() => peer.said('volumeStatus', volumeKeyOf(blank()))?.state === 'created')
  })

  it('finds what only the container runtime still holds', async () => {
    const runtime: ContainerRuntime = {
      name: 'containerd',
      load: async () => {},
      unload: async () => {},
      makeRootfs: async () => ({ usedSize: 0 }),
      attach: async () => {},
      removeRootfs: async () => {},
      held: async () => ['app+lost#1'],
    }
    const { peer, ready } = start({ openRuntime: async () => runtime })
    ready()
    await until(() => peer.said('volumeStatus', 'unknown/download:app:lost#1')?.kind === 'container')
  })
})
