// Takes news into the state and marks those whom it concerns; decides nothing. Puts of a batch come before its deletes.
import type { CertConfig, ContentRef, ManagerSettings, Sha256, VolumeConfig } from '../../content/messages.ts'
import type { TopicName } from '../../content/topics.ts'
import { unreachable } from '../../lib/errors.ts'
import { certTreeKey, identityOf } from './keys.ts'
import type { Turn } from './model.ts'
import { newBlob } from './plan-blob.ts'
import { foundDestroyed, foundJob } from './plan-gc.ts'
import { imageJob, imageJobEnded, newImage } from './plan-image.ts'
import { latched } from './plan-root.ts'
import { dropTree, wantTree } from './plan-tree.ts'
import { volumeJob, volumeJobEnded } from './plan-volume.ts'
import type { FoundVolume, Gone, Put, Scan, SwitchboardEvent } from './protocol.ts'
import { publish, retract } from './publish.ts'
import { errorOf, setTimer } from './trouble.ts'
import { foundKey, foundStatus } from './volume-status.ts'

const rereadMs = 10_000

export function takeEvent(turn: Turn, event: SwitchboardEvent) {
  const { state } = turn
  switch (event.on) {
    case 'changes':
      for (const put of event.puts) takePut(turn, put)
      for (const gone of event.deletes) takeDelete(turn, gone)
      return
    case 'complete':
      return takeComplete(turn, event.topics)
    case 'scanned':
      return takeScan(turn, event.scan)
    case 'space':
      return takeSpace(turn, event)
    case 'manifest':
      return takeManifest(turn, event)
    case 'latched': {
      const value = state.latching.get(event.key)
      if (value) latched(turn, event.key, value, event.outcome.ok ? null : event.outcome.failure)
      return
    }
    case 'ended':
      return takeEnd(turn, event)
    case 'tick':
      return
    default:
      return unreachable(event)
  }
}

/** Everything that is asked for and everything that is there, when it is known for the first time. */
export function takeRequests(turn: Turn) {
  const { state } = turn
  const { contentConfig, certConfig, verifyStatus } = state.inputs
  for (const key of contentConfig.keys()) touchContent(turn, key)
  for (const key of certConfig.keys()) touchCert(turn, key)
  for (const identity of state.claims.keys()) state.dirty.volume.add(identity)
  for (const sha256 of verifyStatus.keys()) touchBlob(turn, sha256)
  for (const name of state.found.keys()) state.dirty.found.add(name)
  for (const name of state.images.keys()) state.dirty.image.add(name)
}

function takePut(turn: Turn, put: Put) {
  const { inputs } = turn.state
  switch (put.topic) {
    case 'contentConfig':
      inputs.contentConfig.set(put.key, put.value)
      return touchContent(turn, put.key)
    case 'volumeConfig':
      return setClaim(turn, put.key, put.value)
    case 'certConfig':
      inputs.certConfig.set(put.key, put.value)
      return touchCert(turn, put.key)
    case 'downloadStatus':
      inputs.downloadStatus.set(put.key, put.value)
      return touch(turn, put)
    case 'verifyStatus':
      inputs.verifyStatus.set(put.key, put.value)
      return touchBlob(turn, put.key)
    case 'resolveStatus':
      inputs.resolveStatus.set(put.key, put.value)
      return touch(turn, put)
    case 'signatureStatus':
      inputs.signatureStatus.set(put.key, put.value)
      return touch(turn, put)
    case 'managerSettings':
      return takeSettings(turn, put.value)
  }
}

function takeDelete(turn: Turn, gone: Gone) {
  const { inputs } = turn.state
  switch (gone.topic) {
    case 'contentConfig':
      inputs.contentConfig.delete(gone.key)
      return dropTree(turn, gone.key)
    case 'volumeConfig':
      return setClaim(turn, gone.key, null)
    case 'certConfig':
      inputs.certConfig.delete(gone.key)
      return touchCert(turn, gone.key)
    case 'verifyStatus':
      turn.effects.push({ do: 'measure' })
      inputs.verifyStatus.delete(gone.key)
      return touch(turn, gone)
    case 'downloadStatus':
    case 'resolveStatus':
    case 'signatureStatus':
      inputs[gone.topic].delete(gone.key)
      return touch(turn, gone)
  }
}

/** Those who look at a status of another process. */
function touch({ state }: Turn, { topic, key }: Gone) {
  if (topic === 'resolveStatus') for (const tree of state.resolveUsers.get(key) ?? []) state.dirty.tree.add(tree)
  else if (topic === 'signatureStatus') state.dirty.tree.add(key)
  else state.dirty.blob.add(key)
}

function touchBlob({ state }: Turn, sha256: string) {
  if (!state.isReady) return
  if (!state.blobs.has(sha256)) state.blobs.set(sha256, newBlob(sha256, sha256 as Sha256))
  state.dirty.blob.add(sha256)
}

function touchContent(turn: Turn, key: string) {
  const config = turn.state.inputs.contentConfig.get(key)
  if (!turn.state.isReady || !config) return
  const { ref, until, scope, id } = config
  wantTree(turn, key, { owner: { kind: 'content', key }, ref, until, scope, id, isActive: true })
}

function setClaim({ state }: Turn, key: string, config: VolumeConfig | null) {
  const before = state.inputs.volumeConfig.get(key)
  if (before) {
    const identity = identityOf(before)
    const claims = state.claims.get(identity)
    claims?.delete(key)
    if (claims?.size === 0) state.claims.delete(identity)
    state.dirty.volume.add(identity)
  }
  if (!config) {
    state.inputs.volumeConfig.delete(key)
    return
  }
  state.inputs.volumeConfig.set(key, config)
  const identity = identityOf(config)
  state.claims.set(identity, (state.claims.get(identity) ?? new Set()).add(key))
  state.dirty.volume.add(identity)
}

/** A certificate comes with its request, or is fetched and verified like any file. */
function touchCert(turn: Turn, id: string) {
  if (!turn.state.isReady) return
  const config = turn.state.inputs.certConfig.get(id)
  if (config?.from.kind === 'content') {
    wantTree(turn, certTreeKey(id), {
      owner: { kind: 'cert', id },
      ref: certRef(config, config.from.sources),
      until: 'verified',
      scope: 'certs',
      id,
      isActive: true,
    })
    return
  }
  dropTree(turn, certTreeKey(id))
  if (config?.from.kind === 'inline') publish(turn, 'certMaterial', id, { pem: config.from.pem })
  else retract(turn, 'certMaterial', id)
}

const certRef = ({ id, sha256 }: CertConfig, sources: ContentRef['sources']): ContentRef => ({
  name: `certificate ${id}`,
  sources,
  ...(sha256 && { sha256 }),
  size: 0,
  platform: { os: 'linux', architecture: 'any' },
  trust: { policy: 'none', keys: [], certificates: [] },
})

function takeSettings({ state }: Turn, settings: ManagerSettings) {
  state.settings = settings
  for (const key of state.blobs.keys()) state.dirty.blob.add(key)
  for (const identity of state.volumes.keys()) state.dirty.volume.add(identity)
  for (const name of state.found.keys()) state.dirty.found.add(name)
}

function takeComplete({ state }: Turn, topics: ReadonlySet<TopicName>) {
  const isNews = topics.has('verifyStatus') && !state.complete.has('verifyStatus')
  state.complete = topics
  if (isNews) for (const key of state.blobs.keys()) state.dirty.blob.add(key)
}

function takeScan(turn: Turn, scan: Scan) {
  const { state, now } = turn
  state.isScanned = true
  state.gcStart = scan.gcStart
  for (const [key, latch] of scan.latches) state.latches.set(key, latch)
  for (const [sha256, due] of scan.deferred) state.deferred.set(sha256, due)
  for (const [volume, purges] of scan.purges) state.purges.set(volume, purges)
  for (const name of scan.loaded) state.images.set(name, { ...newImage(name), state: 'loaded', isUnsure: true })
  for (const volume of scan.volumes) {
    const key = freeKey(turn, volume)
    const found = { key, volume, foundAt: now, deadline: null, isDestroying: false, trouble: null, isHeld: false }
    state.found.set(volume.name, found)
    publish(turn, 'volumeStatus', key, foundStatus(found))
  }
}

/** Two volumes may differ in their format only. */
function freeKey({ state }: Turn, volume: FoundVolume): string {
  const key = foundKey(volume)
  return state.published.volumeStatus.has(key) ? `${key}.${volume.parsed.format ?? 'directory'}` : key
}

function takeSpace({ state }: Turn, { free, total }: { free: number; total: number }) {
  const isMore = free > (state.space?.free ?? 0)
  state.space = { free, total }
  if (!isMore) return
  // What could not be written down may be now.
  for (const key of state.latchErrors.keys()) {
    state.latchErrors.delete(key)
    for (const tree of state.latchUsers.get(key) ?? []) state.dirty.tree.add(tree)
  }
}

function takeManifest(turn: Turn, { sha256, read }: SwitchboardEvent & { on: 'manifest' }) {
  const { state } = turn
  const blob = state.blobs.get(sha256)
  if (!blob || !state.manifests.has(sha256)) return
  if ('passing' in read) {
    state.manifests.set(sha256, { is: 'failed', error: errorOf(turn, read.passing, null, rereadMs) })
    setTimer(turn, `manifest ${sha256}`, turn.now.monotonic + rereadMs)
  } else state.manifests.set(sha256, { is: 'read', parsed: read })
  for (const tree of blob.wants.keys()) state.dirty.tree.add(tree)
}

function takeEnd(turn: Turn, { job, outcome }: SwitchboardEvent & { on: 'ended' }) {
  const { state } = turn
  const key = job.slice(job.indexOf(' ') + 1)
  const failure = outcome.ok ? null : outcome.failure
  const volume = state.volumes.get(key)
  if (volume && job === volumeJob(key)) return volumeJobEnded(turn, volume, outcome)
  const image = state.images.get(key)
  if (image && job === imageJob(key)) return imageJobEnded(turn, image, failure)
  const found = state.found.get(key)
  if (found && job === foundJob(key)) foundDestroyed(turn, found, failure)
}
