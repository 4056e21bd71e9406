// Images as files: an OCI layout on disk that other tools read, and the status that the manager would have of it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { BlobStatus, ContentStatus, Sha256 } from '../../content/messages.ts'
import { type FakeEntry, tarOf } from '../../lib/archive/archives.fake.ts'
import { sha256Hex } from '../../lib/json.ts'

export interface FakeLayer {
  /** Entries, or a tar as it is. */
  readonly tar: Buffer | readonly FakeEntry[]
  readonly compression?: 'gzip' | 'zstd' | 'none'
  /** What the config says of it; else the truth. */
  readonly diffId?: string
  /** Changes the compressed bytes. */
  readonly damage?: (bytes: Buffer) => Buffer
}

export interface FakeImage {
  readonly name?: string
  readonly layers: readonly FakeLayer[]
  /** Besides rootfs. */
  readonly config?: object
  /** Layers that only the config knows. */
  readonly inventedDiffIds?: readonly string[]
  /** The root is an index with this image in it. */
  readonly inIndex?: boolean
}

const type = (what: string) => `application/vnd.oci.image.${what}`
const compressions = {
  gzip: { suffix: '+gzip', compress: (tar: Buffer) => gzipSync(tar) },
  zstd: { suffix: '+zstd', compress: (tar: Buffer) => zstdCompressSync(tar) },
  none: { suffix: '', compress: (tar: Buffer) => tar },
}

/** `layout` becomes, or stays, an OCI layout; the image is tagged `latest` in it. */
export function writeImage(layout: string, fake: FakeImage) {
  const { name = 'registry.test/app:1', layers, config, inventedDiffIds = [], inIndex } = fake
  const directory = join(layout, 'blobs', 'sha256')
  mkdirSync(directory, { recursive: true })
  const blobs: BlobStatus[] = []
  const add = (role: BlobStatus['role'], mediaType: string, bytes: Buffer | string) => {
    const sha256 = sha256Hex(bytes) as Sha256
    const size = Buffer.byteLength(bytes)
    const path = join(directory, sha256)
    writeFileSync(path, bytes)
    const blob: BlobStatus = { sha256, role, mediaType, state: 'verified', size, currentSize: size, path }
    if (!blobs.some(other => other.sha256 === sha256)) blobs.push(blob)
    return { mediaType, digest: `sha256:${sha256}`, size }
  }

  const packed = layers.map(({ tar, compression = 'gzip', diffId, damage = bytes => bytes }) => {
    const bytes = Buffer.isBuffer(tar) ? tar : tarOf(tar)
    const { suffix, compress } = compressions[compression]
    const descriptor = add('layer', type(`layer.v1.tar${suffix}`), damage(compress(bytes)))
    return { descriptor, diffId: `sha256:${diffId ?? sha256Hex(bytes)}` }
  })
  const rootfs = { type: 'layers', diff_ids: [...packed.map(({ diffId }) => diffId), ...inventedDiffIds] }
  const configText = JSON.stringify({ architecture: 'amd64', os: 'linux', ...config, rootfs })
  const manifest = {
    schemaVersion: 2,
    mediaType: type('manifest.v1+json'),
    config: add('config', type('config.v1+json'), configText),
    layers: packed.map(({ descriptor }) => descriptor),
  }
  const described = add('manifest', manifest.mediaType, JSON.stringify(manifest))
  const index = { schemaVersion: 2, mediaType: type('index.v1+json'), manifests: [described] }
  if (inIndex) add('index', index.mediaType, JSON.stringify(index))
  const tagged = { ...described, annotations: { 'org.opencontainers.image.ref.name': 'latest' } }
  writeFileSync(join(layout, 'index.json'), JSON.stringify({ ...index, manifests: [tagged] }))
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  return { content: contentOf(name, blobs.reverse()), configText }
}

/** A tree that is one file. */
export function writeBlob(path: string, bytes: string): ContentStatus {
  writeFileSync(path, bytes)
  const size = bytes.length
  const sha256 = sha256Hex(bytes) as Sha256
  return contentOf('disk.img', [{ sha256, role: 'blob', state: 'verified', size, currentSize: size, path }])
}

const contentOf = (name: string, blobs: BlobStatus[]): ContentStatus => ({
  scope: 'volumes',
  id: 'app',
  name,
  state: 'verified',
  sha256: blobs[0]!.sha256,
  blobs,
  totalSize: 0,
  currentSize: 0,
  waitingForCerts: false,
})
