import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxManifestSize, parseManifest } from './manifest.ts'
import { manifestKindOf, ociTypeOf } from './media-types.ts'

const indexType = 'application/vnd.oci.image.index.v1+json'
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const dockerType = 'application/vnd.docker.distribution.manifest.v2+json'
const dockerListType = 'application/vnd.docker.distribution.manifest.list.v2+json'
const hex = 'ab'.repeat(32)

const descriptor = (more: object = {}) => ({ mediaType: manifestType, digest: `sha256:${hex}`, size: 12, ...more })
const config = descriptor({ mediaType: 'application/vnd.oci.image.config.v1+json' })
const layer = descriptor({ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' })
const index = (more: object = {}) => ({ schemaVersion: 2, mediaType: indexType, manifests: [descriptor()], ...more })
const manifest = (more: object = {}) => ({
  schemaVersion: 2,
  mediaType: manifestType,
  config,
  layers: [layer],
  ...more,
})

const parse = (document: unknown, expected?: string) =>
  parseManifest(Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)), expected)
const codeOf = (document: unknown, expected?: string) => {
  const parsed = parse(document, expected)
  return parsed.ok ? 'ok' : parsed.code
}

describe('parseManifest', () => {
  it('reads an index with its platforms, and leaves out what it does not know', () => {
    const platform = { os: 'linux', architecture: 'arm', variant: 'v7', 'os.version': '1' }
    const parsed = parse(index({ manifests: [descriptor({ platform, annotations: { a: 'b' }, future: {} })], more: 1 }))
    expect(parsed).toEqual({
      ok: true,
      kind: 'index',
      mediaType: indexType,
      manifests: [
        {
          mediaType: manifestType,
          sha256: hex,
          size: 12,
          annotations: { a: 'b' },
          platform: { os: 'linux', architecture: 'arm', variant: 'v7' },
        },
      ],
    })
  })

  it('reads a manifest with the annotations of its layers, and takes neither foreign URLs nor inlined data over', () => {
    const foreign = { ...layer, urls: ['https://elsewhere.example/x'], data: 'e30=', annotations: { name: 'x' } }
    const parsed = parse(manifest({ layers: [foreign], artifactType: 'application/x', subject: descriptor() }))
    expect(parsed).toEqual({
      ok: true,
      kind: 'manifest',
      mediaType: manifestType,
      config: { mediaType: config.mediaType, sha256: hex, size: 12, annotations: {} },
      layers: [{ mediaType: layer.mediaType, sha256: hex, size: 12, annotations: { name: 'x' } }],
      artifactType: 'application/x',
      subject: { mediaType: manifestType, sha256: hex, size: 12, annotations: {} },
    })
  })

  it.each([
    ['the promised type', { mediaType: undefined }, dockerType, dockerType],
    ['its own word', { mediaType: dockerType }, undefined, dockerType],
    ['its shape', { mediaType: undefined }, undefined, manifestType],
    ['both, which agree', {}, manifestType, manifestType],
    ['both, spelled in other case', { mediaType: manifestType.toUpperCase() }, manifestType, manifestType],
  ])('takes the type from %s', (_, more, expected, type) => {
    expect(parse(manifest(more), expected)).toMatchObject({ kind: 'manifest', mediaType: type })
  })

  it.each([
    ['the document calls itself something else', manifest(), indexType],
    ['Docker was promised and OCI came', manifest(), dockerType],
    ['the shape is not what was promised', manifest({ mediaType: undefined }), dockerListType],
    ['the shape is not what it calls itself', manifest({ mediaType: indexType }), undefined],
  ])('refuses when %s', (_, document, expected) => {
    expect(codeOf(document, expected)).toBe('content.media-type-mismatch')
  })

  it.each([
    ['no JSON', '{"schemaVersion":2,'],
    ['a comment', '{"schemaVersion":2 /* */}'],
    ['a byte order mark', `\uFEFF${JSON.stringify(manifest())}`],
    ['a list', '[]'],
    ['nothing', ''],
    ['a key twice', JSON.stringify(manifest()).replace('{', '{"config":{},')],
    ['a key twice, deep inside', JSON.stringify(manifest()).replace('"size":12', '"size":12,"size":13')],
    ['nesting without end', '['.repeat(1_000_000)],
    ['nesting without end that is closed', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
    ['index and manifest at once', index({ layers: [layer], config })],
    ['neither', { schemaVersion: 2 }],
    ['another schema version', manifest({ schemaVersion: 3 })],
    ['a media type that is no string', manifest({ mediaType: 1 })],
    ['no config', manifest({ config: undefined })],
    ['layers that are no list', manifest({ layers: {} })],
    ['a negative size', manifest({ layers: [{ ...layer, size: -1 }] })],
    ['a fractional size', manifest({ layers: [{ ...layer, size: 1.5 }] })],
    ['a size beyond what a number holds', manifest({ layers: [{ ...layer, size: 2 ** 53 }] })],
    ['a size as text', manifest({ layers: [{ ...layer, size: '12' }] })],
    ['a media type with a line break', manifest({ layers: [{ ...layer, mediaType: 'a/b\nc' }] })],
    ['a media type of 300 characters', manifest({ layers: [{ ...layer, mediaType: `a/${'b'.repeat(300)}` }] })],
    ['an annotation that is no text', manifest({ layers: [{ ...layer, annotations: { a: 1 } }] })],
  ])('refuses %s', (_, document) => {
    expect(codeOf(document)).toBe('content.manifest-invalid')
  })

  it('refuses what is not UTF-8', () => {
    const bytes = Buffer.from(JSON.stringify(manifest({ x: '\u00ff' })), 'latin1')
    expect(parseManifest(bytes, undefined)).toMatchObject({ ok: false, code: 'content.manifest-invalid' })
  })

  it.each([
    'sha512:ab',
    `sha256:${hex.toUpperCase()}`,
    'sha256:ab',
    `sha256:${hex}0`,
    `sha256:../${hex.slice(3)}`,
    hex,
    '',
  ])('takes no digest but sha256 in lower case: %s', digest => {
    expect(codeOf(manifest({ layers: [{ ...layer, digest }] }))).toBe('digest.unsupported')
    expect(codeOf(index({ manifests: [descriptor({ digest })] }))).toBe('digest.unsupported')
  })

  it('takes 1000 blobs and not one more', () => {
    const layers = Array.from({ length: 999 }, () => layer)
    expect(codeOf(manifest({ layers }))).toBe('ok')
    expect(codeOf(manifest({ layers: [...layers, layer] }))).toBe('content.too-many-blobs')
  })

  it('takes 4 MiB and not one byte more', () => {
    const text = JSON.stringify(manifest())
    expect(codeOf(text.padEnd(maxManifestSize, ' '))).toBe('ok')
    expect(codeOf(text.padEnd(maxManifestSize + 1, ' '))).toBe('content.manifest-too-large')
  })

  it.each([indexType, dockerListType])('refuses an index that lists an index (%s)', mediaType => {
    expect(codeOf(index({ manifests: [descriptor(), descriptor({ mediaType })] }))).toBe('content.nested-index')
  })

  it.each([
    ['a manifest of schema 1', { schemaVersion: 1, fsLayers: [] }, undefined],
    ['a promised type that is no manifest', manifest({ mediaType: undefined }), 'application/octet-stream'],
  ])('says that it cannot read %s', (_, document, expected) => {
    expect(codeOf(document, expected)).toBe('content.manifest-unsupported')
  })

  it('never throws, whatever the bytes are', () => {
    const near = fc.json().map(text => JSON.stringify(manifest()).replace(/"layers":.*$/, `"layers":${text}}`))
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(Buffer.from), near.map(Buffer.from)), bytes => {
        expect(parseManifest(bytes, undefined)).toHaveProperty('ok')
      }),
      {
        ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
        ...(process.env.CAIRN_RUNS && { numRuns: Number(process.env.CAIRN_RUNS) }),
      },
    )
  })
})

it('knows the OCI type of each Docker type, and leaves others alone', () => {
  expect(ociTypeOf(dockerListType)).toBe(indexType)
  expect(ociTypeOf(dockerType)).toBe(manifestType)
  expect(ociTypeOf('application/vnd.docker.image.rootfs.diff.tar.gzip')).toBe(layer.mediaType)
  expect(ociTypeOf('constructor')).toBe('constructor')
  expect([dockerListType, dockerType, layer.mediaType].map(manifestKindOf)).toEqual(['index', 'manifest', null])
})
