// What every ContainerRuntime must do; each implementation runs it (directory-runtime.test.ts, test/volumes/container.test.ts).
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ContentStatus } from '../../content/messages.ts'
import type { RuntimeContext } from './context.fake.ts'
import { type FakeImage, writeBlob, writeImage } from './images.fake.ts'
import { type ContainerRuntime, imageName } from './runtime.ts'

export interface RuntimeUnderTest {
  readonly runtime: ContainerRuntime
  readonly context: RuntimeContext
}

export function runtimeSuite(name: ContainerRuntime['name'], open: () => Promise<RuntimeUnderTest>) {
  describe(`the runtime ${name}`, () => {
    let runtime: ContainerRuntime
    let context: RuntimeContext
    const volume = (id: string) => join(context.layout.volumes, `web+${id}#1`)
    const signal = new AbortController().signal

    beforeEach(async () => {
      ;({ runtime, context } = await open())
    })
    afterEach(async () => {
      for (const entry of readdirSync(context.layout.volumes))
        await runtime.removeRootfs(join(context.layout.volumes, entry))
      context.dispose()
    })

    const image = (fake: FakeImage) => writeImage(context.layout.verified, fake).content
    const load = async (content: ContentStatus) => {
      await runtime.load({ name: imageName(content), content, signal })
      return content
    }
    const make = async (id: string, content: ContentStatus, abort = signal) => {
      const target = volume(id)
      const made = await runtime.makeRootfs({ target, image: imageName(content), content, signal: abort })
      return { ...made, rootfs: join(target, 'rootfs') }
    }
    const left = async () => [...readdirSync(context.layout.volumes), ...(await runtime.held())]

    it('calls itself by its name', () => expect(runtime.name).toBe(name))

    it('lays the layers of an image on each other, with what they hide', async () => {
      const { content, configText } = writeImage(context.layout.verified, { layers: threeLayers, inIndex: true })
      const { rootfs } = await make('app', await load(content))
      expect(treeOf(rootfs)).toEqual({
        bin: 'directory 755',
        'bin/tool': 'file 4755 "#!tool 2"',
        data: 'directory 755',
        'data/fresh': 'file 644 "fresh"',
        etc: 'directory 755',
        'etc/hosts': 'file 640 "hosts"',
        'etc/hosts.hard': 'file 640 "hosts"',
        lib: 'link usr/lib',
        out: 'link /etc/hosts',
        usr: 'directory 755',
        'usr/lib': 'directory 755',
        'usr/lib/more': 'file 644 "more"',
      })
      expect(lstatSync(join(rootfs, 'etc/hosts')).ino).toBe(lstatSync(join(rootfs, 'etc/hosts.hard')).ino)
      expect(lstatSync(join(rootfs, 'etc/hosts')).mtimeMs).toBe(1000)
      expect(readFileSync(join(volume('app'), 'image-config.json'), 'utf8')).toBe(configText)
    })

    it('gives each volume a root file system of its own that can be written', async () => {
      const content = await load(image({ layers: [one('a', 'image')] }))
      const [first, second] = [await make('one', content), await make('two', content)]
      writeFileSync(join(first.rootfs, 'a'), 'changed')
      expect(readFileSync(join(first.rootfs, 'a'), 'utf8')).toBe('changed')
      expect(readFileSync(join(second.rootfs, 'a'), 'utf8')).toBe('image')
      expect(Number.isSafeInteger(first.usedSize)).toBe(true)
    })

    it('needs the verified files no more once an image is loaded, and takes a second load as done', async () => {
      const content = await load(image({ layers: [one('a', 'kept')] }))
      rmSync(context.layout.verified, { recursive: true })
      await load(content)
      const { rootfs } = await make('app', content)
      expect(readFileSync(join(rootfs, 'a'), 'utf8')).toBe('kept')
    })

    it('takes a layer that stands in an image twice', async () => {
      const layer = one('a', 'again')
      const { rootfs } = await make('app', await load(image({ layers: [layer, one('b', 'other'), layer] })))
      expect(Object.keys(treeOf(rootfs))).toEqual(['a', 'b'])
    })

    it('takes an image without layers', async () => {
      const { rootfs } = await make('app', await load(image({ layers: [] })))
      expect(treeOf(rootfs)).toEqual({})
    })

    it('forgets an image, but not what another image or a volume has of it', async () => {
      const shared = one('base', 'shared')
      const first = await load(image({ name: 'registry.test/first:1', layers: [shared, one('a', 'first')] }))
      const second = await load(image({ name: 'registry.test/second:1', layers: [shared, one('b', 'second')] }))
      const kept = await make('kept', first)
      await runtime.unload(imageName(first))
      await runtime.unload(imageName(first))
      await expect(make('late', first)).rejects.toMatchObject({ code: 'image.not-loaded' })
      expect(Object.keys(treeOf(kept.rootfs))).toEqual(['a', 'base'])
      const { rootfs } = await make('second', second)
      expect(Object.keys(treeOf(rootfs))).toEqual(['b', 'base'])
    })

    it('does not load a single file that is no image', async () => {
      const content = writeBlob(join(context.base, 'disk'), 'disk image')
      await expect(load(content)).rejects.toMatchObject({ code: 'image.not-a-container' })
    })

    it('never overwrites a volume', async () => {
      const content = await load(image({ layers: [one('a', 'image')] }))
      const { rootfs } = await make('app', content)
      writeFileSync(join(rootfs, 'precious'), 'data')
      await expect(make('app', content)).rejects.toMatchObject({ code: 'volume.exists' })
      expect(Object.keys(treeOf(rootfs))).toEqual(['a', 'precious'])
    })

    it('leaves nothing of a layer that is not what its image says', async () => {
      const lies = { ...one('b', 'lie'), diffId: 'f'.repeat(64) }
      const content = await load(image({ layers: [one('a', 'true'), lies] }))
      await expect(make('app', content)).rejects.toMatchObject({ code: 'image.layer-mismatch' })
      expect(await left()).toEqual([])
    })

    it('leaves nothing of a volume that is no longer wanted', async () => {
      const content = await load(image({ layers: [one('a', 'image')] }))
      const aborted = AbortSignal.abort(new Error('no longer wanted'))
      await expect(make('app', content, aborted)).rejects.toThrow('no longer wanted')
      expect(await left()).toEqual([])
    })

    it('removes a volume with all that was written into it, and finds nothing wrong with one that is gone', async () => {
      const { rootfs } = await make('app', await load(image({ layers: [one('a', 'image')] })))
      writeFileSync(join(rootfs, 'more'), 'data')
      await runtime.removeRootfs(volume('app'))
      await runtime.removeRootfs(volume('app'))
      expect(existsSync(volume('app'))).toBe(false)
      expect(await left()).toEqual([])
    })

    it('attaches what is attached already without a change', async () => {
      const { rootfs } = await make('app', await load(image({ layers: [one('a', 'image')] })))
      writeFileSync(join(rootfs, 'more'), 'data')
      await runtime.attach(volume('app'))
      expect(Object.keys(treeOf(rootfs))).toEqual(['a', 'more'])
    })
  })
}

const one = (name: string, content: string) => ({ tar: [{ name, content }] })

const directory = (name: string) => ({ name, kind: 'directory', mode: 0o755 }) as const

const threeLayers: FakeImage['layers'] = [
  {
    compression: 'none',
    tar: [
      directory('./'),
      directory('bin/'),
      { name: 'bin/tool', content: '#!tool 1', mode: 0o755 },
      { name: 'bin/gone', content: 'gone' },
      directory('etc/'),
      { name: 'etc/hosts', content: 'hosts', mode: 0o640 },
      { name: 'etc/hosts.hard', kind: 'hardlink', link: 'etc/hosts', mode: 0o640 },
      { name: 'out', kind: 'symlink', link: '/etc/hosts' },
      directory('usr/'),
      directory('usr/lib/'),
      { name: 'lib', kind: 'symlink', link: 'usr/lib' },
      directory('data/'),
      { name: 'data/old', content: 'old' },
      directory('data/sub/'),
      { name: 'data/sub/older', content: 'older' },
      directory('whole/'),
      { name: 'whole/tree', content: 'tree' },
    ],
  },
  {
    compression: 'zstd',
    tar: [
      { name: 'bin/tool', content: '#!tool 2', mode: 0o4755 },
      { name: 'bin/.wh.gone' },
      directory('data/'),
      { name: 'data/fresh', content: 'fresh' },
      { name: 'data/.wh..wh..opq' },
      { name: '.wh.whole' },
    ],
  },
  { compression: 'gzip', tar: [{ name: 'usr/lib/more', content: 'more' }] },
]

function treeOf(root: string, below = ''): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = join(below, name)
    const stats = lstatSync(join(root, path))
    const mode = (stats.mode & 0o7777).toString(8)
    if (stats.isSymbolicLink()) tree[path] = `link ${readlinkSync(join(root, path))}`
    else if (stats.isFile()) tree[path] = `file ${mode} ${JSON.stringify(readFileSync(join(root, path), 'utf8'))}`
    else Object.assign(tree, { [path]: `directory ${mode}` }, treeOf(root, path))
  }
  return tree
}
