// The handshakes of the content room with somebody who asks over the socket of a running daemon: volumes that are found and
// claimed, blobs that two hold, things that are wanted again while they go, generations.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentRefOf } from '../../src/content/content-ref.ts'
import { defaultSettings } from '../../src/content/default-settings.ts'
import type { ContentConfig, ContentRef, Scope, VolumeConfig, VolumeStatus } from '../../src/content/messages.ts'
import type { Peer } from '../../src/content/pubsub/peer.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { volumeKey } from '../../src/volumes/names.ts'
import { serveBlobs } from '../overlay/blob-server.ts'
import { type ContentMachine, contentMachine, type Daemon, eventually, processesOf } from './cairn.ts'

const image = Buffer.alloc(2 ** 20, 'disk')
let machine: ContentMachine
let daemon: Daemon
let peer: Peer
let server: Awaited<ReturnType<typeof serveBlobs>>
let asked: number

beforeEach(async () => {
  machine = await contentMachine()
  asked = 0
  server = await serveBlobs({
    disk: (_, response) => {
      asked++
      response.writeHead(200, { 'content-length': image.length }).end(image)
    },
  })
  await start()
})
afterEach(async () => {
  await machine.dispose()
  await server.close()
})

async function start() {
  daemon = await machine.startDaemon()
  peer = await daemon.peer()
}

async function restart() {
  await daemon.stop()
  await start()
}

const disk = (): ContentRef =>
  contentRefOf({ text: server.url('disk'), sha256: sha256Hex(image), baseDirectory: '/' }) as ContentRef

const aVolume = (more: Partial<VolumeConfig> = {}): VolumeConfig => ({
  scope: 'volumes',
  displayName: 'data',
  owner: 'app',
  id: 'data',
  generation: 0,
  origin: 'download',
  content: disk(),
  maxSize: 0,
  readOnly: false,
  kind: 'disk',
  format: 'raw',
  verifyOnly: false,
  ...more,
})

const keyOf = (config: VolumeConfig) => `${config.scope}/${volumeKey(config)}`
const volumes = () => peer.all('volumeStatus')
const ask = (config: VolumeConfig) => peer.publish('volumeConfig', keyOf(config), config)
const withdraw = (config: VolumeConfig) => peer.retract('volumeConfig', keyOf(config))
const isGone = (config: VolumeConfig) => eventually(() => !volumes().has(keyOf(config)))

async function made(config: VolumeConfig): Promise<VolumeStatus> {
  return eventually(() => {
    const status = volumes().get(keyOf(config))
    return status?.state === 'created' && status
  })
}

describe('promotion', () => {
  const unknown = 'unknown/download:app:data#0'
  const path = () => join(machine.layout.volumes, 'app+data#0.raw')

  /** Made, written to, and found again after a restart, when nobody asks for it. */
  async function aFoundVolume(): Promise<number> {
    ask(aVolume())
    await made(aVolume())
    writeFileSync(path(), 'written by a guest', { flag: 'r+' })
    await restart()
    await eventually(() => volumes().has(unknown))
    return statSync(path()).ino
  }

  it('gives a volume that was found to the one who asks for it: one status, the same file, no copy, no fetch', async () => {
    const inode = await aFoundVolume()
    expect([...volumes().keys()]).toEqual([unknown])
    const before = asked
    ask(aVolume())
    expect(await made(aVolume())).toMatchObject({ path: path(), scope: 'volumes' })
    expect([...volumes().keys()]).toEqual([keyOf(aVolume())])
    expect(statSync(path()).ino).toBe(inode)
    expect(readFileSync(path(), 'utf8').slice(0, 18)).toBe('written by a guest')
    expect(machine.names('volumes')).toEqual(['app+data#0.raw'])
    expect(asked).toBe(before)
  })

  it('is the same when the manager is killed in its middle', async () => {
    const inode = await aFoundVolume()
    ask(aVolume())
    process.kill(processesOf(machine.layout).manager[0]!, 'SIGKILL')
    await eventually(() => [...volumes().keys()].join() === keyOf(aVolume()))
    await made(aVolume())
    expect([statSync(path()).ino, machine.names('volumes')]).toEqual([inode, ['app+data#0.raw']])
  })

  it('does not give it to one who asks for other content, and leaves it as it is', async () => {
    const inode = await aFoundVolume()
    const other = aVolume({ content: { ...disk(), sha256: sha256Hex('other') as ContentRef['sha256'] } as ContentRef })
    ask(other)
    const refused = await eventually(() => volumes().get(keyOf(other))?.error)
    expect(refused.code).toBe('volume.generation-required')
    expect(statSync(path()).ino).toBe(inode)
  })

  it('finds volumes that were named in the older form', async () => {
    await daemon.stop()
    const old = `${sha256Hex(image).toUpperCase()}-app.raw`
    writeFileSync(join(machine.layout.volumes, old), 'an old disk')
    const stranger = join(machine.layout.volumes, 'holiday.jpg')
    writeFileSync(stranger, 'not ours')
    await start()
    ask(aVolume())
    expect((await made(aVolume())).path).toBe(join(machine.layout.volumes, old))
    await machine.cairn('content', 'gc')
    expect(readFileSync(stranger, 'utf8')).toBe('not ours')
    expect(asked).toBe(0)
  })
})

describe('references', () => {
  const content = (scope: Scope): ContentConfig => ({ scope, id: 'disk', ref: disk(), until: 'verified' })
  const want = (scope: Scope) => peer.publish('contentConfig', `${scope}/disk`, content(scope))
  const drop = (scope: Scope) => peer.retract('contentConfig', `${scope}/disk`)
  const isVerified = (scope: Scope) => peer.all('contentStatus').get(`${scope}/disk`)?.state === 'verified'
  const blob = () => join(machine.layout.verified, `${sha256Hex(image)}.application%2Foctet-stream`)

  it('of two scopes keep one blob, fetched once, until the last of them goes', async () => {
    want('packages')
    want('images')
    await eventually(() => isVerified('packages') && isVerified('images'))
    expect([asked, machine.names('verified').length]).toEqual([1, 1])
    drop('packages')
    await eventually(() => !peer.all('contentStatus').has('packages/disk'))
    // A round through all processes: had it been let go, it would be gone by then.
    const { unused } = await machine.cairn<{ unused: unknown[] }>('content', 'gc')
    expect([unused, existsSync(blob())]).toEqual([[], true])
    expect(isVerified('images')).toBe(true)
    drop('images')
    await eventually(() => machine.names('verified').length === 0)
  })

  it('that come back while the blob goes find it there or have it fetched: never a status without a file', async () => {
    want('packages')
    await eventually(() => isVerified('packages'))
    for (let round = 0; round < 30; round++) {
      drop('packages')
      // Further into the handshake each time.
      if (round % 3 > 0) await eventually(() => !isVerified('packages'))
      if (round % 3 > 1) await eventually(() => peer.all('verifyStatus').get(sha256Hex(image))?.expired !== false)
      want('packages')
      await eventually(() => isVerified('packages') && existsSync(blob()))
      expect(readFileSync(blob()).equals(image)).toBe(true)
    }
    // And it stays.
    expect(await machine.cairn('content', 'verify')).toEqual({ checked: 1, damaged: [] })
    expect(isVerified('packages')).toBe(true)
  })

  it('to a volume come back while it is being destroyed: it is made anew, whole', async () => {
    ask(aVolume())
    const { path = '' } = await made(aVolume())
    writeFileSync(path, 'written by a guest', { flag: 'r+' })
    const inode = statSync(path).ino
    withdraw(aVolume())
    ask(aVolume())
    await eventually(() => volumes().get(keyOf(aVolume()))?.state === 'created' && existsSync(path))
    // Either the wish never was away, or the volume is another one with the content of the image.
    const kept = Buffer.concat([Buffer.from('written by a guest'), image.subarray(18)])
    expect(readFileSync(path).equals(statSync(path).ino === inode ? kept : image)).toBe(true)
    withdraw(aVolume())
    await isGone(aVolume())
    expect(machine.names('volumes')).toEqual([])
  })
})

describe('collecting', () => {
  it('takes a volume that nobody claims when it is asked to, and not one that is claimed', async () => {
    const [claimed, forgotten] = [aVolume(), aVolume({ id: 'forgotten' })]
    for (const config of [claimed, forgotten]) {
      ask(config)
      await made(config)
    }
    await restart()
    await eventually(() => volumes().size === 2)
    ask(claimed)
    await made(claimed)
    const found = volumes().get('unknown/download:app:forgotten#0')!
    expect(Date.parse(found.collectedAt!)).toBeGreaterThan(Date.now())
    const settings = { ...defaultSettings.manager, collectBefore: new Date().toISOString() }
    peer.publish('managerSettings', '', settings)
    await eventually(() => volumes().size === 1)
    expect(machine.names('volumes')).toEqual(['app+data#0.raw'])
    expect(volumes().get(keyOf(claimed))).toMatchObject({ state: 'created' })
  })

  it('takes none in maintenance', async () => {
    ask(aVolume())
    await made(aVolume())
    await restart()
    await eventually(() => volumes().size === 1)
    const collectBefore = new Date().toISOString()
    const { manager } = defaultSettings
    peer.publish('managerSettings', '', { ...manager, maintenance: true, collectBefore })
    // Something that is done after it.
    const other = aVolume({ id: 'other', origin: 'blank', maxSize: 1 })
    delete (other as { content?: unknown }).content
    ask(other)
    await made(other)
    expect(machine.names('volumes')).toContain('app+data#0.raw')
    peer.publish('managerSettings', '', { ...manager, collectBefore })
    await eventually(() => !machine.names('volumes').includes('app+data#0.raw'))
  })
})

describe('generations', () => {
  it('are made beside each other, and the old one goes with its config: a purge', async () => {
    const [old, next] = [aVolume(), aVolume({ generation: 1 })]
    ask(old)
    const { path = '' } = await made(old)
    writeFileSync(path, 'written by a guest', { flag: 'r+' })
    ask(next)
    const fresh = (await made(next)).path!
    expect(machine.names('volumes')).toEqual(['app+data#0.raw', 'app+data#1.raw'])
    expect(readFileSync(fresh).equals(image)).toBe(true)
    withdraw(old)
    await isGone(old)
    expect(machine.names('volumes')).toEqual(['app+data#1.raw'])
    expect(volumes().get(keyOf(next))).toMatchObject({ state: 'created' })
  })

  it('of a person are purged by the command, from the same content', async () => {
    const path = machine.write('disk.raw', image)
    const create = await machine.cairn<VolumeStatus>('volume', 'create', 'web', '--from', path)
    writeFileSync(create.path!, 'written by a guest', { flag: 'r+' })
    const purged = await machine.cairn<VolumeStatus>('volume', 'purge', 'web')
    expect(readFileSync(purged.path!).equals(image)).toBe(true)
    expect(machine.names('volumes')).toEqual(['local+web#2.raw'])
    await restart()
    expect(await machine.cairn('volume', 'show', 'web')).toMatchObject({ state: 'created', path: purged.path })
  })

  it('can be fetched and verified first, so that a purge need not hold two disks', async () => {
    const [old, next] = [aVolume({ content: { ...disk(), name: 'old' } }), aVolume({ generation: 1, verifyOnly: true })]
    ask(old)
    await made(old)
    ask(next)
    await eventually(() => volumes().get(keyOf(next))?.state === 'verified')
    expect(machine.names('volumes')).toEqual(['app+data#0.raw'])
    const before = asked
    withdraw(old)
    await isGone(old)
    expect(machine.names('volumes')).toEqual([])
    ask({ ...next, verifyOnly: false })
    await made(next)
    expect([machine.names('volumes'), asked]).toEqual([['app+data#1.raw'], before])
  })

  it('are needed for a change: another digest is refused and the volume stays as it is', async () => {
    ask(aVolume())
    const { path = '' } = await made(aVolume())
    const inode = statSync(path).ino
    ask(aVolume({ content: { ...disk(), sha256: sha256Hex('other') as ContentRef['sha256'] } as ContentRef }))
    const error = await eventually(() => volumes().get(keyOf(aVolume()))?.error)
    expect(error.code).toBe('volume.generation-required')
    expect([statSync(path).ino, readFileSync(path).equals(image)]).toEqual([inode, true])
  })
})
