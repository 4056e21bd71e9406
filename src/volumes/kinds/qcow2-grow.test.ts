import { randomBytes } from 'node:crypto'
import { constants, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withFile } from './handle.ts'
import { checkQcow2, type ImageOptions, qcow2Image } from './qcow2.fake.ts'
import { growQcow2 } from './qcow2-grow.ts'
import { temporaryDirectory } from './temporary-directory.fake.ts'

const kib = 1024
const mib = 1024 * kib
const gib = 1024 * mib
const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 25),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

/** Grows the image step by step; what it was at each sync, and at the end. */
async function grown(image: Buffer, ...sizes: number[]): Promise<{ result: Buffer; atSyncs: Buffer[] }> {
  const place = temporaryDirectory()
  const path = join(place, 'image')
  writeFileSync(path, image)
  const atSyncs: Buffer[] = []
  await withFile(path, constants.O_RDWR, async file => {
    for (const size of sizes) await growQcow2(file, size, async () => void atSyncs.push(readFileSync(path)))
  })
  return { result: readFileSync(path), atSyncs }
}

describe('growing a qcow2 image', () => {
  it.each<[string, ImageOptions, number]>([
    ['with room in its L1 table', { virtualSize: 33 * kib }, 64 * kib],
    ['with room in the clusters of its L1 table', {}, 2 * mib],
    ['whose L1 table must move', {}, 4 * mib],
    ['of version 2', { version: 2 }, 4 * mib],
    ['that needs more refcount blocks', {}, 512 * mib],
    ['that needs a larger refcount table', { refcountOrder: 6 }, 9 * gib],
    ['with counts of one bit', { refcountOrder: 0 }, 512 * mib],
    ['with counts of four bits', { refcountOrder: 2 }, 512 * mib],
    ['with counts of 64 bits', { refcountOrder: 6 }, 512 * mib],
    ['with clusters of 64 KiB', { clusterBits: 16, virtualSize: gib }, 8 * 1024 * gib],
    ['without an L1 table', { virtualSize: 0 }, mib],
  ])('%s gives its new size, the same data, and nothing lost or counted wrongly', async (_, options, size) => {
    const data = randomBytes(2 ** (options.clusterBits ?? 9))
    const image = options.virtualSize === 0 ? emptyImage() : qcow2Image({ ...options, data })
    const { result } = await grown(image, size)
    expect(checkQcow2(result)).toEqual({
      virtualSize: size,
      data: options.virtualSize === 0 ? expect.anything() : data,
      errors: [],
      leaks: [],
    })
  })

  it('leaves a whole image of the old or the new size at every sync', async () => {
    const data = randomBytes(512)
    const { atSyncs } = await grown(qcow2Image({ data, refcountOrder: 6 }), 9 * gib)
    const seen = atSyncs.map(image => checkQcow2(image))
    expect(seen.length).toBeGreaterThanOrEqual(4)
    for (const found of seen) {
      expect(found).toMatchObject({ data, errors: [] })
      expect([64 * kib, 9 * gib]).toContain(found.virtualSize)
    }
    expect(seen.at(-1)).toMatchObject({ virtualSize: 9 * gib, leaks: [] })
  })

  it('keeps an image whole over any series of sizes', async () => {
    const size = fc.integer({ min: 1, max: 200 * 1024 }).map(sectors => sectors * 512)
    await fc.assert(
      fc.asyncProperty(
        fc.array(size, { minLength: 1, maxLength: 4 }).map(sizes => sizes.toSorted((a, b) => a - b)),
        fc.constantFrom(9, 10, 12),
        fc.integer({ min: 0, max: 6 }),
        async (sizes, clusterBits, refcountOrder) => {
          const virtualSize = 512
          const { result } = await grown(qcow2Image({ clusterBits, refcountOrder, virtualSize }), ...sizes)
          expect(checkQcow2(result)).toMatchObject({ virtualSize: sizes.at(-1), errors: [], leaks: [] })
        },
      ),
      parameters,
    )
  })

  it('takes no cluster that is counted behind the end of the file', async () => {
    const image = qcow2Image()
    const behind = image.length / 512 + 3
    image[2 * 512 + behind * 2 + 1] = 1
    const { result } = await grown(image, 4 * mib)
    expect(checkQcow2(result)).toMatchObject({ errors: [], leaks: [behind] })
  })

  it('says that bitmaps are no longer up to date', async () => {
    const image = qcow2Image()
    image.writeBigUInt64BE(1n, 88)
    const { result } = await grown(image, 128 * kib)
    expect(result.readBigUInt64BE(88)).toBe(0n)
  })

  it('does nothing for the size that it has, and rounds down to whole sectors', async () => {
    const image = qcow2Image()
    expect((await grown(image, 64 * kib)).result.equals(image)).toBe(true)
    expect((await grown(image, 64 * kib + 511)).result.equals(image)).toBe(true)
    expect(checkQcow2((await grown(image, 65 * kib + 300)).result).virtualSize).toBe(65 * kib)
  })

  it.each<[string, number, (image: Buffer) => unknown]>([
    ['volume.max-size-too-small', 64 * kib - 1, () => {}],
    ['volume.max-size-too-large', 2 ** 45, () => {}],
    ['volume.image-has-snapshots', mib, image => image.writeUInt32BE(2, 60)],
    ['volume.image-dirty', mib, image => image.writeBigUInt64BE(1n, 72)],
    ['volume.image-invalid', 4 * mib, image => image.writeBigUInt64BE(1n << 40n, 512)],
    ['volume.image-invalid', 4 * mib, image => image.writeBigUInt64BE(513n, 512)],
  ])('is refused with %s, and the image stays as it was', async (code, size, change) => {
    const place = temporaryDirectory()
    const image = qcow2Image()
    change(image)
    const path = join(place, 'image')
    writeFileSync(path, image)
    const growing = withFile(path, constants.O_RDWR, file => growQcow2(file, size, async () => {}))
    await expect(growing).rejects.toMatchObject({ code })
    expect(readFileSync(path).equals(image)).toBe(true)
  })
})

/** Header, refcount table and refcount block: a disk of no bytes needs no more. */
function emptyImage(): Buffer {
  const image = qcow2Image().subarray(0, 3 * 512)
  image.writeBigUInt64BE(0n, 24)
  image.writeUInt32BE(0, 36)
  image.writeBigUInt64BE(0n, 40)
  image.fill(0, 2 * 512 + 3 * 2)
  return image
}
