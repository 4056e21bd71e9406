// Container volumes against a real containerd.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { ContentStatus } from '../../src/content/messages.ts'
import { type RuntimeContext, runtimeContext } from '../../src/volumes/container/context.fake.ts'
import { type FakeImage, writeImage } from '../../src/volumes/container/images.fake.ts'
import { containerKind, openRuntime } from '../../src/volumes/container/kind.ts'
import { runtimeSuite } from '../../src/volumes/container/runtime.suite.ts'
import { type ContainerRuntime, imageName } from '../../src/volumes/container/runtime.ts'
import { aVolume } from '../../src/volumes/kinds/context.fake.ts'
import { describeWith } from '../require.ts'
import { type ContainerdOptions, type RealContainerd, startContainerd } from './containerd.ts'

const signal = new AbortController().signal
const layer = (name: string, content = name) => ({ tar: [{ name, content }] })
const digests = ({ blobs }: ContentStatus) => blobs.map(({ sha256 }) => `sha256:${sha256}`).sort()

const needs = ['root', 'containerd', 'ctr'] as const

describeWith(needs, 'containerd with overlayfs', () => suiteWith({}))
describeWith(needs, 'containerd without overlayfs', () =>
  suiteWith({ disabledPlugins: ['io.containerd.snapshotter.v1.overlayfs'] }),
)

function suiteWith(options: ContainerdOptions) {
  let containerd: RealContainerd
  beforeAll(async () => {
    containerd = await startContainerd(options)
  })
  afterAll(() => containerd.dispose())
  runtimeSuite('containerd', async () => {
    const context = runtimeContext({ connect: () => containerd.connect() })
    return { context, runtime: await openRuntime(context) }
  })
}

describeWith(needs, 'containerd', () => {
  let containerd: RealContainerd
  let runtime: ContainerRuntime
  let context: RuntimeContext
  /** The next connection is this one. */
  let next: (() => Promise<Socket | null>) | null = null
  let connections = 0

  beforeAll(async () => {
    containerd = await startContainerd()
  })
  afterAll(() => containerd.dispose())

  beforeEach(async () => {
    connections = 0
    context = runtimeContext({
      connect: () => {
        connections++
        const connect = next ?? containerd.connect
        next = null
        return connect()
      },
    })
    runtime = await openRuntime(context)
  })
  afterEach(async () => {
    for (const entry of readdirSync(context.layout.volumes))
      await runtime.removeRootfs(join(context.layout.volumes, entry))
    for (const name of (await containerd.ctr('images', 'list', '-q')).split('\n').filter(Boolean))
      await runtime.unload(name)
    expect(await inStore()).toEqual([])
    context.dispose()
  })

  const inStore = async () => (await containerd.ctr('content', 'list', '-q')).split('\n').filter(Boolean).sort()
  const snapshots = async () =>
    (await containerd.ctr('snapshots', 'list'))
      .split('\n')
      .slice(1)
      .filter(Boolean)
      .map(line => line.split(/\s+/)[0])
  const leases = async () => (await containerd.ctr('leases', 'list', '-q')).split('\n').filter(Boolean)
  const image = (fake: FakeImage) => writeImage(context.layout.verified, fake).content
  const load = async (content: ContentStatus) => {
    await runtime.load({ name: imageName(content), content, signal })
    return content
  }
  const target = (id = 'app') => join(context.layout.volumes, `web+${id}#1`)
  const make = async (content: ContentStatus, id?: string) => {
    await runtime.makeRootfs({ target: target(id), image: imageName(content), content, signal })
    return join(target(id), 'rootfs')
  }

  it('has the blobs of a loaded image and its record, and no lease any more', async () => {
    const content = await load(image({ layers: [layer('a'), layer('b')], inIndex: true }))
    expect(await inStore()).toEqual(digests(content))
    expect(await containerd.ctr('images', 'list', '-q')).toBe(`${imageName(content)}\n`)
    expect(await leases()).toEqual([])
  })

  it('takes a layer that two images share once, also when both come at the same time', async () => {
    const base = layer('base', 'x'.repeat(3_000_000))
    const first = image({ name: 'registry.test/first:1', layers: [base, layer('a')] })
    const second = image({ name: 'registry.test/second:1', layers: [base, layer('b')] })
    await Promise.all([load(first), load(second)])
    expect(await inStore()).toEqual([...new Set([...digests(first), ...digests(second)])].sort())
    await Promise.all([make(first, 'one'), make(second, 'two')])
    // The base, the two layers over it, the two volumes.
    expect(await snapshots()).toHaveLength(5)
  })

  it('frees the blobs of an image that goes, but for those that another image has', async () => {
    const base = layer('base')
    const first = await load(image({ name: 'registry.test/first:1', layers: [base, layer('a')] }))
    const second = await load(image({ name: 'registry.test/second:1', layers: [base, layer('b')] }))
    await runtime.unload(imageName(first))
    expect(await inStore()).toEqual(digests(second))
  })

  it('frees the snapshots of a volume and its image when both are gone', async () => {
    const content = await load(image({ layers: [layer('a'), layer('b')] }))
    await make(content)
    await runtime.unload(imageName(content))
    expect(await snapshots()).toHaveLength(3)
    await runtime.removeRootfs(target())
    expect(await snapshots()).toEqual([])
  })

  it('keeps the unpacked layers of an image that no volume uses now', async () => {
    const content = await load(image({ layers: [layer('a'), layer('b')] }))
    await make(content)
    await runtime.removeRootfs(target())
    expect(await snapshots()).toHaveLength(2)
  })

  it('streams a blob that is larger than any message', async () => {
    const large = layer('large', Array.from({ length: 400_000 }, (_, n) => `${(n * 2654435761) % 2 ** 32}\n`).join(''))
    const content = await load(image({ layers: [{ ...large, compression: 'none' }] }))
    const rootfs = await make(content)
    expect(readFileSync(join(rootfs, 'large'), 'utf8')).toBe(large.tar[0]!.content)
  })

  it('goes on after containerd was restarted, with a new connection', async () => {
    const content = await load(image({ layers: [layer('a')] }))
    const before = connections
    await containerd.kill()
    await expect(make(content)).rejects.toMatchObject({ code: 'runtime.unavailable' })
    expect(existsSync(target())).toBe(false)
    await containerd.start()
    const rootfs = await make(content)
    expect(readdirSync(rootfs)).toEqual(['a'])
    expect(connections).toBeGreaterThan(before)
  })

  const large = () =>
    image({ layers: [layer('a'), { ...layer('large', 'x'.repeat(40_000_000)), compression: 'none' }] })
  /** The runtime that has begun to load a large image, and got stuck. */
  const loadSlowly = async (content: ContentStatus, signal: AbortSignal) => {
    const slow = containerd.connectSlow(5_000_000)
    next = slow.connect
    runtime = await openRuntime(context)
    const loading = runtime.load({ name: imageName(content), content, signal })
    loading.catch(() => {})
    await slow.stopped
    return { slow, loading }
  }

  it('says that it is unavailable when containerd dies in the middle, and goes on at the next try', async () => {
    const content = large()
    const { loading } = await loadSlowly(content, signal)
    await containerd.kill()
    await expect(loading).rejects.toMatchObject({ code: 'runtime.unavailable' })
    await containerd.start()
    expect(await leases()).toHaveLength(1)
    await load(content)
    expect(await inStore()).toEqual(digests(content))
    expect(await leases()).toEqual([])
  })

  it('stops within a blob when the image is no longer wanted', async () => {
    const content = large()
    const stop = new AbortController()
    const { slow, loading } = await loadSlowly(content, stop.signal)
    stop.abort(new Error('no longer wanted'))
    slow.goOn()
    await expect(loading).rejects.toThrow('no longer wanted')
    expect(await leases()).toEqual([])
    await load(content)
    expect(await inStore()).toEqual(digests(content))
  })

  it('attaches a volume after a reboot, with what was written into it', async () => {
    const rootfs = await make(await load(image({ layers: [layer('a')] })))
    writeFileSync(join(rootfs, 'written'), 'kept')
    await context.calls.unmount(rootfs)
    expect(readdirSync(rootfs)).toEqual(['not-attached'])
    await runtime.attach(target())
    expect(readdirSync(rootfs).sort()).toEqual(['a', 'written'])
  })

  it('removes a volume that is not attached, and never what is still mounted', async () => {
    const rootfs = await make(await load(image({ layers: [layer('a')] })))
    const busy = { ...context, calls: { ...context.calls, unmount: async () => {} } }
    const careless = await openRuntime(busy)
    await expect(careless.removeRootfs(target())).rejects.toMatchObject({ code: 'volume.still-mounted' })
    expect(readdirSync(rootfs)).toEqual(['a'])
    await context.calls.unmount(rootfs)
    await runtime.removeRootfs(target())
    expect(existsSync(target())).toBe(false)
  })

  it('tells what it holds for a volume that was lost, and lets it go', async () => {
    const rootfs = await make(await load(image({ layers: [layer('a')] })))
    expect(await runtime.held()).toEqual([basename(target())])
    await context.calls.unmount(rootfs)
    rmSync(target(), { recursive: true })
    expect(await runtime.held()).toEqual([basename(target())])
    await runtime.removeRootfs(target())
    expect(await runtime.held()).toEqual([])
  })

  it('makes a volume over what a crash has left under its name', async () => {
    const content = await load(image({ layers: [layer('a')] }))
    const rootfs = await make(content)
    writeFileSync(join(rootfs, 'left'), 'over')
    await context.calls.unmount(rootfs)
    rmSync(target(), { recursive: true })
    expect(readdirSync(await make(content))).toEqual(['a'])
  })

  it('ends what a crash has left under a lease, since a power cut may have taken its bytes', async () => {
    const content = large()
    const { loading } = await loadSlowly(content, signal)
    await containerd.kill()
    await expect(loading).rejects.toMatchObject({ code: 'runtime.unavailable' })
    await containerd.start()
    expect(await inStore()).toHaveLength(1)
    runtime = await openRuntime(context)
    expect(await leases()).toEqual([])
    expect(await inStore()).toEqual([])
  })

  it('keeps the directory of a volume honest while containerd is away', async () => {
    const rootfs = await make(await load(image({ layers: [layer('a')] })))
    const without = await openRuntime({ ...context, calls: { ...context.calls, connectRuntime: async () => null } })
    expect(without.name).toBe('directory')
    await expect(without.attach(target())).rejects.toMatchObject({ code: 'runtime.unavailable' })
    await without.removeRootfs(target())
    expect(existsSync(rootfs)).toBe(false)
    expect(await runtime.held()).toEqual([basename(target())])
    await runtime.removeRootfs(target())
    expect(await runtime.held()).toEqual([])
  })

  it('mounts an image of a hundred layers, more than the kernel takes with their whole paths', async () => {
    const layers = Array.from({ length: 100 }, (_, at) => layer(`layer-${at}`))
    const rootfs = await make(await load(image({ layers })))
    expect(readdirSync(rootfs)).toHaveLength(100)
    writeFileSync(join(rootfs, 'layer-0'), 'changed')
    await context.calls.unmount(rootfs)
    await runtime.attach(target())
    expect(readFileSync(join(rootfs, 'layer-0'), 'utf8')).toBe('changed')
  })

  it('is the kind `container` of volumes', async () => {
    const content = await load(image({ layers: [layer('a')] }))
    const kind = containerKind(async () => runtime)
    const request = { config: aVolume({ kind: 'container' }), target: target(), content, signal }
    expect(await kind.create(request, context)).toMatchObject({ path: target() })
    await expect(kind.create(request, context)).rejects.toMatchObject({ code: 'volume.exists' })
    await kind.destroy(target(), context)
    expect(existsSync(target())).toBe(false)
  })
})
