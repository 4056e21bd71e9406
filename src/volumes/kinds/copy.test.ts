import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { kindContext, sparseFile } from './context.fake.ts'
import { copyImage, copyWithHoles } from './copy.ts'
import { putInPlace } from './put-in-place.ts'
import { temporaryDirectory } from './temporary-directory.fake.ts'

const { signal } = new AbortController()
const kib = 1024
const mib = 1024 * kib
const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 20),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

describe('copyWithHoles', () => {
  it('gives equal bytes and takes no more room than there is data', async () => {
    const place = temporaryDirectory()
    const [from, to] = [join(place, 'from'), join(place, 'to')]
    sparseFile(from, 100 * mib + 5, {
      0: randomBytes(64 * kib),
      [40 * mib]: randomBytes(130 * kib),
      [100 * mib]: randomBytes(3),
    })
    await copyWithHoles({ from, to, signal })
    expect(readFileSync(to).equals(readFileSync(from))).toBe(true)
    expect(lstatSync(to).blocks * 512).toBeLessThanOrEqual(mib)
    expect(lstatSync(to).mode & 0o777).toBe(0o600)
  })

  it('gives equal bytes for any mix of data and zeros', async () => {
    const piece = fc.tuple(fc.constantFrom(1, 511, 4096, 64 * kib, 64 * kib + 1, mib - 1, mib), fc.boolean())
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async pieces => {
        const place = temporaryDirectory()
        const [from, to] = [join(place, 'from'), join(place, 'to')]
        const bytes = Buffer.concat(pieces.map(([length, isData]) => Buffer.alloc(length, isData ? 0xa5 : 0)))
        writeFileSync(from, bytes)
        await copyWithHoles({ from, to, signal })
        expect(readFileSync(to).equals(bytes)).toBe(true)
      }),
      parameters,
    )
  })

  it('leaves nothing when it is aborted in the middle', async () => {
    const place = temporaryDirectory()
    const from = join(place, 'from')
    sparseFile(from, 8 * 1024 * mib, { 0: randomBytes(mib) })
    const abort = new AbortController()
    let temporary = ''
    const copying = putInPlace({ target: join(place, 'web+data#1.raw'), signal: abort.signal }, kindContext(), to => {
      temporary = to
      return copyWithHoles({ from, to, signal: abort.signal })
    })
    while (!existsSync(temporary) || lstatSync(temporary).size === 0) await setImmediate()
    abort.abort()
    await expect(copying).rejects.toMatchObject({ name: 'AbortError' })
    expect(readdirSync(place)).toEqual(['from'])
  })

  it('follows no link and overwrites nothing', async () => {
    const place = temporaryDirectory()
    const at = (name: string) => join(place, name)
    writeFileSync(at('from'), 'data')
    writeFileSync(at('there'), 'old')
    symlinkSync('from', at('link'))
    await expect(copyWithHoles({ from: at('link'), to: at('to'), signal })).rejects.toMatchObject({ code: 'ELOOP' })
    await expect(copyWithHoles({ from: at('from'), to: at('there'), signal })).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readFileSync(at('there'), 'utf8')).toBe('old')
  })
})

describe('copyImage', () => {
  it('gives a file that can be written from one that cannot, whether its blocks are shared or not', async () => {
    const place = temporaryDirectory()
    const [from, to] = [join(place, 'from'), join(place, 'to')]
    writeFileSync(from, randomBytes(3 * mib), { mode: 0o400 })
    expect(['shared', 'copied']).toContain(await copyImage(realFiles, { from, to, signal }))
    expect(readFileSync(to).equals(readFileSync(from))).toBe(true)
    expect(lstatSync(to).mode & 0o777).toBe(0o600)
  })
})
