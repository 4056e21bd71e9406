import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { VolumeConfig } from '../../content/messages.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import { isTemporaryName } from '../names.ts'
import { blankKind } from './blank.ts'
import { aRequest, type FakeContext, kindContext } from './context.fake.ts'
import { temporaryDirectory } from './temporary-directory.fake.ts'

const mib = 2 ** 20

function setUp(config: Partial<VolumeConfig> = {}) {
  const place = temporaryDirectory()
  const target = join(place, config.kind === 'container' ? 'web+data#1' : 'web+data#1.raw')
  const blank = { origin: 'blank', maxSize: 64 * mib, ...config } as const
  const create = (context: FakeContext = kindContext(), signal = new AbortController().signal) =>
    blankKind.create(aRequest(target, { config: blank, signal }), context)
  const left = () => readdirSync(place)
  return { blank, target, create, left }
}

describe('a blank disk', () => {
  it('has its size and takes no room', async () => {
    const at = setUp()
    expect(await at.create()).toEqual({ path: at.target, usedSize: 0 })
    expect(statSync(at.target)).toMatchObject({ size: 64 * mib, mode: 0o100600 })
  })

  it('gets its file system before it has its name', async () => {
    const at = setUp({ fileSystem: 'ext4' })
    const asked: unknown[] = []
    const mkfs = async (path: string, type: string) => {
      asked.push([dirname(path), isTemporaryName(basename(path)), type, statSync(path).size])
      writeFileSync(path, 'a file system', { flag: 'r+' })
    }
    await at.create(kindContext({ mkfs }))
    expect(asked).toEqual([[dirname(at.target), true, 'ext4', 64 * mib]])
    expect(readFileSync(at.target).subarray(0, 13).toString()).toBe('a file system')
  })

  it('leaves nothing when its file system cannot be made, or when it is aborted', async () => {
    const at = setUp({ fileSystem: 'xfs' })
    const failure = new Error('too small for xfs')
    const mkfs = () => Promise.reject(failure)
    await expect(at.create(kindContext({ mkfs }))).rejects.toBe(failure)
    await expect(at.create(kindContext(), AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
    expect(at.left()).toEqual([])
  })

  it.each<[string, Partial<VolumeConfig>]>([
    ['volume.size-required', { maxSize: 0 }],
    ['volume.larger-than-disk', { maxSize: Number.MAX_SAFE_INTEGER }],
    ['volume.format-unsupported', { format: 'qcow2' }],
  ])('is refused with %s', async (code, config) => {
    const at = setUp(config)
    await expect(at.create()).rejects.toMatchObject({ code })
    expect(at.left()).toEqual([])
  })

  it('says how large it would be and how large the file system is', async () => {
    const at = setUp({ maxSize: Number.MAX_SAFE_INTEGER })
    await expect(at.create()).rejects.toThrow(/9007199254740991 bytes .* \d+ bytes/)
  })

  it('is grown in place, up to what the file system holds, and destroyed', async () => {
    const at = setUp()
    await at.create()
    const growTo = (maxSize: number) =>
      blankKind.grow(aRequest(at.target, { config: { ...at.blank, maxSize } }), kindContext())
    await growTo(128 * mib)
    expect(statSync(at.target).size).toBe(128 * mib)
    await expect(growTo(Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({ code: 'volume.larger-than-disk' })
    await blankKind.destroy(at.target, kindContext())
    expect(at.left()).toEqual([])
  })
})

describe('a blank directory', () => {
  it('is empty, and is not overwritten', async () => {
    const at = setUp({ kind: 'container', maxSize: 0 })
    expect(await at.create()).toEqual({ path: at.target, usedSize: 0 })
    expect(readdirSync(at.target)).toEqual([])
    await expect(at.create()).rejects.toMatchObject({ code: 'volume.exists' })
    expect(at.left()).toEqual([basename(at.target)])
  })

  it('leaves nothing when any change fails', async () => {
    const at = setUp({ kind: 'container' })
    for (const failAt of [1, 2]) {
      const files = faultyFiles(realFiles, { failAt, code: 'ENOSPC' })
      await expect(at.create(kindContext({ files }))).rejects.toMatchObject({ code: 'content.no-space' })
    }
    expect(at.left()).toEqual([])
  })

  it('takes all that was put into it away, and nothing that links in it point to', async () => {
    const at = setUp({ kind: 'container' })
    const elsewhere = temporaryDirectory()
    writeFileSync(join(elsewhere, 'kept'), '')
    await at.create()
    mkdirSync(join(at.target, 'a/b'), { recursive: true })
    writeFileSync(join(at.target, 'a/b/file'), 'data', { mode: 0o000 })
    symlinkSync(elsewhere, join(at.target, 'a/link'))
    chmodSync(join(at.target, 'a/b'), 0o500)
    chmodSync(join(at.target, 'a'), 0o000)
    await blankKind.destroy(at.target, kindContext())
    await blankKind.destroy(at.target, kindContext())
    expect(at.left()).toEqual([])
    expect(readdirSync(elsewhere)).toEqual(['kept'])
  })

  it('has lost its name before anything in it goes', async () => {
    const at = setUp({ kind: 'container' })
    await at.create()
    writeFileSync(join(at.target, 'file'), 'data')
    let seen: string[] = []
    const onSync = () => {
      seen = at.left()
    }
    await blankKind.destroy(at.target, kindContext({ onSync }))
    expect(seen.map(isTemporaryName)).toEqual([true])
  })

  it('has no size to grow', async () => {
    const at = setUp({ kind: 'container' })
    await at.create()
    const request = aRequest(at.target, { config: at.blank })
    expect(await blankKind.grow(request, kindContext())).toEqual({ path: at.target, usedSize: 0 })
  })
})
