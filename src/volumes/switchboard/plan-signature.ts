// What a tree's signature needs: nothing under policy `none`; the signature that came with the request; or what lies beside
// the image in its registry, fetched and verified like any blob. The verifier judges; this only hands it the material.
// Holds: under `required` nothing is good before the verifier said so of exactly this root, trust and material.
import type { ContentError, Sha256, SignatureConfig } from '../../content/messages.ts'
import { maxManifestSize } from '../../content/oci/manifest.ts'
import { canonicalJson, sha256Hex } from '../../lib/json.ts'
import { isImage, signatureLatchKeyOf } from './keys.ts'
import type { Tree, Turn, Want } from './model.ts'
import { latch, resolve, useLatch } from './plan-root.ts'
import { publish, retract } from './publish.ts'
import { readManifest } from './read-manifest.ts'
import { recall } from './trouble.ts'

export interface Judgement {
  readonly is: 'good' | 'pending' | 'waiting' | 'refused'
  readonly signedBy?: string | undefined
  readonly error?: ContentError | undefined
}

interface Material {
  /** Null while it is not known which there are. */
  readonly wants: ReadonlyMap<Sha256, Want> | null
  readonly isWhole: boolean
  readonly error?: ContentError | undefined
}

const none: Material = { wants: new Map(), isWhole: true }

/** The blobs that may carry signatures of the root. */
export function signatureMaterial(turn: Turn, tree: Tree, root: Sha256): Material {
  const { trust } = tree.ref
  if (trust.policy === 'none' || trust.signature !== undefined || !isImage(tree.ref)) {
    useLatch(turn, tree, 'signatureLatchKey', null)
    return none
  }
  const key = signatureLatchKeyOf(tree.ref.sources[0]!, root)
  useLatch(turn, tree, 'signatureLatchKey', key)
  const found = turn.state.latches.get(key)?.signatures
  if (found) return materialOf(turn, tree, found)
  const answer = resolve(turn, tree, tree.ref.sources[0]!, { kind: 'referrers', sha256: root })
  if (!answer?.found) return { wants: null, isWhole: false, error: answer?.error }
  // That a required signature is missing is not written down: it may come.
  if (answer.found.length === 0 && trust.policy === 'required') return none
  const signatures = answer.found.map(({ sha256, mediaType }) => ({ sha256, mediaType }))
  return { wants: null, isWhole: false, error: latch(turn, tree, key, { sha256: root, signatures }) }
}

function materialOf(
  turn: Turn,
  tree: Tree,
  found: readonly { sha256: Sha256; mediaType?: string | undefined }[],
): Material {
  const { sources } = tree
  const { name } = tree.ref
  const wants = new Map<Sha256, Want>()
  let isWhole = true
  for (const { sha256, mediaType } of found) {
    const want: Want = { role: 'signature', hint: mediaType, size: 0, as: 'manifest', sources, name }
    wants.set(sha256, want)
    const read = readManifest(turn, sha256, want)
    if (read?.is !== 'read') isWhole = false
    else if (read.parsed.ok && read.parsed.kind === 'manifest')
      // A signature is small; what is larger is something else that refers to the image.
      for (const layer of read.parsed.layers)
        if (layer.size <= maxManifestSize && !wants.has(layer.sha256))
          wants.set(layer.sha256, {
            role: 'signature',
            mediaType: layer.mediaType,
            size: layer.size,
            as: 'blob',
            sources,
            name,
          })
  }
  return { wants, isWhole }
}

export function judgeSignature(turn: Turn, tree: Tree, root: Sha256 | null, material: Material): Judgement {
  const { state } = turn
  const { trust, name } = tree.ref
  if (trust.policy === 'none') {
    retract(turn, 'signatureConfig', tree.key)
    return { is: 'good' }
  }
  const isVerified = (sha256: string) => state.blobs.get(sha256)?.state === 'verified'
  if (
    root === null ||
    !material.wants ||
    !material.isWhole ||
    !isVerified(root) ||
    ![...material.wants.keys()].every(isVerified)
  )
    return { is: 'pending', error: material.error }
  const config: SignatureConfig = { name, root, trust, material: [...material.wants.keys()].slice(0, 256) }
  publish(turn, 'signatureConfig', tree.key, config)
  const status = state.inputs.signatureStatus.get(tree.key)
  if (status?.root !== root || status.of !== sha256Hex(canonicalJson(config))) return { is: 'pending' }
  const { verdict, signedBy, error } = status
  if (verdict === undefined) return { is: 'pending', error }
  if (verdict === 'good') return { is: 'good', signedBy }
  if (verdict === 'waiting') return { is: 'waiting', error }
  if (verdict === 'unsigned' && trust.policy === 'optional') return { is: 'good' }
  const missing = { code: 'signature.missing', text: `${name} has no signature, and one is required` } as const
  return { is: 'refused', error: error ?? recall(turn, tree, missing) }
}
