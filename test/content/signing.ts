// Signatures beside an image in a real registry: those that the real cosign made, and our own in the same forms.
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Material } from '../../src/content/signature/material.ts'
import { bundle, cosignTag } from '../../src/content/signature/signatures.fake.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { putBlob, putManifest, type RealRegistry } from './registry.ts'

const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const indexType = 'application/vnd.oci.image.index.v1+json'

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../../src/content/signature/testdata/${name}`, import.meta.url))

/** The public key of what the real cosign signed. */
export const cosignKey = (): string => fixture('cosign.pub').toString()
/** The root of the certificate with which it signed. */
export const cosignRoot = (): string => fixture('root.crt').toString()

export interface Place {
  readonly registry: RealRegistry
  readonly repository: string
}

/** The image that cosign signed, under the tag `v1`, with the signatures that it left there. Returns its digest. */
export async function pushSignedByCosign(place: Place, how: 'tag' | 'bundle' | 'certified'): Promise<string> {
  const layer = Buffer.alloc(1024)
  const rootfs = { type: 'layers', diff_ids: [`sha256:${sha256Hex(layer)}`] }
  const config = { architecture: 'amd64', os: 'linux', config: {}, rootfs }
  const root = sha256Hex(fixture('root.json'))
  for (const blob of [layer, Buffer.from(JSON.stringify(config))]) await putBlob(place.registry, place.repository, blob)
  await put(place, 'v1', fixture('root.json'))
  if (how === 'bundle') await pushBundle(place, root, fixture('bundle-manifest.json'), fixture('bundle.json'))
  else await pushTag(place, root, fixture(`${how}-manifest.json`), fixture(`${how}-payload.json`))
  return root
}

/** As cosign 2 does; `of` is the digest that is signed, if another one than that of the image. */
export async function signWithTag(
  place: Place,
  root: string,
  wish: { key: KeyObject; of?: string; signature?: string },
) {
  const { key, of = root, signature } = wish
  const made = cosignTag({ key, digest: `sha256:${of}`, ...(signature !== undefined && { signature }) })
  const [manifest, payload] = made as [Material, Material]
  const { layers, config: _, ...rest } = JSON.parse(manifest.bytes.toString())
  const config = cosignConfig(payload.sha256)
  const described = { mediaType: 'application/vnd.oci.image.config.v1+json', ...descriptorOf(config) }
  await pushTag(place, root, Buffer.from(JSON.stringify({ ...rest, config: described, layers })), payload.bytes)
}

/** As cosign 3 does where the registry has no referrers. */
export async function signWithBundle(place: Place, root: string, { key, of = root }: { key: KeyObject; of?: string }) {
  const { bytes, mediaType } = bundle({ key, digest: of })
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: mediaType,
    config: { mediaType: 'application/vnd.oci.empty.v1+json', ...descriptorOf(Buffer.from('{}')) },
    layers: [{ mediaType, ...descriptorOf(bytes) }],
    subject: { mediaType: manifestType, digest: `sha256:${root}`, size: 1 },
  }
  await pushBundle(place, root, Buffer.from(JSON.stringify(manifest)), bytes)
}

async function pushTag(place: Place, root: string, manifest: Buffer, payload: Buffer) {
  for (const blob of [payload, cosignConfig(sha256Hex(payload))]) await putBlob(place.registry, place.repository, blob)
  await put(place, `sha256-${root}.sig`, manifest)
}

async function pushBundle(place: Place, root: string, manifest: Buffer, signature: Buffer) {
  for (const blob of [Buffer.from('{}'), signature]) await putBlob(place.registry, place.repository, blob)
  await put(place, `sha256:${sha256Hex(manifest)}`, manifest)
  const manifests = [{ mediaType: manifestType, ...descriptorOf(manifest) }]
  const list = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }))
  await put(place, `sha256-${root}`, list, indexType)
}

/** What cosign 2 writes for a signature of one layer; the registry wants it to be there. */
function cosignConfig(payload: string): Buffer {
  const created = '0001-01-01T00:00:00Z'
  const rootfs = { type: 'layers', diff_ids: [`sha256:${payload}`] }
  return Buffer.from(JSON.stringify({ architecture: '', created, history: [{ created }], os: '', rootfs, config: {} }))
}

const descriptorOf = (bytes: Buffer) => ({ digest: `sha256:${sha256Hex(bytes)}`, size: bytes.length })

const put = ({ registry, repository }: Place, reference: string, body: Buffer, mediaType = manifestType) =>
  putManifest(registry, { repository, reference, mediaType, body })
