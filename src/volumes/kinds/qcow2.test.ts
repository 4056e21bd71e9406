import { describe, expect, it } from 'vitest'
import { qcow2Image } from './qcow2.fake.ts'
import { parseQcow2 } from './qcow2.ts'

/** A good image with something else at one place. */
function bent(change: (image: Buffer) => unknown, options: Parameters<typeof qcow2Image>[0] = {}): () => unknown {
  const image = qcow2Image(options)
  change(image)
  return () => parseQcow2(image.subarray(0, 104), image.length)
}

describe('the header of a qcow2 image', () => {
  it.each([2, 3] as const)('of version %s says how large the disk is and where its tables lie', version => {
    const image = qcow2Image({ version, virtualSize: 96 * 1024 })
    expect(parseQcow2(image.subarray(0, 104), image.length)).toEqual({
      version,
      clusterSize: 512,
      virtualSize: 96 * 1024,
      l1: { offset: 1536, entries: 3 },
      refcounts: { offset: 512, entries: 64 },
      refcountBits: 16,
      perL1Entry: 32 * 1024,
      snapshots: 0,
    })
  })

  it('with extended L2 entries has half of the disk behind one entry', () => {
    const parse = bent(image => image.writeBigUInt64BE(16n, 72), { clusterBits: 14, virtualSize: 2 ** 20 })
    expect(parse()).toMatchObject({ perL1Entry: 2 ** 24 })
  })

  it.each<[string, string, (image: Buffer) => unknown]>([
    ['a backing file', 'volume.image-has-backing-file', image => image.writeBigUInt64BE(512n, 8)],
    ['the length of a backing file', 'volume.image-has-backing-file', image => image.writeUInt32BE(11, 16)],
    ['encryption', 'volume.image-encrypted', image => image.writeUInt32BE(2, 32)],
    ['the dirty bit', 'volume.image-dirty', image => image.writeBigUInt64BE(1n, 72)],
    ['the corrupt bit', 'volume.image-corrupt', image => image.writeBigUInt64BE(2n, 72)],
    ['external data', 'volume.image-has-external-data', image => image.writeBigUInt64BE(4n, 72)],
    ['a feature that nobody knows', 'volume.image-unsupported', image => image.writeBigUInt64BE(1n << 40n, 72)],
    ['version 1', 'volume.image-unsupported', image => image.writeUInt32BE(1, 4)],
    ['another magic', 'volume.image-invalid', image => image.fill(0, 0, 4)],
    ['clusters of 256 bytes', 'volume.image-invalid', image => image.writeUInt32BE(8, 20)],
    ['clusters of 4 MiB', 'volume.image-invalid', image => image.writeUInt32BE(22, 20)],
    ['counts of 128 bits', 'volume.image-invalid', image => image.writeUInt32BE(7, 96)],
    ['a size of more than 2^53', 'volume.image-invalid', image => image.writeBigUInt64BE(1n << 60n, 24)],
    ['a huge L1 table', 'volume.image-invalid', image => image.writeUInt32BE(2 ** 31, 36)],
    ['an L1 table that is too small', 'volume.image-invalid', image => image.writeUInt32BE(1, 36)],
    ['an L1 table behind the file', 'volume.image-invalid', image => image.writeBigUInt64BE(1n << 30n, 40)],
    ['an L1 table in the header', 'volume.image-invalid', image => image.writeBigUInt64BE(0n, 40)],
    ['an L1 table between clusters', 'volume.image-invalid', image => image.writeBigUInt64BE(1540n, 40)],
    ['no refcount table', 'volume.image-invalid', image => image.writeUInt32BE(0, 56)],
    ['a refcount table behind the file', 'volume.image-invalid', image => image.writeUInt32BE(4000, 56)],
  ])('is refused with %s', (_, code, change) => {
    expect(bent(change)).toThrow(expect.objectContaining({ code }))
  })

  it('is refused when it is cut', () => {
    const image = qcow2Image()
    for (const length of [0, 3, 71, 72, 103])
      expect(() => parseQcow2(image.subarray(0, length), length)).toThrow(
        expect.objectContaining({ code: 'volume.image-invalid' }),
      )
  })
})
