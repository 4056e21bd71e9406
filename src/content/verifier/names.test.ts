import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mediaTypeSchema, type Sha256 } from '../messages.ts'
import {
  copyNameOf,
  isCopyName,
  nameFits,
  parseVerifiedName,
  quarantinedAt,
  quarantineNameOf,
  verifiedNameOf,
} from './names.ts'

const parameters = {
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
  ...(process.env.CAIRN_RUNS && { numRuns: Number(process.env.CAIRN_RUNS) }),
}
const sha256 = 'a3'.repeat(32) as Sha256

// Files with these names are on disks: lines are only ever added.
const golden: readonly (readonly [string, string])[] = [
  ['application/octet-stream', 'application%2Foctet-stream'],
  ['application/vnd.oci.image.index.v1+json', 'application%2Fvnd.oci.image.index.v1+json'],
  ['application/vnd.oci.image.manifest.v1+json', 'application%2Fvnd.oci.image.manifest.v1+json'],
  ['application/vnd.oci.image.config.v1+json', 'application%2Fvnd.oci.image.config.v1+json'],
  ['application/vnd.oci.image.layer.v1.tar+gzip', 'application%2Fvnd.oci.image.layer.v1.tar+gzip'],
  ['application/vnd.oci.image.layer.v1.tar+zstd', 'application%2Fvnd.oci.image.layer.v1.tar+zstd'],
  [
    'application/vnd.docker.distribution.manifest.list.v2+json',
    'application%2Fvnd.docker.distribution.manifest.list.v2+json',
  ],
  ['application/vnd.docker.image.rootfs.diff.tar.gzip', 'application%2Fvnd.docker.image.rootfs.diff.tar.gzip'],
  ['application/vnd.dev.cosign.simplesigning.v1+json', 'application%2Fvnd.dev.cosign.simplesigning.v1+json'],
  ['x/a_b!c#d$e&f^g', 'x%2Fa%5Fb%21c%23d%24e%26f%5Eg'],
]

describe('names in verified/', () => {
  it.each(golden)('spells %s as it always did', (mediaType, escaped) => {
    expect(verifiedNameOf({ sha256, mediaType })).toBe(`${sha256}.${escaped}`)
    expect(parseVerifiedName(`${sha256}.${escaped}`)).toEqual({ sha256, mediaType })
  })

  it('gives back what a name was made of', () => {
    const part = fc.stringMatching(/^[a-z0-9][a-z0-9!#$&^_.+-]{0,80}$/)
    const blob = fc.record({
      sha256: fc.stringMatching(/^[0-9a-f]{64}$/).map(text => text as Sha256),
      mediaType: fc.tuple(part, part).map(parts => parts.join('/')),
    })
    fc.assert(
      fc.property(blob, one => {
        expect(mediaTypeSchema.safeParse(one.mediaType).success).toBe(true)
        expect(parseVerifiedName(verifiedNameOf(one))).toEqual(one)
        expect(isCopyName(copyNameOf(one, Math.random))).toBe(true)
        expect(parseVerifiedName(copyNameOf(one, Math.random))).toBe(null)
      }),
      parameters,
    )
  })

  it('reads a name only when it is the one spelling of what it says', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-f]{64}\.[a-z%2F.+-]{0,30}$/), name => {
        const blob = parseVerifiedName(name)
        expect(blob === null || verifiedNameOf(blob) === name).toBe(true)
      }),
      parameters,
    )
  })

  it.each([
    'lost+found',
    sha256,
    `${sha256}.`,
    `${sha256}.tar`,
    `${sha256}.application%2foctet-stream`,
    `${sha256}.%61pplication%2Foctet-stream`,
    `${sha256.toUpperCase()}.application%2Foctet-stream`,
    `${sha256}-application%2Foctet-stream`,
    `${sha256}.application%2Foctet%2Fstream`,
    `${sha256.slice(1)}.application%2Foctet-stream`,
    `../${sha256}.application%2Foctet-stream`,
  ])('leaves %s alone', name => {
    expect(parseVerifiedName(name)).toBe(null)
    expect(isCopyName(name)).toBe(false)
  })

  it('knows which media types give a name that a file system takes', () => {
    const longest = 255 - 12 - 1 - 64 - 1 - 'x%2F'.length
    const fitting = `x/${'a'.repeat(longest)}`
    expect(copyNameOf({ sha256, mediaType: fitting }, Math.random)).toHaveLength(255)
    expect(nameFits(fitting)).toBe(true)
    expect(nameFits(`${fitting}a`)).toBe(false)
  })
})

describe('other names of the verifier', () => {
  it('keeps the time of a bad copy in its name', () => {
    const name = quarantineNameOf(sha256, new Date('2026-02-03T04:05:06.789Z'))
    expect(name).toBe(`${sha256}.20260203T040506789Z.bad`)
    expect(quarantinedAt(name)).toBe('20260203T040506789Z')
    expect(quarantinedAt('notes.bad')).toBe(null)
  })
})
