// The layers of an image as snapshots on each other, each made once for all images that share it. Its name is the chain of
// the layers down to it, as the image specification has it.
import { randomBytes } from 'node:crypto'
import { type CallOptions, Code } from '@connectrpc/connect'
import type { Sha256 } from '../../../content/messages.ts'
import { sha256Hex } from '../../../lib/json.ts'
import { type ImageLayer, layerMismatch } from '../image.ts'
import { type Containerd, noTimeout, unless } from './connection.ts'
import { digestOf } from './ingest.ts'

export interface Unpacking {
  readonly snapshotter: string
  readonly layers: readonly ImageLayer[]
  readonly lease: CallOptions
  readonly signal: AbortSignal
}

/** Overlayfs where containerd can use it; else copies, which work everywhere. */
export async function chooseSnapshotter({ snapshots }: Containerd): Promise<string> {
  // A snapshotter that is not loaded is an invalid argument, a snapshot that is not there is not.
  const asked = unless(Code.NotFound, snapshots.stat({ snapshotter: 'overlayfs', key: 'cairn-is-it-there' }))
  const answer = await unless(
    Code.InvalidArgument,
    asked.then(() => true),
  )
  return answer ? 'overlayfs' : 'native'
}

/** Returns the name of the topmost one; '' for an image without layers. */
export async function unpackLayers(containerd: Containerd, unpacking: Unpacking): Promise<string> {
  const { snapshotter, layers } = unpacking
  const names = chainIds(layers.map(({ diffId }) => diffId))
  let there = names.length
  while (there > 0) {
    const found = await unless(Code.NotFound, containerd.snapshots.stat({ snapshotter, key: names[there - 1]! }))
    if (found) break
    there--
  }
  for (let at = there; at < layers.length; at++)
    await unpackLayer(containerd, unpacking, { layer: layers[at]!, parent: names[at - 1] ?? '', name: names[at]! })
  return names.at(-1) ?? ''
}

interface Step {
  readonly layer: ImageLayer
  readonly parent: string
  readonly name: string
}

async function unpackLayer({ snapshots, diff }: Containerd, unpacking: Unpacking, { layer, parent, name }: Step) {
  const { snapshotter, lease, signal } = unpacking
  const { mediaType, sha256, size } = layer
  const key = `unpacking-${randomBytes(8).toString('hex')}-${name}`
  const { mounts } = await snapshots.prepare({ snapshotter, key, parent }, lease)
  try {
    const descriptor = { mediaType, digest: digestOf(sha256), size: BigInt(size) }
    const { applied } = await diff.apply({ diff: descriptor, mounts }, { ...lease, ...noTimeout, signal })
    const found = applied?.digest ?? ''
    if (found !== digestOf(layer.diffId)) throw layerMismatch(layer, found.replace(/^sha256:/, ''))
    // Another image that shares the layer may have been faster.
    const committed = snapshots.commit({ snapshotter, key, name }, lease).then(() => true)
    if (!(await unless(Code.AlreadyExists, committed))) await snapshots.remove({ snapshotter, key })
  } catch (error) {
    await snapshots.remove({ snapshotter, key }).catch(() => {})
    throw error
  }
}

export function chainIds(diffIds: readonly Sha256[]): string[] {
  const chain: string[] = []
  for (const diffId of diffIds) {
    const below = chain.at(-1)
    chain.push(below === undefined ? digestOf(diffId) : digestOf(sha256Hex(`${below} ${digestOf(diffId)}`)))
  }
  return chain
}
