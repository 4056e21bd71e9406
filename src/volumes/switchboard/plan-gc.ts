// What goes, and when: verified blobs that nobody wants, and volumes that were found on disk and nobody claimed. Each has a
// deadline of its own, counted on the monotonic clock from the first complete set of requests, and nothing moves it.
// Never: what is wanted, names that do not parse (they are not even here), anything in maintenance.
import type { Blob, Found, Turn } from './model.ts'
import { releaseDownload } from './plan-download.ts'
import type { Failure, Instant } from './protocol.ts'
import { publish, published, retract } from './publish.ts'
import { isOver, moreTrouble, setTimer } from './trouble.ts'
import { foundStatus } from './volume-status.ts'

/** Tries to remove something; then it is left, visible. */
export const destroyPatience = { firstMs: 1000, mostMs: 600_000, tries: 12 }

export function planUnwanted(turn: Turn, blob: Blob) {
  const { state } = turn
  releaseDownload(turn, blob)
  blob.parked = null
  blob.notice = null
  blob.error = undefined
  blob.path = undefined
  // A tree that comes to want it has to claim it first.
  blob.state = 'initial'
  blob.wasVerified = false
  const status = blob.sha256 === null ? undefined : state.inputs.verifyStatus.get(blob.sha256)
  const config = published(turn, 'verifyConfig', blob.key)
  if (status?.expired) return retract(turn, 'verifyConfig', blob.key)
  if (status?.state === 'verified' && status.mediaType !== undefined) {
    const goes = isDue(turn, blob, status.size)
    publish(turn, 'verifyConfig', blob.key, {
      mediaType: status.mediaType,
      size: status.size,
      refs: 0,
      expired: goes,
      attempt: Math.max(blob.look, status.attempt),
    })
    return
  }
  blob.unwanted = null
  if (status) {
    // Nothing worth keeping has come of it.
    if (config) publish(turn, 'verifyConfig', blob.key, { ...config, refs: 0, expired: true })
    return
  }
  if (config && !state.complete.has('verifyStatus'))
    return publish(turn, 'verifyConfig', blob.key, { ...config, refs: 0 })
  retract(turn, 'verifyConfig', blob.key)
  if (!published(turn, 'downloadConfig', blob.key)) forget(turn, blob)
}

/** Sets the deadline when there is none. Space pressure may have decided that it goes before. */
function isDue(turn: Turn, blob: Blob, size: number): boolean {
  const { state, now } = turn
  blob.size = size
  blob.unwanted ??= { sinceWall: now.wall, due: deadlineOf(turn, blob) }
  const { sinceWall, due } = blob.unwanted
  if (state.settings.maintenance || !state.hasWalked || state.gcStart === null) {
    blob.isExpiring = false
    return false
  }
  if (blob.isExpiring || due <= now.monotonic || isAskedAway(turn, sinceWall)) {
    blob.isExpiring = true
    return true
  }
  setTimer(turn, `blob ${blob.key}`, due)
  return false
}

/** One that was there before anyone could want it has until volumes go; one that was let go, the delay of the settings. */
function deadlineOf(turn: Turn, blob: Blob): number {
  const { state, now } = turn
  const { deleteDelaySeconds, gcVolumeSeconds } = state.settings
  const noted = state.deferred.get(blob.key)
  // A clock that jumped makes it neither immortal nor overdue by years.
  if (noted !== undefined) return now.monotonic + Math.min(Math.max(noted - now.wall, 0), deleteDelaySeconds * 1000)
  if (blob.isNew) return (state.gcStart ?? now.monotonic) + gcVolumeSeconds * 1000
  const due = now.wall + deleteDelaySeconds * 1000
  if (deleteDelaySeconds > 0) {
    state.deferred.set(blob.key, due)
    turn.effects.push({ do: 'defer delete', sha256: blob.key, due })
  }
  return now.monotonic + deleteDelaySeconds * 1000
}

/** Somebody asked that all goes which was of no use at that time. */
function isAskedAway({ state }: Turn, sinceWall: number): boolean {
  const { collectBefore } = state.settings
  return collectBefore !== undefined && sinceWall <= Date.parse(collectBefore)
}

function forget(turn: Turn, blob: Blob) {
  const { state } = turn
  if (state.deferred.delete(blob.key)) turn.effects.push({ do: 'forget delete', sha256: blob.key })
  if (blob.sha256) state.manifests.delete(blob.sha256)
  state.timers.delete(`blob ${blob.key}`)
  state.waiting.delete(`blob ${blob.key}`)
  state.blobs.delete(blob.key)
}

export function planFound(turn: Turn, name: string) {
  const { state, now } = turn
  const found = state.found.get(name)
  if (!found || state.gcStart === null) return
  found.deadline ??= deadlineOfFound(state.gcStart + state.settings.gcVolumeSeconds * 1000, now)
  publish(turn, 'volumeStatus', found.key, foundStatus(found))
  if (found.isDestroying || found.isHeld || state.settings.maintenance) return
  const isDue = found.deadline.monotonic <= now.monotonic || isAskedAway(turn, found.foundAt.wall)
  if (!isDue) setTimer(turn, `found ${name}`, found.deadline.monotonic)
  else if (isOver(turn, found.trouble)) {
    found.isDestroying = true
    turn.effects.push({ do: 'destroy', job: foundJob(name), path: found.volume.path, what: whatOf(found) })
  } else if (found.trouble!.retryAt !== null) setTimer(turn, `found ${name}`, found.trouble!.retryAt!)
}

/** The job that removes it has ended. */
export function foundDestroyed(turn: Turn, found: Found, failure: Failure | null) {
  const { state } = turn
  const { name } = found.volume
  found.isDestroying = false
  if (failure) {
    found.trouble = moreTrouble(turn, found.trouble, failure, destroyPatience)
    state.dirty.found.add(name)
    return
  }
  forgetFound(turn, found)
  turn.effects.push({ do: 'forget record', name }, { do: 'measure' })
  for (const [identity, { place }] of state.volumes) if (!place) state.dirty.volume.add(identity)
}

/** No longer in scope `unknown`: gone, or claimed. */
export function forgetFound(turn: Turn, { volume, key }: Found) {
  const { state } = turn
  state.found.delete(volume.name)
  state.timers.delete(`found ${volume.name}`)
  retract(turn, 'volumeStatus', key)
}

export const foundJob = (name: string): string => `found ${name}`

const deadlineOfFound = (monotonic: number, now: Instant) => ({
  monotonic,
  wall: now.wall + Math.max(monotonic - now.monotonic, 0),
})

const whatOf = ({ volume }: Found) => ({
  origin: volume.record?.origin ?? ('download' as const),
  kind: volume.record?.kind ?? (volume.isDirectory ? ('container' as const) : ('disk' as const)),
})
