// Images that the container runtime is to have. One is taken in at a time, so that a second tree with the same blobs waits
// and finds them there. What was given to the runtime is noted on disk first: it is taken back even after a crash.
import type { ContentError, Sha256 } from '../../content/messages.ts'
import { imageName } from '../container/runtime.ts'
import type { Image, Tree, Turn } from './model.ts'
import type { Failure } from './protocol.ts'
import { isOfTheBytes, isOver, moreTrouble, setTimer } from './trouble.ts'

/** The runtime may come back at any time. */
const patience = { firstMs: 5000, mostMs: 60_000, tries: Number.POSITIVE_INFINITY }
const noPatience = { ...patience, tries: 0 }

export interface ImageView {
  readonly state: 'verified' | 'loading' | 'loaded'
  readonly error?: ContentError | undefined
}

/** Null as root: the tree wants none, or none yet. */
export function wantImage(turn: Turn, tree: Tree, root: Sha256 | null): ImageView | null {
  const { state } = turn
  const name = root === null ? null : imageName({ name: tree.ref.name, sha256: root })
  if (tree.image !== null && tree.image !== name) {
    state.images.get(tree.image)?.wants.delete(tree.key)
    state.dirty.image.add(tree.image)
  }
  tree.image = name
  if (name === null) return null
  const image = state.images.get(name) ?? newImage(name)
  state.images.set(name, image)
  if (!image.wants.has(tree.key)) state.dirty.image.add(name)
  image.wants.add(tree.key)
  // A note of an earlier run says that it was begun, not that it ended.
  if (image.isUnsure) image.state = 'none'
  image.isUnsure = false
  const { state: loading, trouble } = image
  if (loading === 'loaded') return { state: 'loaded' }
  return { state: loading === 'loading' ? 'loading' : 'verified', error: trouble?.error }
}

export const newImage = (name: string): Image => ({
  name,
  wants: new Set(),
  state: 'none',
  isCancelled: false,
  isUnsure: false,
  trouble: null,
})

export function planImage(turn: Turn, name: string) {
  const { state } = turn
  const image = state.images.get(name)
  if (!image) return
  const before = image.state
  if (image.wants.size > 0) load(turn, image)
  else if (!isIntended(turn, name)) letGo(turn, image)
  if (image.state !== before) for (const tree of image.wants) state.dirty.tree.add(tree)
}

/** The job of an image has ended. */
export function imageJobEnded(turn: Turn, image: Image, failure: Failure | null) {
  const { state } = turn
  const wasLoading = image.state === 'loading'
  const isWanted = image.wants.size > 0
  image.state = wasLoading === (failure === null) ? 'loaded' : 'none'
  const counts = failure !== null && !image.isCancelled && (isWanted || !wasLoading)
  image.trouble = counts
    ? moreTrouble(turn, image.trouble, failure, isOfTheBytes(failure) ? noPatience : patience)
    : null
  image.isCancelled = false
  state.busyImage = null
  for (const name of state.images.keys()) state.dirty.image.add(name)
  for (const tree of image.wants) state.dirty.tree.add(tree)
}

export const imageJob = (name: string): string => `image ${name}`

function load(turn: Turn, image: Image) {
  const { state, effects } = turn
  if (image.state !== 'none' || state.busyImage !== null) return
  if (!isOver(turn, image.trouble)) return waitForRetry(turn, image)
  const tree = state.trees.get([...image.wants].sort()[0]!)!
  if (tree.status.state !== 'verified') return
  image.state = 'loading'
  state.busyImage = image.name
  effects.push(
    { do: 'note loaded', name: image.name },
    { do: 'load', job: imageJob(image.name), name: image.name, content: tree.status },
  )
}

function letGo(turn: Turn, image: Image) {
  const { state, effects } = turn
  if (image.state === 'loading') {
    if (!image.isCancelled) effects.push({ do: 'cancel', job: imageJob(image.name) })
    image.isCancelled = true
  } else if (image.state === 'none') {
    state.images.delete(image.name)
    state.timers.delete(`image ${image.name}`)
    effects.push({ do: 'forget loaded', name: image.name })
  } else if (image.state === 'loaded' && state.busyImage === null) {
    if (!isOver(turn, image.trouble)) return waitForRetry(turn, image)
    image.state = 'unloading'
    state.busyImage = image.name
    effects.push({ do: 'unload', job: imageJob(image.name), name: image.name })
  }
}

function waitForRetry(turn: Turn, { name, trouble }: Image) {
  if (trouble!.retryAt !== null) setTimer(turn, `image ${name}`, trouble!.retryAt)
}

/** A tree that is on its way will want it. */
function isIntended({ state }: Turn, image: string): boolean {
  for (const { until, isActive, ref } of state.trees.values())
    if (until === 'loaded' && isActive && image.startsWith(ref.name)) return true
  return false
}
