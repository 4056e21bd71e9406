import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../lib/json.ts'
import type { Sha256 } from '../../messages.ts'
import { never, testOrigins, verdictOf } from './origins.fake.ts'

const origins = testOrigins()
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-layout-'))
  mkdirSync(join(directory, 'blobs/sha256'), { recursive: true })
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const source = () => ({ kind: 'oci-layout', path: directory }) as const
const addBlob = (text: string): Sha256 => {
  const sha256 = sha256Hex(text) as Sha256
  writeFileSync(join(directory, 'blobs/sha256', sha256), text)
  return sha256
}
const entry = (sha256: string, tag?: string) => ({
  mediaType: manifestType,
  digest: `sha256:${sha256}`,
  size: 7,
  ...(tag !== undefined && { annotations: { 'org.opencontainers.image.ref.name': tag } }),
})
const found = (sha256: string) => ({ sha256, mediaType: manifestType, size: 7 })
const writeIndex = (...manifests: object[]) =>
  writeFileSync(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }))
const resolve = (tag: string) => origins.resolve(source(), { kind: 'tag', tag }, never)

describe('a layout', () => {
  it('gives manifests and blobs by their digest', async () => {
    const sha256 = addBlob('content')
    for (const as of ['manifest', 'blob'] as const)
      expect((await origins.read({ source: source(), sha256, as })).bytes.toString()).toBe('content')
    expect((await origins.read({ source: source(), sha256, from: 3 })).bytes.toString()).toBe('tent')
  })

  it('gives nothing without a digest, and nothing that it does not have', async () => {
    expect(await verdictOf(origins.read({ source: source() }))).toBe('source.digest-required refused')
    const sha256 = sha256Hex('absent') as Sha256
    expect(await verdictOf(origins.read({ source: source(), sha256 }))).toBe('source.not-found missing')
  })

  it('has tags', async () => {
    const [one, two] = [sha256Hex('one'), sha256Hex('two')]
    writeIndex(entry(one, 'v1'), entry(two, 'v2'), entry(two))
    expect(await resolve('v2')).toEqual([found(two)])
    expect(await verdictOf(resolve('v3'))).toBe('source.not-found missing')
  })

  it('does not guess between two images of one tag', async () => {
    writeIndex(entry(sha256Hex('one'), 'v1'), entry(sha256Hex('two'), 'v1'))
    expect(await verdictOf(resolve('v1'))).toBe('source.tag-ambiguous refused')
    writeIndex(entry(sha256Hex('one'), 'v1'), entry(sha256Hex('one'), 'v1'))
    expect(await resolve('v1')).toEqual([found(sha256Hex('one'))])
  })

  it.each([
    ['there is none', undefined, 'source.not-found missing'],
    ['it is no JSON', 'hello', 'source.not-content refused'],
    ['it lists nothing', '{}', 'source.not-content refused'],
    ['it is larger than any index', ' '.repeat(4 * 2 ** 20 + 1), 'source.too-large refused'],
  ])('has no usable index.json when %s', async (_, text, verdict) => {
    if (text !== undefined) writeFileSync(join(directory, 'index.json'), text)
    expect(await verdictOf(resolve('v1'))).toBe(verdict)
  })
})

describe('what refers to a digest', () => {
  const root = 'c'.repeat(64) as Sha256
  const referrers = () => origins.resolve(source(), { kind: 'referrers', sha256: root }, never)

  it('is at the tags that stand in for it, each once', async () => {
    const [bundle, signature] = [sha256Hex('bundle'), sha256Hex('signature')]
    const list = addBlob(JSON.stringify({ manifests: [entry(bundle), entry(signature)] }))
    writeIndex(entry(root, 'v1'), entry(list, `sha256-${root}`), entry(signature, `sha256-${root}.sig`))
    expect(await referrers()).toEqual([found(bundle), found(signature)])
  })

  it('is nothing when there is nothing', async () => {
    writeIndex(entry(root, 'v1'))
    expect(await referrers()).toEqual([])
  })
})
