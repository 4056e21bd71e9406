// The manager's side of a download: ask for it while it is needed, then let go in two steps, so that a file which somebody
// asks for again in between is not lost: refs 0, the downloader answers `expired`, the config goes, the file goes.
import type { DownloadConfig, DownloadStatus } from '../../content/messages.ts'
import { maxManifestSize } from '../../content/oci/manifest.ts'
import type { Source } from '../../content/source.ts'
import { canonicalJson } from '../../lib/json.ts'
import { targetOf } from './keys.ts'
import type { Blob, Turn, Want } from './model.ts'
import { askForRoom, holdRoom, roomIn } from './plan-space.ts'
import { publish, published, retract } from './publish.ts'
import { errorOf } from './trouble.ts'

/** In the order of their trees, so that it is the same after a restart. */
export function wantsInOrder(blob: Blob): Want[] {
  if (blob.wants.size === 1) return [...blob.wants.values()]
  return [...blob.wants].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, want]) => want)
}

export function allSources(wants: readonly Want[]): readonly Source[] {
  if (wants.length === 1) return wants[0]!.sources
  const seen = new Map<string, Source>()
  for (const { sources } of wants) for (const source of sources) seen.set(canonicalJson(source), source)
  return [...seen.values()].slice(0, 32)
}

/** What all who want it say; 0 when they differ, so that one who is wrong does not spoil it for the others. */
export function agreedSize(wants: readonly Want[]): number {
  const said = new Set(wants.map(({ size }) => size).filter(size => size > 0))
  return said.size === 1 ? [...said][0]! : 0
}

/** The bytes are in `target`, all of them, from the download that is wanted now. */
export function isDownloaded({ state }: Turn, blob: Blob): boolean {
  const status = state.inputs.downloadStatus.get(blob.key)
  return (
    status !== undefined &&
    blob.target !== null &&
    status.state === 'downloaded' &&
    !status.expired &&
    status.attempt >= blob.attempt
  )
}

/** Asks, or goes on asking. Tells in the blob how far it is. */
export function wantDownload(turn: Turn, blob: Blob) {
  const { state } = turn
  const wants = wantsInOrder(blob)
  const size = agreedSize(wants)
  const status = state.inputs.downloadStatus.get(blob.key)
  const known = size || status?.totalSize || 0
  const isCurrent = status !== undefined && status.attempt >= blob.attempt && !status.expired
  const done = isCurrent ? status.currentSize : 0
  blob.size = known
  blob.currentSize = done

  const before = published(turn, 'downloadConfig', blob.key)
  const needed = remaining(known, done)
  if (before && before.refs > 0) holdRoom(turn, blob, needed)
  else {
    const failure = askForRoom(turn, blob, `blob ${blob.key}`, needed)
    if (failure) {
      blob.error = errorOf(turn, failure, blob.error)
      return
    }
  }
  const sources = allSources(wants)
  if (blob.target === null) {
    blob.attempt = Math.max(blob.attempt, status?.attempt ?? 0)
    blob.target = targetOf(state.pending, blob.key, { sources: wants[0]!.sources, size: wants[0]!.size })
    blob.limit = limitOf(turn, blob, wants[0]!, size)
  }
  publish(turn, 'downloadConfig', blob.key, configOf(blob, wants, { sources, size }))
  blob.state = isDownloaded(turn, blob) ? 'downloaded' : 'downloading'
  blob.error = errorIn(status, isCurrent) ?? blob.notice ?? undefined
}

/** Needs no download, or none any more. */
export function releaseDownload(turn: Turn, blob: Blob) {
  const { state } = turn
  if (blob.reserved > 0) holdRoom(turn, blob, 0)
  state.waiting.delete(`blob ${blob.key}`)
  const config = published(turn, 'downloadConfig', blob.key)
  if (!config) return
  if (config.refs > 0) publish(turn, 'downloadConfig', blob.key, { ...config, refs: 0 })
  if (state.inputs.downloadStatus.get(blob.key)?.expired !== true) return
  retract(turn, 'downloadConfig', blob.key)
  blob.target = null
  turn.effects.push({ do: 'measure' })
}

const errorIn = (status: DownloadStatus | undefined, isCurrent: boolean) => (isCurrent ? status?.error : undefined)

/** Room without which a download of unknown size is not begun; its limit is what there is then. */
const leastRoom = 64 * 1024

/** What is still to come, and the verifier's copy of all of it. */
const remaining = (size: number, done: number): number => (size === 0 ? leastRoom : Math.max(size - done, 0) + size)

function limitOf({ state }: Turn, blob: Blob, want: Want, size: number): number {
  if (size > 0) return size
  const room = Math.max(roomIn(state) + blob.reserved, 0)
  return want.as === 'manifest' ? Math.min(room, maxManifestSize) : room
}

function configOf(
  blob: Blob,
  wants: readonly Want[],
  { sources, size }: { sources: readonly Source[]; size: number },
): DownloadConfig {
  const { name, as, mediaType } = wants[0]!
  return {
    name,
    ...(blob.sha256 && { sha256: blob.sha256 }),
    as,
    ...(mediaType && { mediaType }),
    sources: [...sources],
    target: blob.target!,
    size,
    limit: size > 0 ? size : blob.limit,
    refs: wants.length,
    attempt: blob.attempt,
  }
}
