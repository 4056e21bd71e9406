import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sha256Hex } from '../../lib/json.ts'
import type { Sha256 } from '../messages.ts'
import { parseManifest } from '../oci/manifest.ts'
import { judgeSignature } from './judge.ts'
import type { Material } from './material.ts'
import { aMaterial, aQuestion, aTrust, bundleType } from './signatures.fake.ts'

// Made by the real cosign 2.6 and 3.1; testdata/README.md says how.
const read = (name: string): Buffer => readFileSync(new URL(`testdata/${name}`, import.meta.url))
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const payloadType = 'application/vnd.dev.cosign.simplesigning.v1+json'

const root = sha256Hex(read('root.json')) as Sha256
const tag = [aMaterial(manifestType, read('tag-manifest.json')), aMaterial(payloadType, read('tag-payload.json'))]
const certified = [
  aMaterial(manifestType, read('certified-manifest.json')),
  aMaterial(payloadType, read('certified-payload.json')),
]
const bundled = [
  aMaterial('application/vnd.oci.image.index.v1+json', read('referrers.json')),
  aMaterial(manifestType, read('bundle-manifest.json')),
  aMaterial(bundleType, read('bundle.json')),
]

const judge = (material: readonly Material[], { of = root, keys = [read('cosign.pub').toString()] } = {}) =>
  judgeSignature(aQuestion({ root: of, material, trust: aTrust({ keys }), roots: [read('root.crt').toString()] }))

it.each([
  ['a signature of cosign 2', tag],
  ['a bundle of cosign 3', bundled],
])('accepts %s by its key, and only for its image', (_, material) => {
  expect(judge(material)).toMatchObject({ verdict: 'good' })
  expect(judge(material, { keys: [] })).toMatchObject({ verdict: 'refused', code: 'signature.invalid' })
  const other = '0'.repeat(64) as Sha256
  expect(judge(material, { of: other })).toMatchObject({ verdict: 'refused', code: 'signature.invalid' })
})

it('accepts a signature of cosign 2 by its certificate, up to the root', () => {
  expect(judge(certified, { keys: [] })).toEqual({ verdict: 'good', signedBy: 'CN=leaf' })
  expect(judgeSignature(aQuestion({ root, material: certified }))).toMatchObject({ code: 'signature.invalid' })
})

it('finds the bundle from the index that refers to the image', () => {
  const index = parseManifest(read('referrers.json'), undefined)
  expect(index.ok && index.kind === 'index' && index.manifests.map(({ sha256 }) => sha256)).toEqual([
    bundled[1]!.sha256,
  ])
  const manifest = parseManifest(read('bundle-manifest.json'), manifestType)
  expect(manifest).toMatchObject({ subject: { sha256: root }, layers: [{ sha256: bundled[2]!.sha256 }] })
})
