// The children of a verified manifest, read from disk once and remembered by its digest.
import type { Sha256 } from '../../content/messages.ts'
import type { ReadManifest, Turn, Want } from './model.ts'

/** Null while the blob is not verified. */
export function readManifest(
  { state, effects }: Turn,
  sha256: Sha256,
  { mediaType }: Pick<Want, 'mediaType'>,
): ReadManifest | null {
  const blob = state.blobs.get(sha256)
  if (blob?.state !== 'verified' || blob.path === undefined) return null
  const known = state.manifests.get(sha256)
  if (known) return known
  const reading: ReadManifest = { is: 'being read' }
  state.manifests.set(sha256, reading)
  const type = mediaType ?? state.inputs.verifyStatus.get(sha256)?.mediaType
  effects.push({ do: 'read manifest', sha256, path: blob.path, mediaType: type })
  return reading
}

/** After a pause, when the file could not be read. */
export function planReread({ state }: Turn, sha256: string) {
  if (state.manifests.get(sha256 as Sha256)?.is !== 'failed') return
  state.manifests.delete(sha256 as Sha256)
  for (const tree of state.blobs.get(sha256)?.wants.keys() ?? []) state.dirty.tree.add(tree)
}
