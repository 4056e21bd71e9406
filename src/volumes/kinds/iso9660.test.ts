import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readIso } from './iso9660.fake.ts'
import { isoImage } from './iso9660.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 50),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}
const files = [
  { name: 'meta-data', shortName: 'METADATA', content: Buffer.from('instance-id: one\n') },
  { name: 'user-data', shortName: 'USERDATA', content: Buffer.from('#cloud-config\n') },
]

describe('an ISO 9660 image', () => {
  it('has its label and its files in the three ways in which readers look', () => {
    const seen = readIso(isoImage({ label: 'cidata', files }))
    const [meta, user] = ['instance-id: one\n', '#cloud-config\n']
    expect(seen).toEqual({
      label: 'cidata',
      jolietLabel: 'cidata',
      sectors: 28,
      plain: { 'METADATA.;1': { content: meta }, 'USERDATA.;1': { content: user } },
      rockRidge: {
        'meta-data': { content: meta, mode: 0o100400 },
        'user-data': { content: user, mode: 0o100400 },
      },
      joliet: { 'meta-data;1': { content: meta }, 'user-data;1': { content: user } },
    })
  })

  it('is the same for the same files, byte for byte and on every machine', () => {
    const digest = createHash('sha256')
      .update(isoImage({ label: 'cidata', files }))
      .digest('hex')
    expect(digest).toBe('44316ce5f5ac4bf984b36aa1a3d8048b9e7d8a59be0d69dada1d73109a5e830f')
  })

  it('gives every content back, also an empty one and those that end with a sector', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 100 }),
      fc.constantFrom(0, 1, 2047, 2048, 2049, 4096).map(length => 'x'.repeat(length)),
    )
    fc.assert(
      fc.property(text, text, (first, second) => {
        const contents = [first, second]
        const image = isoImage({
          label: 'cidata',
          files: files.map((file, nth) => ({ ...file, content: Buffer.from(contents[nth]!) })),
        })
        const { rockRidge, sectors } = readIso(image)
        expect(Object.values(rockRidge).map(({ content }) => content)).toEqual(contents)
        expect(sectors * 2048).toBe(image.length)
      }),
      parameters,
    )
  })
})
