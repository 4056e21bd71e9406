// The switchboard: whatever happens, it looks at what changed and at those who refer to it, and says what is to be done.
// Pure: no clock, no disk, no chance. The state belongs to it and is changed in place. A second run without news has no
// effects; puts and deletes of one batch count together, so that what only changes its referent is not dropped.
import type { Dirty, Switchboard, Turn } from './model.ts'
import { ownTopics } from './model.ts'
import { planBlob } from './plan-blob.ts'
import { planFound } from './plan-gc.ts'
import { planImage } from './plan-image.ts'
import { unlatch } from './plan-root.ts'
import { wakeWaiting } from './plan-space.ts'
import { planTree } from './plan-tree.ts'
import { planVolume } from './plan-volume.ts'
import type { Effect, SwitchboardEvent } from './protocol.ts'
import { planReread } from './read-manifest.ts'
import { takeEvent, takeRequests } from './take-event.ts'

export function reduce(state: Switchboard, event: SwitchboardEvent): Effect[] {
  const turn: Turn = { state, now: event.now, effects: [] }
  takeEvent(turn, event)
  if (!state.isReady && knowsEnough(state)) begin(turn)
  if (!state.isReady) return turn.effects
  fireTimers(turn)
  settle(turn)
  if (!state.hasWalked && !isWalking(state)) tellAll(turn)
  setWake(turn)
  return turn.effects
}

/** Nothing is fetched before it is known what is there and what is asked for: it would be fetched again. */
const knowsEnough = ({ isScanned, space, complete }: Switchboard): boolean =>
  isScanned &&
  space !== null &&
  (['verifyStatus', 'contentConfig', 'volumeConfig'] as const).every(topic => complete.has(topic))

function begin(turn: Turn) {
  const { state, now, effects } = turn
  state.isReady = true
  if (state.gcStart === null) {
    state.gcStart = now.monotonic
    effects.push({ do: 'note gc start', monotonic: now.monotonic })
  }
  takeRequests(turn)
  settle(turn)
  // What is left of requests that are gone.
  for (const key of state.latches.keys()) if (!state.latchUsers.has(key)) unlatch(turn, key)
  for (const sha256 of state.deferred.keys()) {
    if (state.blobs.has(sha256)) continue
    state.deferred.delete(sha256)
    effects.push({ do: 'forget delete', sha256 })
  }
}

const isWalking = ({ manifests }: Switchboard): boolean => manifests.values().some(({ is }) => is === 'being read')

/** What a manifest names is wanted too, so that before this nobody may conclude from what is not there. */
function tellAll(turn: Turn) {
  const { state, effects } = turn
  state.hasWalked = true
  for (const key of state.blobs.keys()) state.dirty.blob.add(key)
  settle(turn)
  effects.push({ do: 'complete', topics: ownTopics })
}

// Volumes first: what is on disk already needs no tree. Each plan marks only those for whom it changed something, so this ends.
const planners: readonly (readonly [keyof Dirty, (turn: Turn, key: string) => void])[] = [
  ['manifest', planReread],
  ['volume', planVolume],
  ['tree', planTree],
  ['blob', planBlob],
  ['image', planImage],
  ['found', planFound],
]

function settle(turn: Turn) {
  const { dirty } = turn.state
  for (;;) {
    wakeWaiting(turn)
    if (planners.every(([kind]) => dirty[kind].size === 0)) return
    for (const [kind, plan] of planners) {
      const keys = [...dirty[kind]]
      dirty[kind].clear()
      for (const key of keys) plan(turn, key)
    }
  }
}

function fireTimers({ state, now }: Turn) {
  if (now.monotonic < state.wakeAt) return
  for (const [entity, at] of state.timers) {
    if (at > now.monotonic) continue
    state.timers.delete(entity)
    const space = entity.indexOf(' ')
    state.dirty[entity.slice(0, space) as keyof Dirty].add(entity.slice(space + 1))
  }
}

function setWake({ state, effects }: Turn) {
  let first = Number.POSITIVE_INFINITY
  for (const at of state.timers.values()) if (at < first) first = at
  if (first === state.wakeAt) return
  state.wakeAt = first
  if (first !== Number.POSITIVE_INFINITY) effects.push({ do: 'wake', at: first })
}
