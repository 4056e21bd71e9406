// What one tree wants and how far it is. It is verified when all its blobs are and its signature is judged good enough; it is
// loaded when the container runtime has it. One blob's error stops no sibling.
import type { ContentRef, ContentStatus, Sha256 } from '../../content/messages.ts'
import { sourcesOf } from './keys.ts'
import type { Tree, TreeOwner, Turn, Want } from './model.ts'
import { newBlob } from './plan-blob.ts'
import { wantImage } from './plan-image.ts'
import { holdLatch, rootOf, stopResolving, useLatch } from './plan-root.ts'
import { judgeSignature, signatureMaterial } from './plan-signature.ts'
import { publish, retract, same } from './publish.ts'
import { treeStatus } from './tree-status.ts'
import { forgetOldErrors } from './trouble.ts'
import { walkTree } from './walk-tree.ts'

export interface TreeRequest {
  readonly owner: TreeOwner
  readonly ref: ContentRef
  readonly until: Tree['until']
  readonly scope: ContentStatus['scope']
  readonly id: string
  readonly isActive: boolean
}

/** Makes the tree, or changes what is asked of it. */
export function wantTree({ state }: Turn, key: string, request: TreeRequest): Tree {
  const { ref, until, scope, id, isActive } = request
  const tree = state.trees.get(key)
  if (tree && same(tree.ref, ref) && tree.until === until && tree.scope === scope && tree.isActive === isActive)
    return tree
  state.dirty.tree.add(key)
  if (tree) return Object.assign(tree, { ref, sources: sourcesOf(ref), until, scope, id, isActive })
  const made: Tree = {
    ...request,
    key,
    sources: sourcesOf(ref),
    wants: new Map(),
    latchKey: null,
    signatureLatchKey: null,
    resolveKeys: new Set(),
    image: null,
    errors: new Map(),
    errorsNow: new Map(),
    status: {
      scope,
      id,
      name: ref.name,
      state: 'initial',
      blobs: [],
      totalSize: 0,
      currentSize: 0,
      waitingForCerts: false,
    },
  }
  state.trees.set(key, made)
  return made
}

/** Nobody asks for it any more. */
export function dropTree(turn: Turn, key: string) {
  const { state } = turn
  const tree = state.trees.get(key)
  if (!tree) return
  letGo(turn, tree)
  useLatch(turn, tree, 'latchKey', null)
  useLatch(turn, tree, 'signatureLatchKey', null)
  if (tree.owner.kind === 'content') retract(turn, 'contentStatus', key)
  if (tree.owner.kind === 'cert') retract(turn, 'certMaterial', tree.owner.id)
  state.trees.delete(key)
  state.timers.delete(`tree ${key}`)
}

export function planTree(turn: Turn, key: string) {
  const { state } = turn
  const tree = state.trees.get(key)
  if (!tree) return
  if (!tree.isActive) {
    // The volume is made: only the digest is remembered.
    holdLatch(turn, tree)
    useLatch(turn, tree, 'signatureLatchKey', null)
    return letGo(turn, tree)
  }

  const asked = tree.resolveKeys
  tree.resolveKeys = new Set()
  const root = rootOf(turn, tree)
  const sha256 = root.is === 'known' ? root.sha256 : null
  const walk = walkTree(turn, tree, root)
  const material = sha256 === null ? { wants: null, isWhole: false } : signatureMaterial(turn, tree, sha256)
  for (const [key, want] of material.wants ?? []) if (!walk.wants.has(key)) walk.wants.set(key, want)
  setWants(turn, tree, walk.wants)
  const judgement = judgeSignature(turn, tree, sha256, material)
  stopResolving(turn, tree, asked)

  const status = treeStatus(turn, tree, { root, walk, judgement })
  // The audit trail has `verified` before anything is done with it, and it is not said again for what comes after.
  const isVerified = status.state === 'verified'
  if (isVerified && !isPast(tree)) tell(turn, tree, status)
  const image = wantImage(turn, tree, isVerified && tree.until === 'loaded' ? sha256 : null)
  tell(turn, tree, image ? { ...status, state: image.state, ...(image.error && { error: image.error }) } : status)
  forgetOldErrors(tree)
}

const isPast = ({ status }: Tree): boolean => ['verified', 'loading', 'loaded'].includes(status.state)

function letGo(turn: Turn, tree: Tree) {
  setWants(turn, tree, new Map())
  const asked = tree.resolveKeys
  tree.resolveKeys = new Set()
  stopResolving(turn, tree, asked)
  wantImage(turn, tree, null)
  if (tree.until === 'loaded') for (const name of turn.state.images.keys()) turn.state.dirty.image.add(name)
  retract(turn, 'signatureConfig', tree.key)
}

function tell(turn: Turn, tree: Tree, status: ContentStatus) {
  if (same(tree.status, status)) return
  tree.status = status
  const { owner } = tree
  if (owner.kind === 'content') publish(turn, 'contentStatus', owner.key, status)
  else if (owner.kind === 'volume') turn.state.dirty.volume.add(owner.identity)
  else if (status.state === 'verified') publish(turn, 'certMaterial', owner.id, { sha256: status.sha256! })
}

/** The blobs learn who wants them; only those that something changed for are looked at again. */
function setWants({ state }: Turn, tree: Tree, wants: Map<string, Want>) {
  const before = tree.wants
  tree.wants = wants
  for (const key of before.keys()) {
    if (wants.has(key)) continue
    state.blobs.get(key)?.wants.delete(tree.key)
    state.dirty.blob.add(key)
  }
  for (const [key, want] of wants) {
    if (same(before.get(key), want)) continue
    const blob = state.blobs.get(key) ?? newBlob(key, key.startsWith('url-') ? null : (key as Sha256))
    state.blobs.set(key, blob)
    blob.wants.set(tree.key, want)
    state.dirty.blob.add(key)
  }
}
