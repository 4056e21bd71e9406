// What happens next to one blob: verified is used; downloaded is verified; else it is downloaded. Decides from what the
// downloader and the verifier say now, so that lost and repeated messages do no harm.
// Holds: a file is let go only after the verifier said that it may (`expired`), and a status that says so is no content.
import type { ContentError, Sha256, VerifyConfig, VerifyStatus } from '../../content/messages.ts'
import { ociIndexType, ociManifestType } from '../../content/oci/media-types.ts'
import { canonicalJson } from '../../lib/json.ts'
import type { Blob, Turn, Want } from './model.ts'
import { agreedSize, allSources, isDownloaded, releaseDownload, wantDownload, wantsInOrder } from './plan-download.ts'
import { planUnwanted } from './plan-gc.ts'
import { publish, published, retract, same } from './publish.ts'

/** Wrong bytes or none: fetching them again may help. Everything else the verifier refuses stays refused. */
const curedByFetching: ReadonlySet<string> = new Set([
  'content.digest-mismatch',
  'content.size-mismatch',
  'content.unsafe-file',
  'content.pending-missing',
])

const manifestTypes = [
  ociIndexType,
  ociManifestType,
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]

export function planBlob(turn: Turn, key: string) {
  const { state } = turn
  const blob = state.blobs.get(key)
  if (!blob) return
  const before = viewOf(blob)
  if (blob.wants.size === 0) planUnwanted(turn, blob)
  else if (blob.sha256 === null) planUnnamed(turn, blob)
  else planWanted(turn, blob, blob.sha256)
  if (same(before, viewOf(blob))) return
  blob.views.clear()
  for (const tree of blob.wants.keys()) {
    state.dirty.tree.add(tree)
    const root = blob.sha256 === null && state.trees.get(tree)?.status.sha256
    if (root) state.dirty.blob.add(root)
  }
}

const viewOf = ({ state, size, currentSize, path, error, viaLost }: Blob) => ({
  state,
  size,
  currentSize,
  path,
  error,
  viaLost,
})

export function newBlob(key: string, sha256: Sha256 | null): Blob {
  return {
    key,
    sha256,
    wants: new Map(),
    attempt: 0,
    look: 0,
    misses: 0,
    refusedTypes: new Set(),
    parked: null,
    target: null,
    limit: 0,
    viaLost: false,
    notice: null,
    wasVerified: false,
    reserved: 0,
    unwanted: null,
    isExpiring: false,
    isNew: true,
    state: 'initial',
    size: 0,
    currentSize: 0,
    path: undefined,
    error: undefined,
    views: new Map(),
  }
}

/** It is there, and nobody is about to take it away. */
const isUsable = (status: VerifyStatus | undefined): status is VerifyStatus & { path: string; mediaType: string } =>
  status?.state === 'verified' && !status.expired && status.path !== undefined && status.mediaType !== undefined

/** A download that tells its digest in the end; the tree latches it. */
const planUnnamed = (turn: Turn, blob: Blob) => wantDownload(turn, blob)

function planWanted(turn: Turn, blob: Blob, sha256: Sha256) {
  const { state } = turn
  if (blob.unwanted && state.deferred.delete(sha256)) turn.effects.push({ do: 'forget delete', sha256 })
  blob.unwanted = null
  blob.isExpiring = false
  blob.isNew = false
  const status = state.inputs.verifyStatus.get(sha256)
  if (isUsable(status)) return useVerified(turn, blob, status)
  // Without the whole set of the verifier nothing follows from what is not there.
  if (!status && !state.complete.has('verifyStatus')) return keepRefs(turn, blob)
  blob.path = undefined
  if (status?.expired) return revive(turn, blob, status)
  if (blob.wasVerified) {
    blob.wasVerified = false
    blob.notice = { ...lost(turn), ...(status?.error && { code: status.error.code, text: status.error.text }) }
  }
  if (isStillParked(blob)) {
    keepRefs(turn, blob)
    return park(turn, blob, blob.parked!.error)
  }
  if (status?.error && status.attempt >= blob.look && judge(turn, blob, status, status.error)) return
  fetchOrVerify(turn, blob, status)
}

/** What was asked for stays as it is, for as many as want it now. */
function keepRefs(turn: Turn, blob: Blob) {
  const refs = blob.wants.size
  const verify = published(turn, 'verifyConfig', blob.key)
  if (verify) publish(turn, 'verifyConfig', blob.key, { ...verify, refs, expired: false })
  const download = published(turn, 'downloadConfig', blob.key)
  if (download && download.refs > 0) publish(turn, 'downloadConfig', blob.key, { ...download, refs })
}

function useVerified(turn: Turn, blob: Blob, status: VerifyStatus & { path: string; mediaType: string }) {
  blob.look = Math.max(blob.look, status.attempt)
  publish(turn, 'verifyConfig', blob.key, {
    mediaType: status.mediaType,
    size: status.size,
    refs: blob.wants.size,
    expired: false,
    attempt: blob.look,
  })
  blob.state = 'verified'
  blob.size = status.size
  blob.currentSize = status.size
  blob.path = status.path
  blob.error = undefined
  blob.notice = null
  blob.parked = null
  blob.misses = 0
  blob.wasVerified = true
  releaseDownload(turn, blob)
}

/** It was about to go when somebody wanted it: the verifier either keeps it or tells that it is gone. */
function revive(turn: Turn, blob: Blob, status: VerifyStatus) {
  publish(turn, 'verifyConfig', blob.key, {
    mediaType: status.mediaType ?? typeOf(turn, blob, wantsInOrder(blob)) ?? ociManifestType,
    size: status.size,
    refs: blob.wants.size,
    expired: false,
    attempt: blob.look,
  })
  blob.state = 'verifying'
}

/** True when nothing more is to be done for now. */
function judge(turn: Turn, blob: Blob, status: VerifyStatus, error: ContentError): boolean {
  if (error.code === 'content.bit-rot') {
    blob.look = status.attempt + 1
    return false
  }
  const wants = wantsInOrder(blob)
  if (error.code === 'content.media-type-mismatch' && promisedType(wants) === undefined) {
    blob.refusedTypes.add(published(turn, 'verifyConfig', blob.key)?.mediaType ?? status.mediaType ?? '')
    if (typeOf(turn, blob, wants) !== null) {
      blob.look = status.attempt + 1
      return false
    }
  }
  if (!curedByFetching.has(error.code)) {
    if (error.retryAt === undefined) {
      keepRefs(turn, blob)
      park(turn, blob, error)
      return true
    }
    return false
  }
  blob.misses += 1
  blob.look = status.attempt + 1
  retract(turn, 'verifyConfig', blob.key)
  if (blob.misses >= turn.state.settings.attempts) {
    park(turn, blob, error)
    return true
  }
  blob.notice = { ...error, severity: 'notice', retryAt: new Date(turn.now.wall).toISOString() }
  if (viaOf(blob) !== undefined) blob.viaLost = true
  else {
    blob.attempt += 1
    blob.target = null
  }
  return false
}

function fetchOrVerify(turn: Turn, blob: Blob, status: VerifyStatus | undefined) {
  const { state } = turn
  const via = viaOf(blob)
  const unnamed = via === undefined ? undefined : state.blobs.get(via)
  const told = via === undefined ? undefined : state.inputs.downloadStatus.get(via)
  if (unnamed && isDownloaded(turn, unnamed) && told!.sha256 !== blob.sha256) blob.viaLost = true
  const download = unnamed && !blob.viaLost ? unnamed : blob
  if (download === blob) wantDownload(turn, blob)
  else {
    releaseDownload(turn, blob)
    blob.size = unnamed!.size
    blob.currentSize = unnamed!.currentSize
    blob.state = unnamed!.state
    blob.error = unnamed!.error
  }
  if (!isDownloaded(turn, download)) return keepRefs(turn, blob)
  const wants = wantsInOrder(blob)
  blob.look = Math.max(blob.look, status?.attempt ?? 0)
  const config: VerifyConfig = {
    path: download.target!,
    mediaType: typeOf(turn, blob, wants) ?? ociManifestType,
    size: agreedSize(wants),
    refs: blob.wants.size,
    expired: false,
    attempt: blob.look,
  }
  publish(turn, 'verifyConfig', blob.key, config)
  blob.state = 'verifying'
  if (status?.attempt === blob.look) blob.error = status.error ?? blob.notice ?? undefined
}

/** Left alone, visible, until its sources change or nobody wants it. */
function park(turn: Turn, blob: Blob, error: ContentError) {
  const { retryAt: _, ...rest } = error
  const final: ContentError = { ...rest, severity: 'error' }
  blob.parked ??= { error: final, sources: sourcesText(blob) }
  blob.error = blob.parked.error
  blob.notice = null
  releaseDownload(turn, blob)
}

function isStillParked(blob: Blob): boolean {
  if (!blob.parked) return false
  if (blob.parked.sources === sourcesText(blob)) return true
  blob.parked = null
  blob.misses = 0
  blob.attempt += 1
  blob.target = null
  blob.look += 1
  blob.refusedTypes.clear()
  return false
}

const sourcesText = (blob: Blob): string => canonicalJson([...allSources(wantsInOrder(blob))])

const viaOf = (blob: Blob): string | undefined =>
  blob.viaLost ? undefined : wantsInOrder(blob).find(({ via }) => via !== undefined)?.via

const promisedType = (wants: readonly Want[]): string | undefined =>
  wants.find(({ mediaType }) => mediaType !== undefined)?.mediaType

/** A root without a promised type is tried as what was hinted, then as each kind of manifest: the body decides. Null: as none. */
function typeOf({ state }: Turn, blob: Blob, wants: readonly Want[]): string | null {
  const promised = promisedType(wants)
  if (promised !== undefined) return promised
  if (wants[0]!.as === 'blob') return 'application/octet-stream'
  const said = state.inputs.downloadStatus.get(blob.key)?.contentType?.replace(/;.*$/s, '').trim().toLowerCase()
  const hints = manifestTypes.filter(type => type === wants[0]!.hint || type === said)
  return [...hints, ...manifestTypes].find(type => !blob.refusedTypes.has(type)) ?? null
}

const lost = ({ now }: Turn): ContentError => ({
  code: 'content.lost',
  text: 'the verified file is gone; it is fetched again',
  severity: 'notice',
  since: new Date(now.wall).toISOString(),
  retryAt: new Date(now.wall).toISOString(),
  source: 'manager',
})
