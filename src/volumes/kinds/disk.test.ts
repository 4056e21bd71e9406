import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ContentStatus, VolumeConfig } from '../../content/messages.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import { aRequest, kindContext, sparseFile, verifiedFile } from './context.fake.ts'
import { diskKind } from './disk.ts'
import { checkQcow2, qcow2Image } from './qcow2.fake.ts'
import { temporaryDirectory } from './temporary-directory.fake.ts'

const kib = 1024
const mib = 1024 * kib
const name = 'web+data#1.raw'

/** A verified image in `verified/` and a place for its volume in `volumes/`. */
function setUp(image: Buffer = randomBytes(256 * kib)) {
  const place = temporaryDirectory()
  const [verified, volumes] = [join(place, 'verified'), join(place, 'volumes')]
  for (const directory of [verified, volumes]) mkdirSync(directory)
  const path = join(verified, 'image')
  writeFileSync(path, image, { mode: 0o400 })
  const target = join(volumes, name)
  const create = (config: Partial<VolumeConfig> = {}, context = kindContext()) =>
    diskKind.create(aRequest(target, { config, content: verifiedFile(path) }), context)
  return { image, path, target, volumes, create }
}

describe('a read/write disk', () => {
  it('is a copy of its own of the verified image, synced before it has its name', async () => {
    const at = setUp()
    const context = kindContext()
    const created = await at.create({}, context)
    expect(created).toEqual({ path: at.target, usedSize: statSync(at.target).blocks * 512 })
    expect(created.usedSize).toBeGreaterThan(0)
    expect(readFileSync(at.target).equals(at.image)).toBe(true)
    expect(lstatSync(at.target)).toMatchObject({ mode: 0o100600, nlink: 1 })
    expect(lstatSync(at.path)).toMatchObject({ mode: 0o100400, nlink: 1 })
    expect(context.synced).toEqual([expect.stringMatching(/^\.web\+data#1\.raw\.tmp-/), ''])
    expect(readdirSync(at.volumes)).toEqual([name])
  })

  it('is grown to its size, and what was added takes no room', async () => {
    const at = setUp()
    const created = await at.create({ maxSize: 64 * mib })
    expect(statSync(at.target).size).toBe(64 * mib)
    expect(created.usedSize).toBeLessThan(mib)
    expect(readFileSync(at.target).subarray(0, at.image.length).equals(at.image)).toBe(true)
  })

  it('keeps the holes of its image', async () => {
    const at = setUp()
    const sparse = join(at.volumes, 'image')
    sparseFile(sparse, 64 * mib, { [32 * mib]: randomBytes(64 * kib) })
    const request = aRequest(at.target, { content: verifiedFile(sparse) })
    expect((await diskKind.create(request, kindContext())).usedSize).toBeLessThan(mib)
    expect(readFileSync(at.target).equals(readFileSync(sparse))).toBe(true)
  })

  it('in qcow2 is grown in its header', async () => {
    const at = setUp(qcow2Image())
    await at.create({ format: 'qcow2', maxSize: 4 * mib })
    expect(checkQcow2(readFileSync(at.target))).toMatchObject({ virtualSize: 4 * mib, errors: [], leaks: [] })
    expect(readFileSync(at.path).equals(at.image)).toBe(true)
  })

  it.each(['vmdk', 'vhdx', 'iso'] as const)('in %s is copied as it is', async format => {
    const at = setUp()
    await at.create({ format })
    await diskKind.destroy(at.target, kindContext())
    await at.create({ format, maxSize: at.image.length })
    expect(readFileSync(at.target).equals(at.image)).toBe(true)
  })

  it('is made from the one layer of an artifact', async () => {
    const at = setUp()
    const content = verifiedFile(at.path)
    const [blob] = content.blobs
    const manifest = { ...blob!, role: 'manifest' as const, path: '/nowhere/manifest' }
    const config = { ...blob!, role: 'config' as const, path: '/nowhere/config' }
    const blobs = [manifest, config, { ...blob!, role: 'layer' as const }]
    await diskKind.create(aRequest(at.target, { content: { ...content, blobs } }), kindContext())
    expect(readFileSync(at.target).equals(at.image)).toBe(true)
  })

  it('never takes the place of another volume', async () => {
    const at = setUp()
    writeFileSync(at.target, 'of somebody')
    await expect(at.create()).rejects.toMatchObject({ code: 'volume.exists' })
    expect(readFileSync(at.target, 'utf8')).toBe('of somebody')
    expect(readdirSync(at.volumes)).toEqual([name])
  })

  it('leaves nothing when it is aborted, or when any change to the disk fails', async () => {
    const at = setUp()
    const request = aRequest(at.target, { content: verifiedFile(at.path), signal: AbortSignal.abort() })
    await expect(diskKind.create(request, kindContext())).rejects.toMatchObject({ name: 'AbortError' })
    const counting = faultyFiles(realFiles)
    await at.create({}, kindContext({ files: counting }))
    await diskKind.destroy(at.target, kindContext())
    expect(counting.calls).toBeGreaterThan(0)
    for (let failAt = 1; failAt <= counting.calls; failAt++) {
      const files = faultyFiles(realFiles, { failAt, code: 'ENOSPC' })
      await expect(at.create({}, kindContext({ files }))).rejects.toMatchObject({ code: 'content.no-space' })
    }
    expect(readdirSync(at.volumes)).toEqual([])
  })
})

describe('a read-only disk', () => {
  it('is the verified file itself: nothing is made', async () => {
    const at = setUp()
    const context = kindContext({ files: faultyFiles(realFiles, { crashAt: 1 }) })
    const usedSize = statSync(at.path).blocks * 512
    expect(await at.create({ readOnly: true, maxSize: 4 * mib }, context)).toEqual({ path: at.path, usedSize })
    expect(readdirSync(at.volumes)).toEqual([])
    await diskKind.destroy(at.target, kindContext())
    expect(readFileSync(at.path).equals(at.image)).toBe(true)
  })

  it('is judged like any other', async () => {
    const at = setUp(qcow2Image())
    await expect(at.create({ readOnly: true })).rejects.toMatchObject({ code: 'volume.format-mismatch' })
    await expect(at.create({ readOnly: true, format: 'qcow2', maxSize: kib })).rejects.toMatchObject({
      code: 'volume.max-size-too-small',
    })
  })
})

describe('an image that does not fit', () => {
  const magics = { qcow2: 'QFI\xfb', vmdk: 'KDMV', vhdx: 'vhdxfile' }

  it.each(Object.entries(magics))('is refused when it is %s and declared raw', async (_, magic) => {
    const at = setUp(Buffer.concat([Buffer.from(magic, 'latin1'), randomBytes(kib)]))
    await expect(at.create()).rejects.toMatchObject({ code: 'volume.format-mismatch' })
    expect(readdirSync(at.volumes)).toEqual([])
  })

  it('is refused when it is declared qcow2 and is not', async () => {
    const at = setUp()
    await expect(at.create({ format: 'qcow2' })).rejects.toMatchObject({ code: 'volume.format-mismatch' })
  })

  it('is refused when the volume would be too small, with both numbers', async () => {
    const at = setUp(randomBytes(1000))
    await expect(at.create({ maxSize: 999 })).rejects.toMatchObject({
      code: 'volume.max-size-too-small',
      message: expect.stringMatching(/\b999\b.*\b1000\b/),
    })
  })

  it.each(['vmdk', 'vhdx', 'iso'] as const)('is refused when it is %s and would have to grow', async format => {
    const at = setUp()
    await expect(at.create({ format, maxSize: mib })).rejects.toMatchObject({ code: 'volume.cannot-grow' })
  })

  it('is refused when it is not one verified file', async () => {
    const at = setUp()
    const content = verifiedFile(at.path)
    const [blob] = content.blobs
    const { path: _, ...unverified } = blob!
    const trees: (ContentStatus | undefined)[] = [
      undefined,
      { ...content, blobs: [] },
      {
        ...content,
        blobs: [
          { ...blob!, role: 'layer' },
          { ...blob!, role: 'layer' },
        ],
      },
      { ...content, blobs: [unverified] },
    ]
    for (const tree of trees)
      await expect(
        diskKind.create(aRequest(at.target, tree ? { content: tree } : {}), kindContext()),
      ).rejects.toMatchObject({ code: 'volume.no-disk-image' })
  })

  it('is refused when it is gone, a link or a directory', async () => {
    const at = setUp()
    const [link, gone] = [join(at.volumes, 'link'), join(at.volumes, 'gone')]
    symlinkSync(at.path, link)
    for (const path of [link, gone, at.volumes])
      await expect(
        diskKind.create(aRequest(at.target, { content: verifiedFile(path) }), kindContext()),
      ).rejects.toMatchObject({ code: 'volume.image-unreadable' })
  })
})

describe('growing a disk', () => {
  it.each(['raw', 'qcow2'] as const)('in %s keeps its file and its data', async format => {
    const at = setUp(format === 'raw' ? randomBytes(64 * kib) : qcow2Image())
    await at.create({ format })
    const { ino } = statSync(at.target)
    const context = kindContext()
    const grown = await diskKind.grow(aRequest(at.target, { config: { format, maxSize: 32 * mib } }), context)
    expect(grown).toEqual({ path: at.target, usedSize: statSync(at.target).blocks * 512 })
    expect(grown.usedSize).toBeLessThan(mib)
    expect(context.synced).toContain(name)
    expect(statSync(at.target).ino).toBe(ino)
    const bytes = readFileSync(at.target)
    if (format === 'qcow2') expect(checkQcow2(bytes)).toMatchObject({ virtualSize: 32 * mib, errors: [], leaks: [] })
    else expect(bytes.length === 32 * mib && bytes.subarray(0, 64 * kib).equals(at.image)).toBe(true)
  })

  it('leaves a raw disk raw, whatever a guest wrote at its start', async () => {
    const at = setUp()
    writeFileSync(at.target, qcow2Image())
    await diskKind.grow(aRequest(at.target, { config: { maxSize: mib } }), kindContext())
    expect(statSync(at.target).size).toBe(mib)
  })

  it('does nothing at the size that it has, nor without one', async () => {
    const at = setUp()
    await at.create()
    const context = kindContext()
    for (const maxSize of [at.image.length, 0])
      await diskKind.grow(aRequest(at.target, { config: { maxSize } }), context)
    expect(context.synced).toEqual([])
    expect(readFileSync(at.target).equals(at.image)).toBe(true)
  })

  it('that is read-only leaves the verified file as it is', async () => {
    const at = setUp()
    const config = { readOnly: true, maxSize: mib }
    const grown = await diskKind.grow(aRequest(at.target, { config, content: verifiedFile(at.path) }), kindContext())
    expect(grown.path).toBe(at.path)
    expect(readFileSync(at.path).equals(at.image)).toBe(true)
  })

  it.each([
    ['raw', kib, 'volume.max-size-too-small'],
    ['vmdk', mib, 'volume.cannot-grow'],
    ['raw', Number.MAX_SAFE_INTEGER, 'volume.larger-than-disk'],
  ] as const)('of %s to %s bytes is refused with %s', async (format, maxSize, code) => {
    const at = setUp()
    await at.create({ format })
    const growing = diskKind.grow(aRequest(at.target, { config: { format, maxSize } }), kindContext())
    await expect(growing).rejects.toMatchObject({ code })
    expect(readFileSync(at.target).equals(at.image)).toBe(true)
  })

  it('says so when the volume is gone', async () => {
    const at = setUp()
    const growing = diskKind.grow(aRequest(at.target, { config: { maxSize: mib } }), kindContext())
    await expect(growing).rejects.toMatchObject({ code: 'volume.write-failed' })
  })
})

describe('destroying a disk', () => {
  it('removes the file for good, also a read-only one; gone already is fine', async () => {
    const at = setUp()
    await at.create()
    chmodSync(at.target, 0o400)
    const context = kindContext()
    await diskKind.destroy(at.target, context)
    await diskKind.destroy(at.target, context)
    expect(readdirSync(at.volumes)).toEqual([])
    expect(context.synced).toEqual(['', ''])
  })

  it('says why it could not', async () => {
    const at = setUp()
    await at.create()
    const files = faultyFiles(realFiles, { failAt: 1, code: 'EROFS' })
    await expect(diskKind.destroy(at.target, kindContext({ files }))).rejects.toMatchObject({
      code: 'volume.write-failed',
    })
    expect(readdirSync(at.volumes)).toEqual([name])
  })
})
