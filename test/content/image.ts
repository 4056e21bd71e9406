// Images made of nothing but values, the same bytes each time: an index of platforms, each with its layers.
import { createCipheriv } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import type { Sha256 } from '../../src/content/messages.ts'
import { sha256Hex } from '../../src/lib/json.ts'

export interface LayerFile {
  /** `usr/bin/hello`; one that ends in / is a directory. */
  readonly name: string
  readonly body: Buffer
  /** 0644, and 0755 for directories, unless said. */
  readonly mode?: number
}

export type Layer = readonly LayerFile[]

export interface ImagePlan {
  /** `linux/amd64`, in the order of the index. */
  readonly platforms: Readonly<Record<string, readonly Layer[]>>
  /** Of the image's config: `Cmd`, `Env`, `WorkingDir`. */
  readonly config?: object
}

export interface MadeManifest {
  readonly sha256: Sha256
  readonly mediaType: string
  readonly body: Buffer
}

export interface MadeImage {
  readonly index: MadeManifest
  /** In the order of the platforms. */
  readonly manifests: readonly MadeManifest[]
  /** For each platform the config, then the layers, as its manifest names them. */
  readonly parts: Readonly<Record<string, readonly Sha256[]>>
  /** Configs and layers, each once. */
  readonly blobs: ReadonlyMap<Sha256, Buffer>
}

const oci = 'application/vnd.oci.image'

export async function makeImage({ platforms, config = {} }: ImagePlan): Promise<MadeImage> {
  const blobs = new Map<Sha256, Buffer>()
  const manifests: MadeManifest[] = []
  const parts: Record<string, Sha256[]> = {}
  const add = (body: Buffer, mediaType: string) => {
    const sha256 = sha256Hex(body) as Sha256
    blobs.set(sha256, body)
    return { mediaType, digest: `sha256:${sha256}`, size: body.length }
  }
  for (const [platform, layers] of Object.entries(platforms)) {
    const tars = await Promise.all(layers.map(packLayer))
    const diffIds = tars.map(tar => `sha256:${sha256Hex(tar)}`)
    const image = { ...platformOf(platform), config, rootfs: { type: 'layers', diff_ids: diffIds } }
    const described = [
      add(Buffer.from(JSON.stringify(image)), `${oci}.config.v1+json`),
      // Stored, not squeezed: the bytes are random, and tests have better things to wait for.
      ...tars.map(tar => add(gzipSync(tar, { level: 0 }), `${oci}.layer.v1.tar+gzip`)),
    ]
    parts[platform] = described.map(({ digest }) => digest.slice('sha256:'.length) as Sha256)
    manifests.push(manifestOf(`${oci}.manifest.v1+json`, { config: described[0], layers: described.slice(1) }))
  }
  const index = manifestOf(`${oci}.index.v1+json`, {
    manifests: manifests.map(({ sha256, mediaType, body }, at) => ({
      mediaType,
      digest: `sha256:${sha256}`,
      size: body.length,
      platform: platformOf(Object.keys(platforms)[at]!),
    })),
  })
  return { index, manifests, parts, blobs }
}

/** Files of random bytes, `bytes` in all. Equal seeds give equal layers. */
export function randomLayer({ seed, bytes, files = 1 }: { seed: number; bytes: number; files?: number }): Layer {
  const all = randomBytes(seed, bytes)
  const each = Math.ceil(bytes / files)
  return Array.from({ length: files }, (_, at) => ({
    name: `data/${seed}/${at}`,
    body: all.subarray(at * each, (at + 1) * each),
  }))
}

/** The same ones for the same seed. */
function randomBytes(seed: number, count: number): Buffer {
  const key = Buffer.alloc(32)
  key.writeUInt32BE(seed)
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(count))
}

/** `linux/<what this machine is>`. */
export const ownPlatform = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`

async function packLayer(layer: Layer): Promise<Buffer> {
  const tar = pack()
  for (const { name, body, mode } of layer) {
    const isDirectory = name.endsWith('/')
    const header = { name, mtime: new Date(0), mode: mode ?? (isDirectory ? 0o755 : 0o644) }
    if (isDirectory) tar.entry({ ...header, type: 'directory' })
    else tar.entry(header, body)
  }
  tar.finalize()
  return buffer(tar)
}

function platformOf(platform: string) {
  const [os, architecture, variant] = platform.split('/')
  return { os, architecture, ...(variant !== undefined && { variant }) }
}

function manifestOf(mediaType: string, content: object): MadeManifest {
  const body = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, ...content }))
  return { sha256: sha256Hex(body) as Sha256, mediaType, body }
}
