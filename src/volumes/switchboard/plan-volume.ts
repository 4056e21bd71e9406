// What happens next to one volume: claimed ones are found on disk, or follow their tree and are made when it is ready; those
// that nobody claims any more are cancelled, destroyed, and only then forgotten. A made volume is never changed by a config
// that contradicts it: that takes a new generation.
import type { VolumeConfig } from '../../content/messages.ts'
import { reached, type State } from '../../content/state.ts'
import { formatVolumeName, type VolumeRecord } from '../names.ts'
import { volumeTreeKey } from './keys.ts'
import type { Turn, Volume } from './model.ts'
import { destroyPatience } from './plan-gc.ts'
import { promote } from './plan-promotion.ts'
import { askForRoom, holdRoom } from './plan-space.ts'
import { dropTree, wantTree } from './plan-tree.ts'
import type { Failure, Made, Outcome } from './protocol.ts'
import { retract } from './publish.ts'
import { showVolume } from './show-volume.ts'
import { errorOf, isOfTheBytes, isOver, moreTrouble, setTimer } from './trouble.ts'
import { contradictions, leadingClaim } from './volume-claims.ts'

const createPatience = { firstMs: 5000, mostMs: 600_000, tries: Number.POSITIVE_INFINITY }
const noPatience = { ...createPatience, tries: 0 }

export function planVolume(turn: Turn, identity: string) {
  const { state } = turn
  const claims = claimsOf(turn, identity)
  const volume = state.volumes.get(identity)
  if (claims.size === 0) {
    if (volume) planRemoval(turn, volume)
    return
  }
  const live = volume ?? newVolume(turn, identity, claims)
  live.leader = leadingClaim(claims, live.leader)
  // What is being removed is removed to its end, even when somebody wants it again.
  if (live.isDoomed || live.job?.isCancelled) return planRemoval(turn, live)
  if (!live.job) {
    take(turn, live, claims.get(live.leader)!)
    planClaimed(turn, live, claims)
  }
  showVolume(turn, live, claims)
}

export const volumeJob = (identity: string): string => `volume ${identity}`

function claimsOf({ state }: Turn, identity: string): ReadonlyMap<string, VolumeConfig> {
  const keys = [...(state.claims.get(identity) ?? [])].sort()
  return new Map(keys.map(key => [key, state.inputs.volumeConfig.get(key)!]))
}

function newVolume({ state }: Turn, identity: string, claims: ReadonlyMap<string, VolumeConfig>): Volume {
  const leader = leadingClaim(claims, null)
  const volume: Volume = {
    identity,
    leader,
    config: claims.get(leader)!,
    place: null,
    job: null,
    isDoomed: false,
    trouble: null,
    refusal: null,
    holds: null,
    claimErrors: new Map(),
    reserved: 0,
    state: 'initial',
    shown: new Map(),
  }
  state.volumes.set(identity, volume)
  return volume
}

/** A config counts when it does not contradict what is made already. */
function take(turn: Turn, volume: Volume, config: VolumeConfig) {
  if (volume.place) {
    const wrong = contradictions(config, volume.place.record, volume.config)
    volume.refusal = wrong.length === 0 ? null : errorOf(turn, generationRequired(config, wrong), volume.refusal)
    if (volume.refusal) return
  }
  // What failed for good under another config may work under this one.
  if (volume.config !== config && volume.trouble?.retryAt === null) volume.trouble = null
  volume.config = config
}

const generationRequired = ({ displayName, id }: VolumeConfig, wrong: readonly string[]): Failure => ({
  code: 'volume.generation-required',
  text: `${wrong.join(', ')} of ${displayName || id} cannot change once it is made; that takes a new generation`,
})

function planClaimed(turn: Turn, volume: Volume, claims: ReadonlyMap<string, VolumeConfig>) {
  const { config } = volume
  // A reader's disk is the verified file itself; a writer needs a copy.
  if (volume.place?.isInPlace && !config.readOnly) volume.place = null
  const mayMake = volume.place !== null || claimFromDisk(turn, volume)
  followTree(turn, volume)
  if (volume.place) planMade(turn, volume)
  else if (mayMake) planMissing(turn, volume, claims)
}

/** False when something of that name is in the way. */
function claimFromDisk(turn: Turn, volume: Volume): boolean {
  const { config } = volume
  free(turn, volume)
  const promotion = promote(turn, volume, nameOf(turn, config), recordOf(turn, config, config.content?.sha256))
  volume.refusal =
    promotion.is === 'refused' ? errorOf(turn, generationRequired(config, promotion.wrong), volume.refusal) : null
  return promotion.is === 'nothing there' || promotion.is === 'promoted'
}

/** The tree is held while the volume is not made, and for as long as the volume is the verified file. */
function followTree(turn: Turn, volume: Volume) {
  const { identity, config, place, refusal } = volume
  if (config.origin !== 'download' || !config.content) return
  wantTree(turn, volumeTreeKey(identity), {
    owner: { kind: 'volume', identity },
    ref: config.content,
    until: config.kind === 'container' && !config.verifyOnly ? 'loaded' : 'verified',
    scope: config.scope,
    id: identity,
    isActive: place === null ? refusal === null : place.isInPlace,
  })
}

function planMade(turn: Turn, volume: Volume) {
  const { config, identity, refusal } = volume
  const place = volume.place!
  volume.state = place.needsAttach ? 'creating' : 'created'
  if (place.isInPlace) return followFile(turn, volume)
  const mustGrow = refusal === null && config.maxSize > place.record.size && config.origin !== 'cloud-init'
  if (!place.needsAttach && !mustGrow) return
  if (!isOver(turn, volume.trouble)) return waitForRetry(turn, volume)
  const { name, path, record } = place
  if (place.needsAttach) {
    volume.job = { kind: 'attach', name, record, isCancelled: false }
    turn.effects.push({ do: 'attach', job: volumeJob(identity), path })
    return
  }
  volume.job = { kind: 'grow', name, record: { ...record, size: config.maxSize }, isCancelled: false }
  turn.effects.push({ do: 'grow', job: volumeJob(identity), path, config })
}

/** When the verified file is gone, so is the volume, until it is there again. */
function followFile(turn: Turn, volume: Volume) {
  const content = contentOf(turn, volume)
  if (content && reached(content.state, 'verified') && content.blobs.some(({ path }) => path === volume.place!.path))
    return
  volume.place = null
  volume.state = content?.state ?? 'initial'
}

function planMissing(turn: Turn, volume: Volume, claims: ReadonlyMap<string, VolumeConfig>) {
  const { config, identity } = volume
  const content = contentOf(turn, volume)
  volume.state = content?.state ?? 'initial'
  if (config.verifyOnly || (config.origin === 'download' && !isReady(config, content?.state))) return
  if (!isOver(turn, volume.trouble)) return waitForRetry(turn, volume)
  const refused = roomForCreate(turn, volume, content?.totalSize ?? 0)
  if (refused) {
    // Tried again when there is more room, not when time has passed.
    volume.trouble = { error: errorOf(turn, refused, volume.trouble?.error), tries: 0, retryAt: turn.now.monotonic }
    return
  }
  // The audit trail has the content verified before anything is made of it.
  showVolume(turn, volume, claims)
  volume.state = 'creating'
  const name = nameOf(turn, config)
  volume.job = { kind: 'create', name, record: recordOf(turn, config, content?.sha256), isCancelled: false }
  turn.effects.push({ do: 'create', job: volumeJob(identity), name, config, ...(content && { content }) })
}

const contentOf = ({ state }: Turn, { identity }: Volume) => state.trees.get(volumeTreeKey(identity))?.status

const isReady = ({ kind }: VolumeConfig, state: State | undefined): boolean =>
  state !== undefined && reached(state, kind === 'container' ? 'loaded' : 'verified')

/** A blank disk is sparse and a read-only one is no copy: neither takes room when it is made. */
function roomForCreate(turn: Turn, volume: Volume, contentSize: number): Failure | null {
  const { origin, kind, readOnly, maxSize } = volume.config
  if (origin !== 'download' || (kind === 'disk' && readOnly)) return null
  return askForRoom(turn, volume, `volume ${volume.identity}`, Math.max(maxSize, contentSize))
}

const nameOf = ({ state }: Turn, { owner, id, generation, kind, format }: VolumeConfig): string =>
  formatVolumeName({
    owner,
    id,
    generation: generation + (state.purges.get(`${owner}+${id}`) ?? 0),
    ...(kind === 'disk' && { format }),
  })

function recordOf({ now }: Turn, config: VolumeConfig, sha256: VolumeRecord['sha256']): VolumeRecord {
  const { origin, maxSize, displayName, kind, format, readOnly } = config
  const created = new Date(now.wall).toISOString()
  return { version: 1, origin, ...(sha256 && { sha256 }), size: maxSize, created, displayName, kind, format, readOnly }
}

function waitForRetry(turn: Turn, volume: Volume) {
  const { retryAt } = volume.trouble!
  if (retryAt !== null) setTimer(turn, `volume ${volume.identity}`, retryAt)
}

/** The job of a volume has ended; what it did is taken into account once. */
export function volumeJobEnded(turn: Turn, volume: Volume, outcome: Outcome<Partial<Made>>) {
  const { state, effects } = turn
  const { job, identity, place } = volume
  if (!job) return
  volume.job = null
  state.dirty.volume.add(identity)
  holdRoom(turn, volume, 0)
  state.waiting.delete(`volume ${identity}`)
  if (!outcome.ok) {
    if (!job.isCancelled)
      volume.trouble = moreTrouble(turn, volume.trouble, outcome.failure, patienceFor(job.kind, outcome.failure))
    return
  }
  volume.trouble = null
  if (job.kind === 'destroy') {
    effects.push({ do: 'forget record', name: job.name }, { do: 'measure' })
    volume.place = null
    volume.isDoomed = false
    return
  }
  const { name, record } = job
  const { path = place?.path ?? '', usedSize = place?.usedSize ?? 0 } = outcome
  const isInPlace = job.kind === 'create' && record.readOnly && record.kind === 'disk' && record.origin === 'download'
  volume.place = { preReboot: false, ...place, name, path, usedSize, record, isInPlace, needsAttach: false }
  if (job.kind !== 'attach' && !isInPlace) effects.push({ do: 'write record', name, record }, { do: 'measure' })
}

function patienceFor(kind: NonNullable<Volume['job']>['kind'], failure: Failure) {
  const { code } = failure
  if (kind === 'destroy') return destroyPatience
  const needsOtherConfig = code.startsWith('volume.') && code !== 'volume.write-failed'
  return needsOtherConfig || isOfTheBytes(failure) ? noPatience : createPatience
}

function planRemoval(turn: Turn, volume: Volume) {
  const { state, effects } = turn
  const { identity, job, place } = volume
  if (job) {
    if (job.kind === 'destroy' || job.isCancelled) return
    job.isCancelled = true
    effects.push({ do: 'cancel', job: volumeJob(identity) })
    return
  }
  if (place && !place.isInPlace) {
    if (!volume.isDoomed) volume.trouble = null
    volume.isDoomed = true
    if (isOver(turn, volume.trouble)) {
      const { origin, kind } = place.record
      volume.job = { kind: 'destroy', name: place.name, record: place.record, isCancelled: false }
      effects.push({ do: 'destroy', job: volumeJob(identity), path: place.path, what: { origin, kind } })
    } else waitForRetry(turn, volume)
    // Whoever asked last sees why it is still there.
    return showVolume(turn, volume, volume.shown)
  }
  dropTree(turn, volumeTreeKey(identity))
  holdRoom(turn, volume, 0)
  state.waiting.delete(`volume ${identity}`)
  state.timers.delete(`volume ${identity}`)
  state.volumes.delete(identity)
  for (const key of volume.shown.keys()) retract(turn, 'volumeStatus', key)
  free(turn, volume)
}

/** What contradicted the request and was held for that goes the way of the unclaimed again. */
function free({ state }: Turn, volume: Volume) {
  const found = volume.holds === null ? undefined : state.found.get(volume.holds)
  volume.holds = null
  if (!found) return
  found.isHeld = false
  state.dirty.found.add(found.volume.name)
}
