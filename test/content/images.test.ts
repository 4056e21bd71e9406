// Images and disks from where they lie to where they are used, through the program that ships, with the real registry, the
// real containerd and the real tools on both ends.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ContentStatus, VolumeStatus } from '../../src/content/messages.ts'
import { findProgram } from '../../src/lib/run.ts'
import { type BlobServer, serveBlobs } from '../overlay/blob-server.ts'
import { describeWith } from '../require.ts'
import { type RealContainerd, startContainerd } from '../volumes/containerd.ts'
import { output } from '../volumes/tools.ts'
import { type ContentMachine, contentMachine } from './cairn.ts'
import { type CountingProxy, countingProxy } from './counting-proxy.ts'
import { type Layer, type MadeImage, makeImage, ownPlatform, randomLayer } from './image.ts'
import { pushImage, type RealRegistry, startRegistry } from './registry.ts'
import { runVolume } from './runc.ts'

const mib = 2 ** 20
const otherPlatform = ownPlatform === 'linux/arm64' ? 'linux/amd64' : 'linux/arm64'

const file = (name: string, body: string | Buffer, mode = 0o755) => ({ name, body: Buffer.from(body), mode })
const directory = (name: string) => ({ name, body: Buffer.alloc(0) })
const script = (line: string) => file('bin/hello', `#!/bin/sh\n${line}\n`)

/** 24 layers: a shell, a script that the last one replaces, and 22 with a file each between them. */
const layersThatRun = (): Layer[] => [
  [
    ...['bin/', 'proc/', 'dev/', 'sys/', 'etc/'].map(directory),
    file('bin/sh', readFileSync(findProgram('busybox')!)),
    script('echo old'),
  ],
  ...Array.from({ length: 22 }, (_, n) => [
    file(`etc/part-${n}`, `${n}\n`, 0o644),
    ...randomLayer({ seed: n, bytes: 64 * 1024 }),
  ]),
  [script('set -- /etc/part-*\necho hello from $# parts')],
]

const imageThatRuns = () =>
  makeImage({
    platforms: {
      [otherPlatform]: [randomLayer({ seed: 1000, bytes: 100_000 })],
      [ownPlatform]: layersThatRun(),
    },
    config: { Cmd: ['/bin/hello'] },
  })

/** What a machine of our platform needs of an image. */
const ours = ({ index, manifests, parts }: MadeImage) => [
  index.sha256,
  manifests.at(-1)!.sha256,
  ...parts[ownPlatform]!,
]

/** The digests under which files lie in verified/, each with the bytes it promises. */
function verified(machine: ContentMachine): string[] {
  return machine.names('verified').map(name => {
    const bytes = readFileSync(join(machine.layout.verified, name))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    if (!name.startsWith(`${sha256}.`)) throw new Error(`${name} has the digest ${sha256}`)
    return sha256
  })
}

const once = (digests: readonly string[]) => new Map(digests.map(digest => [digest, 1]))
const sorted = (map: ReadonlyMap<string, number>) => [...map].sort()

describeWith(
  ['root', 'docker-registry', 'containerd', 'ctr', 'runc', 'busybox'],
  'an image of 24 layers for two platforms, with containerd',
  () => {
    let registry: RealRegistry
    let proxy: CountingProxy
    let containerd: RealContainerd
    let machine: ContentMachine
    let image: MadeImage
    let reference: string
    beforeAll(async () => {
      registry = await startRegistry()
      proxy = await countingProxy(registry)
      containerd = await startContainerd()
      machine = await contentMachine()
      machine.configure({ 'content.containerd': containerd.address })
      image = await imageThatRuns()
      await pushImage(registry, image, { repository: 'team/app', tag: 'v1' })
      reference = `${proxy.host}/team/app:v1`
    })
    afterAll(async () => {
      await machine?.dispose()
      await containerd?.dispose()
      await proxy?.close()
      await registry?.stop()
    })

    const snapshots = async () => (await containerd.ctr('snapshots', 'ls')).trim().split('\n').slice(1)

    it('is pulled and verified: what our platform needs, each blob once, and nothing else', async () => {
      const pulled = await machine.cairn<ContentStatus>('content', 'pull', reference)
      expect(pulled).toMatchObject({ state: 'verified', sha256: image.index.sha256, progress: 100 })
      expect(pulled.blobs.map(({ role }) => role)).toEqual(['index', 'manifest', 'config', ...Array(24).fill('layer')])
      expect(verified(machine)).toEqual(ours(image).toSorted())
      expect(sorted(proxy.fetched())).toEqual(sorted(once(ours(image))))
      expect(machine.names('pending')).toEqual([])
    })

    it('keeps its digest when the tag moves, and is not asked for again by a command or a daemon', async () => {
      const other = await makeImage({ platforms: { [ownPlatform]: [randomLayer({ seed: 2000, bytes: 1000 })] } })
      await pushImage(registry, other, { repository: 'team/app', tag: 'v1' })
      const before = proxy.connections()
      const pulled = await machine.cairn<ContentStatus>('content', 'pull', reference)
      expect(pulled).toMatchObject({ state: 'verified', sha256: image.index.sha256 })
      const daemon = await machine.startDaemon()
      expect(await machine.cairn('content', 'pull', reference)).toEqual(pulled)
      await daemon.stop()
      expect(proxy.connections()).toBe(before)
    })

    it('becomes a container volume when the registry is gone, and a container runs from it', async () => {
      await registry.stop()
      const before = proxy.connections()
      const made = await machine.cairn<VolumeStatus>(
        'volume',
        'create',
        'app',
        '--kind',
        'container',
        '--from',
        `${proxy.host}/team/app@sha256:${image.index.sha256}`,
      )
      expect(made).toMatchObject({ state: 'created', kind: 'container', content: { sha256: image.index.sha256 } })
      expect(proxy.connections()).toBe(before)
      expect(await runVolume(made.path!)).toBe('hello from 22 parts\n')
      expect(await snapshots()).not.toEqual([])
    })

    it('is taken away with its last user, from containerd too', async () => {
      expect(await machine.refused('volume', 'rm', 'app')).toMatchObject({ exit: 4, code: 'volume.data-loss' })
      await machine.cairn('volume', 'rm', 'app', '--allow-data-loss')
      expect(machine.names('volumes')).toEqual([])
      expect(await snapshots()).toEqual([])
      await machine.cairn('content', 'gc')
      expect(verified(machine)).toEqual(ours(image).toSorted())
      await machine.cairn('content', 'rm', reference)
      expect(verified(machine)).toEqual([])
    })
  },
)

describeWith(['docker-registry'], 'two images that share layers', () => {
  let registry: RealRegistry
  let proxy: CountingProxy
  let machine: ContentMachine
  let images: MadeImage[]
  const reference = (name: string) => `${proxy.host}/team/${name}:v1`
  beforeAll(async () => {
    registry = await startRegistry()
    proxy = await countingProxy(registry)
    machine = await contentMachine()
    const image = (...seeds: number[]) =>
      makeImage({ platforms: { [ownPlatform]: seeds.map(seed => randomLayer({ seed, bytes: 300_000 })) } })
    images = [await image(1, 2, 3), await image(1, 2, 4)]
    for (const [at, name] of ['one', 'two'].entries())
      await pushImage(registry, images[at]!, { repository: `team/${name}`, tag: 'v1' })
  })
  afterAll(async () => {
    await machine?.dispose()
    await proxy?.close()
    await registry?.stop()
  })

  it('are pulled at the same time, and each layer is fetched once', async () => {
    const daemon = await machine.startDaemon()
    await Promise.all(['one', 'two'].map(name => machine.cairn('content', 'pull', reference(name))))
    await daemon.stop()
    const all = [...new Set(images.flatMap(ours))].toSorted()
    expect(verified(machine)).toEqual(all)
    expect(sorted(proxy.fetched())).toEqual(sorted(once(all)))
  })

  it('keep what they share as long as one of them is wanted, and gc takes nothing else', async () => {
    await machine.cairn('content', 'rm', reference('one'))
    expect(verified(machine)).toEqual(ours(images[1]!).toSorted())
    expect(await machine.cairn('content', 'gc')).toMatchObject({ unused: [] })
    expect(await machine.cairn('content', 'verify')).toEqual({ checked: ours(images[1]!).length, damaged: [] })
    expect(await machine.cairn<ContentStatus>('content', 'pull', reference('two'))).toMatchObject({ state: 'verified' })
    expect(sorted(proxy.fetched())).toEqual(sorted(once([...new Set(images.flatMap(ours))])))
  })

  it('leave nothing when neither is wanted: gc tells what would go, then takes it', async () => {
    // One file that is nobody's, as a crash between two steps may leave it.
    const stray = Buffer.from('nobody asked for this')
    const sha256 = createHash('sha256').update(stray).digest('hex')
    writeFileSync(join(machine.layout.verified, `${sha256}.application%2Foctet-stream`), stray, { mode: 0o400 })
    const unused = [{ what: 'blob', key: sha256, size: stray.length }]
    expect(await machine.cairn('content', 'gc', '--dry-run')).toMatchObject({ dryRun: true, unused })
    expect(verified(machine)).toContain(sha256)
    expect(await machine.cairn('content', 'gc')).toMatchObject({ dryRun: false, unused })
    expect(verified(machine)).toEqual(ours(images[1]!).toSorted())
    await machine.cairn('content', 'rm', reference('two'))
    expect(verified(machine)).toEqual([])
    expect(await machine.cairn('content', 'list')).toEqual({ content: [] })
  })
})

describeWith(['root', 'docker-registry', 'runc', 'busybox'], 'an image of 24 layers, without containerd', () => {
  it('is unpacked by Cairn itself, and a container runs from it', async () => {
    const machine = await contentMachine()
    const registry = await startRegistry()
    try {
      await pushImage(registry, await imageThatRuns(), { repository: 'team/app', tag: 'v1' })
      const from = `${registry.host}/team/app:v1`
      const made = await machine.cairn<VolumeStatus>('volume', 'create', 'app', '--kind', 'container', '--from', from)
      expect(made).toMatchObject({ state: 'created', kind: 'container' })
      expect(await runVolume(made.path!)).toBe('hello from 22 parts\n')
      await machine.cairn('volume', 'rm', 'app', '--allow-data-loss')
      expect(existsSync(made.path!)).toBe(false)
    } finally {
      await machine.dispose()
      await registry.stop()
    }
  })
})

describeWith(['qemu-img', 'isoinfo', 'blkid', 'mkfs.ext4'], 'a volume', () => {
  let machine: ContentMachine
  let server: BlobServer
  /** 8 MiB with a hole in the middle. */
  const disk = Buffer.concat([randomBytes(mib), Buffer.alloc(6 * mib), randomBytes(mib)])
  let raw: string
  let qcow2: Buffer
  beforeAll(async () => {
    machine = await contentMachine()
    raw = machine.write('disk.raw', disk)
    const converted = `${raw}.qcow2`
    await output('qemu-img', 'convert', '-O', 'qcow2', raw, converted)
    qcow2 = readFileSync(converted)
    server = await serveBlobs({ 'disk.qcow2': qcow2 })
  })
  afterAll(async () => {
    await server?.close()
    await machine?.dispose()
  })

  const create = (...words: string[]) => machine.cairn<VolumeStatus>('volume', 'create', ...words)
  const blob = (bytes: Buffer) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return join(machine.layout.verified, machine.names('verified').find(name => name.startsWith(sha256)) ?? sha256)
  }

  it('from a raw image is a copy of the asked size that can be written to; the image stays as it is', async () => {
    await machine.cairn('content', 'pull', raw)
    const made = await create('data', '--from', raw, '--size', '64MiB')
    expect(made).toMatchObject({ state: 'created', format: 'raw', maxSize: 64 * mib })
    expect(statSync(made.path!).size).toBe(64 * mib)
    expect(made.usedSize).toBeLessThan(4 * mib)
    expect(readFileSync(made.path!).subarray(0, disk.length).equals(disk)).toBe(true)
    writeFileSync(made.path!, 'written by a guest', { flag: 'r+' })
    expect(readFileSync(made.path!, 'utf8').slice(0, 18)).toBe('written by a guest')
    for (const path of [raw, blob(disk)]) expect(readFileSync(path).equals(disk)).toBe(true)
  })

  it('that is read-only is the verified file itself', async () => {
    const inode = statSync(blob(disk)).ino
    const made = await create('golden', '--from', raw, '--read-only')
    expect(made).toMatchObject({ state: 'created', readOnly: true, path: blob(disk) })
    expect(statSync(made.path!).mode & 0o777).toBe(0o400)
    expect(machine.names('volumes')).toEqual(['local+data#1.raw'])
    await machine.cairn('content', 'rm', raw)
    await machine.cairn('content', 'gc')
    expect(statSync(made.path!).ino).toBe(inode)
    await machine.cairn('volume', 'rm', 'golden')
    expect(machine.names('verified')).toEqual([])
  })

  it('from a qcow2 image is one of the asked size, which qemu writes to', async () => {
    const from = ['--from', server.url('disk.qcow2'), '--digest', server.checksum('disk.qcow2')]
    await machine.cairn('content', 'pull', ...from.slice(1))
    const refusal = await machine.refused('volume', 'create', 'small', ...from, '--size', '4MiB')
    expect(refusal).toMatchObject({ code: 'volume.max-size-too-small' })
    const { path } = await create('vm', ...from, '--size', '1GiB')
    expect(JSON.parse(await output('qemu-img', 'info', '--output=json', path!))).toMatchObject({
      format: 'qcow2',
      'virtual-size': 1024 * mib,
    })
    expect(await output('qemu-img', 'compare', '-f', 'raw', '-F', 'qcow2', raw, path!)).toContain('identical')
    await output('qemu-io', '-f', 'qcow2', '-c', 'write -P 0x5a 1023M 64k', path!)
    await output('qemu-img', 'check', path!)
    expect(readFileSync(blob(qcow2)).equals(qcow2)).toBe(true)
  })

  it('for cloud-init has its label and gives back what it was given', async () => {
    const userData = '#cloud-config\nhostname: grüße\n'
    const given = [
      ['--user-data', machine.write('user-data', userData)],
      ['--meta-data', machine.write('meta-data', 'instance-id: one\n')],
      ['--network-config', machine.write('network-config', 'version: 2\n')],
    ].flat()
    const { path } = await create('seed', '--from', 'cloud-init', ...given)
    const about = await output('blkid', '-p', '-o', 'export', path!)
    expect(about.split('\n')).toEqual(expect.arrayContaining(['LABEL=cidata', 'TYPE=iso9660']))
    expect(await output('isoinfo', '-R', '-x', '/user-data', '-i', path!)).toBe(userData)
    expect(await output('isoinfo', '-J', '-x', '/meta-data;1', '-i', path!)).toBe('instance-id: one\n')
    expect(await output('isoinfo', '-R', '-x', '/network-config', '-i', path!)).toBe('version: 2\n')
    expect(statSync(path!).mode & 0o777).toBe(0o600)
  })

  it('that is blank has its size and takes no space', async () => {
    const { path, usedSize } = await create('blank', '--from', 'blank', '--size', '10GiB')
    expect(statSync(path!)).toMatchObject({ size: 10 * 1024 * mib, blocks: 0 })
    expect(usedSize).toBe(0)
  })

  it('that is blank with a file system has that one, and takes little', async () => {
    const { path, usedSize } = await create('fs', '--from', 'blank', '--size', '1GiB', '--file-system', 'ext4')
    expect(statSync(path!).size).toBe(1024 * mib)
    expect(usedSize).toBeLessThan(64 * mib)
    expect(await output('blkid', '-p', '-o', 'export', path!)).toContain('TYPE=ext4')
    await output('fsck.ext4', '-f', '-n', path!)
  })
})
