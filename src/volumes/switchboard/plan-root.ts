// Which digest a tree's root has. A tag, or an address without a digest, is looked at once; what it was then is latched on
// disk before anything is done with it, and stays so until the request goes: a server that changes its mind changes nothing.
import type { ContentError, ResolveConfig, Sha256 } from '../../content/messages.ts'
import type { Source } from '../../content/source.ts'
import { isImage, latchKeyOf, resolveKeyOf, urlKeyOf } from './keys.ts'
import type { Tree, Turn } from './model.ts'
import type { Failure, Latch } from './protocol.ts'
import { publish, retract } from './publish.ts'
import { errorOf, recall, setTimer } from './trouble.ts'

export type Root =
  | {
      readonly is: 'known'
      readonly sha256: Sha256
      readonly hint?: string | undefined
      readonly size: number
      readonly via?: string
    }
  | { readonly is: 'resolving'; readonly error?: ContentError | undefined }
  /** The download `via` will tell. */
  | { readonly is: 'downloading'; readonly via: string; readonly error?: ContentError | undefined }

const latchRetryMs = 60_000

export function rootOf(turn: Turn, tree: Tree): Root {
  const { ref } = tree
  const key = holdLatch(turn, tree)
  if (ref.sha256 || key === null) return { is: 'known', sha256: ref.sha256!, size: ref.size }
  const latch = turn.state.latches.get(key)
  if (isImage(ref)) {
    if (latch) return { is: 'known', sha256: latch.sha256, hint: latch.mediaType, size: ref.size || (latch.size ?? 0) }
    return resolveTag(turn, tree, key)
  }
  const via = urlKeyOf(ref)
  if (latch) return { is: 'known', sha256: latch.sha256, size: ref.size || (latch.size ?? 0), via }
  return askDownload(turn, tree, key, via)
}

/** Also for a tree that wants nothing any more: the digest stays until its request goes. Null when it has one of its own. */
export function holdLatch(turn: Turn, tree: Tree): string | null {
  const key = tree.ref.sha256 ? null : latchKeyOf(tree.ref, tree.owner.kind === 'volume' ? tree.owner.identity : '')
  useLatch(turn, tree, 'latchKey', key)
  return key
}

function resolveTag(turn: Turn, tree: Tree, latchKey: string): Root {
  // The authority is asked, not its mirrors: they may lag behind.
  const what = { kind: 'tag', tag: tree.ref.tag ?? 'latest' } as const
  const answer = resolve(turn, tree, tree.ref.sources[0]!, what)
  if (answer?.found?.[0]) {
    const [{ sha256, mediaType, size }] = answer.found as [NonNullable<typeof answer.found>[0]]
    return { is: 'resolving', error: latch(turn, tree, latchKey, { sha256, mediaType, size }) }
  }
  if (answer?.found) {
    const failure: Failure = {
      code: 'content.not-found',
      text: `${tree.ref.name} has nothing under the tag ${what.tag}`,
    }
    return { is: 'resolving', error: recall(turn, tree, failure) }
  }
  return { is: 'resolving', error: answer?.error }
}

function askDownload(turn: Turn, tree: Tree, latchKey: string, via: string): Root {
  const { state } = turn
  const status = state.inputs.downloadStatus.get(via)
  const blob = state.blobs.get(via)
  const isDone = status?.state === 'downloaded' && !status.expired && blob?.state === 'downloaded'
  if (!isDone || !status.sha256) return { is: 'downloading', via, error: blob?.error }
  const { sha256, currentSize } = status
  return { is: 'downloading', via, error: latch(turn, tree, latchKey, { sha256, size: currentSize }) }
}

/** Asks the downloader, and goes on asking until nobody wants to know. */
export function resolve(turn: Turn, tree: Tree, source: Source, what: ResolveConfig['what']) {
  const { state } = turn
  const key = resolveKeyOf(source, what)
  tree.resolveKeys.add(key)
  const users = state.resolveUsers.get(key) ?? new Set()
  state.resolveUsers.set(key, users.add(tree.key))
  publish(turn, 'resolveConfig', key, { source, what, counter: 0 })
  return state.inputs.resolveStatus.get(key)
}

/** Stops asking what was asked before and is not any more. */
export function stopResolving(turn: Turn, tree: Tree, before: ReadonlySet<string>) {
  const { state } = turn
  for (const key of before) {
    if (tree.resolveKeys.has(key)) continue
    const users = state.resolveUsers.get(key)
    users?.delete(tree.key)
    if (users && users.size > 0) continue
    state.resolveUsers.delete(key)
    retract(turn, 'resolveConfig', key)
  }
}

/** Starts to write it down; the error is that of the last try. */
export function latch(turn: Turn, tree: Tree, key: string, value: Latch): ContentError | undefined {
  const { state } = turn
  const error = state.latchErrors.get(key)
  const isWaiting = error?.retryAt !== undefined && Date.parse(error.retryAt) > turn.now.wall
  if (isWaiting) setTimer(turn, `tree ${tree.key}`, turn.now.monotonic + latchRetryMs)
  else if (!state.latching.has(key)) {
    state.latching.set(key, value)
    turn.effects.push({ do: 'latch', key, latch: value })
  }
  return error
}

/** What a try to write it down came to. */
export function latched(turn: Turn, key: string, value: Latch, failure: Failure | null) {
  const { state } = turn
  state.latching.delete(key)
  if (failure) state.latchErrors.set(key, errorOf(turn, failure, state.latchErrors.get(key), latchRetryMs))
  else {
    state.latchErrors.delete(key)
    state.latches.set(key, value)
  }
  const users = state.latchUsers.get(key)
  for (const tree of users ?? []) state.dirty.tree.add(tree)
  if (!users && !failure) unlatch(turn, key)
}

/** A latch lives as long as somebody uses it. */
export function useLatch(turn: Turn, tree: Tree, which: 'latchKey' | 'signatureLatchKey', key: string | null) {
  const { state } = turn
  const before = tree[which]
  if (before === key) return
  tree[which] = key
  if (key !== null) state.latchUsers.set(key, (state.latchUsers.get(key) ?? new Set()).add(tree.key))
  if (before === null) return
  const users = state.latchUsers.get(before)
  users?.delete(tree.key)
  if (users && users.size > 0) return
  state.latchUsers.delete(before)
  state.latchErrors.delete(before)
  if (state.latches.has(before)) unlatch(turn, before)
}

export function unlatch({ state, effects }: Turn, key: string) {
  state.latches.delete(key)
  effects.push({ do: 'unlatch', key })
}
