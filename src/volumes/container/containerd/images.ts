// Images in containerd: their blobs, and a record that holds them. A blob refers to its children by labels; the record
// holds the root, and containerd's gc keeps what can be reached from it.
import { Code } from '@connectrpc/connect'
import type { Sha256 } from '../../../content/messages.ts'
import { type ContainerImage, verifiedPath } from '../image.ts'
import type { LoadRequest } from '../runtime.ts'
import { type Containerd, noTimeout, unless } from './connection.ts'
import type { InTurn } from './in-turn.ts'
import { digestOf, ingest, label } from './ingest.ts'
import type { LeaseKeeper } from './lease.ts'

export interface Loading {
  readonly request: LoadRequest
  readonly image: ContainerImage
  readonly leases: LeaseKeeper
  /** Two images that share a blob put it in once. */
  readonly perBlob: InTurn
}

export async function loadImage(containerd: Containerd, { request, image, leases, perBlob }: Loading): Promise<void> {
  const { name, content, signal } = request
  const { root, manifest, config, layers } = image
  await leases.under(containerd, async lease => {
    for (const sha256 of new Set([...layers, config, manifest, root].map(blob => blob.sha256))) {
      signal.throwIfAborted()
      const path = verifiedPath(content, sha256)
      await perBlob(sha256, () => ingest(containerd, { sha256, path, lease, signal }))
    }
    await label(containerd, manifest.sha256, manifestLabels(image))
    if (root.sha256 !== manifest.sha256)
      await label(containerd, root.sha256, { 'containerd.io/gc.ref.content.m.0': digestOf(manifest.sha256) })
    const target = { mediaType: root.mediaType, digest: digestOf(root.sha256), size: BigInt(root.size) }
    const record = { image: { name, target } }
    const created = containerd.images.create(record).then(() => true)
    if (!(await unless(Code.AlreadyExists, created))) await containerd.images.update(record)
  })
}

/** Null when there is no image of this name. */
export async function rootOfImage({ images }: Containerd, name: string): Promise<string | null> {
  const found = await unless(Code.NotFound, images.get({ name }))
  return found?.image?.target?.digest.replace(/^sha256:/, '') ?? null
}

/** Waits until containerd has freed what only this image held. */
export async function forgetImage({ images }: Containerd, name: string): Promise<void> {
  await unless(Code.NotFound, images.delete({ name, sync: true }, noTimeout))
}

/** The image keeps its unpacked layers, too. */
export const holdLayers = (containerd: Containerd, config: Sha256, snapshot: { snapshotter: string; key: string }) =>
  label(containerd, config, { [`containerd.io/gc.ref.snapshot.${snapshot.snapshotter}`]: snapshot.key })

const manifestLabels = ({ config, layers }: ContainerImage): Record<string, string> =>
  Object.fromEntries([
    ['containerd.io/gc.ref.content.config', digestOf(config.sha256)],
    ...layers.map(({ sha256 }, index) => [`containerd.io/gc.ref.content.l.${index}`, digestOf(sha256)]),
  ])
