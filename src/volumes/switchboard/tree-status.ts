// A tree as others see it: how far it is, its blobs, and all that is wrong with it at once.
import type { BlobStatus, ContentError, ContentStatus } from '../../content/messages.ts'
import { reached, type State } from '../../content/state.ts'
import type { Blob, Tree, Turn, Want } from './model.ts'
import type { Root } from './plan-root.ts'
import type { Judgement } from './plan-signature.ts'
import { joinErrors, recall } from './trouble.ts'
import type { Walk } from './walk-tree.ts'

export interface TreeView {
  readonly root: Root
  readonly walk: Walk
  readonly judgement: Judgement
}

export function treeStatus(turn: Turn, tree: Tree, { root, walk, judgement }: TreeView): ContentStatus {
  const { state } = turn
  const errors: ContentError[] = [...walk.errors]
  if (root.is !== 'known' && root.error) errors.push(root.error)
  const blobs: BlobStatus[] = []
  let totalSize = 0
  let currentSize = 0
  let isTotalKnown = walk.isWhole || root.is === 'downloading'
  let least: State = 'verified'
  for (const [key, want] of walk.wants) {
    const blob = state.blobs.get(key)
    if (!blob) continue
    const isShown = blob.sha256 !== null
    if (root.is === 'known' && !isShown) continue
    if (!reached(blob.state, least)) least = blob.state
    const size = blob.size || want.size
    if (size === 0) isTotalKnown = false
    totalSize += size
    currentSize += blob.currentSize
    if (isShown) blobs.push(viewOf(blob, want))
    const wrong = wrongSize(turn, tree, blob, want)
    if (wrong) errors.push(wrong)
    else if (blob.error && !errors.includes(blob.error)) errors.push(blob.error)
  }
  if (judgement.error) errors.push(judgement.error)
  const error = joinErrors(errors)
  const { signedBy } = judgement
  return {
    scope: tree.scope,
    id: tree.id,
    name: tree.ref.name,
    state: stateOf({ root, walk, judgement }, least, errors),
    ...(root.is === 'known' && { sha256: root.sha256 }),
    blobs,
    totalSize,
    currentSize,
    ...(isTotalKnown && totalSize > 0 && { progress: Math.min(Math.floor((100 * currentSize) / totalSize), 100) }),
    waitingForCerts: judgement.is === 'waiting',
    ...(signedBy !== undefined && { signedBy }),
    ...(error && { error }),
  }
}

function stateOf({ root, walk, judgement }: TreeView, least: State, errors: readonly ContentError[]): State {
  if (root.is === 'resolving') return 'resolving'
  if (least === 'verified' && walk.isWhole)
    return judgement.is === 'good' && errors.length === 0 ? 'verified' : 'verifying'
  if (least === 'verified') return walk.errors.length > 0 ? 'verifying' : 'downloading'
  return reached(least, 'downloaded') ? least : 'downloading'
}

/** The same object as long as nothing changed, so that comparing a tree costs little. */
function viewOf(blob: Blob, want: Want): BlobStatus {
  const key = `${want.role} ${want.mediaType ?? want.hint ?? ''} ${want.size}`
  const known = blob.views.get(key)
  if (known) return known
  const mediaType = want.mediaType ?? want.hint
  const view: BlobStatus = {
    sha256: blob.sha256!,
    role: want.role,
    ...(mediaType && { mediaType }),
    state: blob.state,
    size: blob.size || want.size,
    currentSize: blob.currentSize,
    ...(blob.path && { path: blob.path }),
    ...(blob.error && { error: blob.error }),
  }
  blob.views.set(key, view)
  return view
}

function wrongSize(turn: Turn, tree: Tree, { state, size, key }: Blob, want: Want): ContentError | null {
  if (state !== 'verified' || want.size === 0 || want.size === size) return null
  return recall(turn, tree, {
    code: 'content.size-mismatch',
    text: `${tree.ref.name}: ${key} has ${size} bytes, and its manifest says ${want.size}`,
  })
}
