// What a tree of verified blobs is as a container image: its manifest and config, and its layers in the order in which
// they lie on each other, each with the digest of its uncompressed bytes. A layer may stand there twice.
import * as z from 'zod'
import type { BlobStatus, ContentStatus, Sha256 } from '../../content/messages.ts'
import { type Descriptor, maxManifestSize, parseManifest } from '../../content/oci/manifest.ts'
import { ociTypeOf } from '../../content/oci/media-types.ts'
import { CairnError } from '../../lib/errors.ts'
import { sha256Hex } from '../../lib/json.ts'
import { readJson } from '../../lib/located-json.ts'

export interface ContainerImage {
  /** The index or the manifest that the image is called by. */
  readonly root: Descriptor
  readonly manifest: Descriptor
  readonly config: Descriptor
  /** The config as it was written. */
  readonly configBytes: Buffer
  readonly layers: readonly ImageLayer[]
}

export interface ImageLayer extends Descriptor {
  /** SHA-256 of the uncompressed tar. */
  readonly diffId: Sha256
}

/** Gives the whole blob. */
export type ReadBlob = (sha256: Sha256) => Promise<Buffer> | Buffer

export async function readImage(content: ContentStatus, read: ReadBlob): Promise<ContainerImage> {
  const [root, manifestBlob] = [content.blobs[0], content.blobs.find(({ role }) => role === 'manifest')]
  if (!root || !manifestBlob) throw notContainer(content, 'it has no image manifest')
  const checked = async (sha256: Sha256) => {
    const bytes = await read(sha256)
    if (sha256Hex(bytes) !== sha256) throw invalid(content, `the bytes of ${sha256} have changed`)
    return bytes
  }

  const parsed = async ({ sha256, mediaType }: BlobStatus) => {
    const bytes = await checked(sha256)
    const document = parseManifest(bytes, mediaType)
    if (!document.ok) throw new CairnError(document.code, `the manifest of ${content.name}: ${document.reason}`)
    return { document, described: { mediaType: document.mediaType, sha256, size: bytes.length, annotations: {} } }
  }

  const { document: manifest, described } = await parsed(manifestBlob)
  if (manifest.kind !== 'manifest') throw notContainer(content, 'its manifest is an index')
  const odd = manifest.layers.find(({ mediaType }) => !layerTypes.test(ociTypeOf(mediaType)))
  if (odd) throw notContainer(content, `it has a layer of the type ${odd.mediaType}`)

  if (manifest.config.size > maxManifestSize) throw invalid(content, 'its config is too large')
  const configBytes = await checked(manifest.config.sha256)
  const diffIds = readDiffIds(content, configBytes)
  if (diffIds.length !== manifest.layers.length)
    throw invalid(content, `its config names ${diffIds.length} layers, its manifest ${manifest.layers.length}`)
  return {
    root: root === manifestBlob ? described : (await parsed(root)).described,
    manifest: described,
    config: manifest.config,
    configBytes,
    layers: manifest.layers.map((layer, index) => ({ ...layer, diffId: diffIds[index]! })),
  }
}

const layerTypes = /^application\/vnd\.oci\.image\.layer\.(?:nondistributable\.)?v1\.tar(?:\+gzip|\+zstd)?$/

const configSchema = z.object({
  rootfs: z.object({ type: z.literal('layers'), diff_ids: z.array(z.string().regex(/^sha256:[0-9a-f]{64}$/)) }),
})

function readDiffIds(content: ContentStatus, bytes: Buffer): Sha256[] {
  const { value, problems } = readJson({ file: '', text: bytes.toString('utf8') })
  const config = configSchema.safeParse(value)
  if (problems[0] || !config.success)
    throw notContainer(content, 'its config does not say which layers its root file system has')
  return config.data.rootfs.diff_ids.map(digest => digest.slice('sha256:'.length) as Sha256)
}

const notContainer = ({ name }: ContentStatus, why: string) =>
  new CairnError('image.not-a-container', `${name} is no container image: ${why}`)

const invalid = ({ name }: ContentStatus, why: string) => new CairnError('image.invalid', `${name} is damaged: ${why}`)

/** A layer whose bytes are not those that the image's config promises. */
export const layerMismatch = (layer: ImageLayer, found: string) =>
  new CairnError(
    'image.layer-mismatch',
    `the layer ${layer.sha256} unpacks to ${found}, and its image says ${layer.diffId}`,
  )

/** Of a blob of the tree. */
export function verifiedPath(content: ContentStatus, sha256: Sha256): string {
  const path = content.blobs.find(blob => blob.sha256 === sha256)?.path
  if (path === undefined)
    throw new CairnError('image.blob-missing', `the blob ${sha256} of ${content.name} is neither verified nor loaded`)
  return path
}

/** Nobody loaded it, or it was forgotten since. */
export const imageMissing = (name: string) =>
  new CairnError('image.not-loaded', `the image ${name} is not loaded`, {
    hint: 'It is loaded again when it is asked for.',
  })
