// Brings the bytes of one config into its pending file: source after source, try after try, going on where the last one
// ended. Ends when all is there, when only time or a change can help, or when it is cancelled; what came is kept.
// Holds: the file never gets more than was promised, and bytes of a source that sends more than that are not kept.
import { messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { Failure } from '../content-error.ts'
import type { DownloadConfig, Sha256 } from '../messages.ts'
import type { ProcessContext } from '../process/context.ts'
import type { Source } from '../source.ts'
import { innerDelayMs, innerTries, longestInnerMs } from './backoff.ts'
import type { Bandwidth } from './bandwidth.ts'
import { DiskFailure } from './disk-failure.ts'
import type { Hosts } from './hosts.ts'
import { type Opened, OriginFailure, type Origins } from './origin.ts'
import { openPending, type PendingFile } from './pending-file.ts'
import { nameOfSource, sourcesInOrder } from './source-order.ts'

export interface DownloadTools extends Pick<ProcessContext, 'files' | 'durability' | 'clock' | 'random'> {
  readonly origins: Origins
  readonly hosts: Hosts
  readonly bandwidth: Bandwidth
}

export interface DownloadJob {
  readonly config: DownloadConfig
  readonly signal: AbortSignal
  /** Reads from this host now, or waits for a place there. */
  onHost(host: string | null): void
  /** True while it only waits to try again. */
  onPause(isPausing: boolean): void
  onOpened(opened: { readonly contentType: string | null }): void
  onProgress(size: number, total: number | null): void
}

export type DownloadEnd =
  | { readonly is: 'done'; readonly size: number; readonly sha256?: Sha256 }
  | { readonly is: 'cancelled' }
  | {
      readonly is: 'failed'
      readonly failure: Failure
      /** False: nothing but another config or other settings can help. */
      readonly passes: boolean
      /** On the monotonic clock: the hosts asked to be left alone until then. */
      readonly notBefore: number
    }

export async function download(tools: DownloadTools, job: DownloadJob): Promise<DownloadEnd> {
  let file: PendingFile | undefined
  try {
    file = await openPending(tools, job.config)
    const failed = await fetchInRounds({ ...tools, ...job, file, skipped: false })
    if (failed) return failed
    return { is: 'done', ...(await file.finish()), size: file.size }
  } catch (error) {
    if (job.signal.aborted) return { is: 'cancelled' }
    if (error instanceof DiskFailure) return { is: 'failed', failure: error.failure, passes: true, notBefore: 0 }
    throw error
  } finally {
    await file?.close()
  }
}

interface Fetch extends DownloadTools, DownloadJob {
  readonly file: PendingFile
  /** The bytes in front were received a second time and thrown away; that is done once. */
  skipped: boolean
}

type Failed = Extract<DownloadEnd, { is: 'failed' }>

/** One round tries each source once; those that only time can change are left out of the rest. Null: all is there. */
async function fetchInRounds(fetch: Fetch): Promise<Failed | null> {
  const { config, file, origins, hosts, clock, random, signal } = fetch
  if (isWhole(fetch)) return null
  const failures = new Map<Source, OriginFailure>()
  let sources = sourcesInOrder(origins, config)
  for (let tries = 1, best = file.size; ; tries++) {
    for (const source of sources) {
      const failure = await fetchFrom(fetch, source)
      if (!failure) return null
      failures.set(source, failure)
    }
    sources = sources.filter(source => ['passing', 'busy', 'range'].includes(failures.get(source)!.kind))
    if (file.size > best) tries = 1
    best = Math.max(best, file.size)
    const held = sources.map(source => hosts.heldUntil(origins.hostOf(source)))
    const heldUntil = held.length > 0 ? Math.min(...held) : 0
    const pause = Math.max(innerDelayMs(tries, random), heldUntil - clock.monotonicMs())
    if (sources.length === 0 || tries >= innerTries || pause > longestInnerMs) return failed(failures, heldUntil)
    fetch.onPause(true)
    await clock.sleep(pause, signal)
    fetch.onPause(false)
  }
}

/** The code of the last one, which is no mirror; the text of all. */
function failed(failures: ReadonlyMap<Source, OriginFailure>, notBefore: number): Failed {
  const all = [...failures.values()]
  const text = [...new Set(all.map(({ message }) => message))].join('; ')
  const passes = all.some(({ kind }) => kind !== 'refused')
  return { is: 'failed', failure: { code: all.at(-1)!.code, text }, passes, notBefore }
}

/** Null when all is there. Throws when it is cancelled or the disk fails. */
async function fetchFrom(fetch: Fetch, source: Source): Promise<OriginFailure | null> {
  const { hosts, origins, signal } = fetch
  const host = origins.hostOf(source)
  if (hosts.heldUntil(host) > 0)
    return new OriginFailure('content.host-busy', 'busy', `${host} asked to be left alone for a while`)
  fetch.onHost(host)
  const leave = await hosts.enter(host, signal)
  try {
    await receiveAll(fetch, source, host)
    return null
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DiskFailure) throw error
    const failure =
      error instanceof OriginFailure
        ? error
        : new OriginFailure('content.fetch-failed', 'passing', `${nameOfSource(source)}: ${redact(messageOf(error))}`)
    if (failure.kind === 'busy' || (failure.kind === 'passing' && failure.retryAfterMs !== undefined))
      hosts.slow(host, failure.retryAfterMs)
    return failure
  } finally {
    leave()
  }
}

/** A range that cannot be had is asked for once more as a whole. */
async function receiveAll(fetch: Fetch, source: Source, host: string | null) {
  const { file } = fetch
  try {
    await receive(fetch, source, host)
  } catch (error) {
    if (!(error instanceof OriginFailure) || error.kind !== 'range') throw error
    if (isWhole(fetch)) return
    const wentOn = file.size > 0
    await file.restart()
    if (!wentOn) throw error
    await receive(fetch, source, host)
  }
}

async function receive(fetch: Fetch, source: Source, host: string | null) {
  const { config, file, origins, hosts, bandwidth, signal } = fetch
  const { sha256, as, mediaType } = config
  // Without a digest only a validator tells that the object is still the same.
  if (file.size > 0 && !sha256 && file.validator === null) await file.restart()
  const from = file.size
  const opened = await origins.open({
    source,
    sha256,
    as,
    mediaType,
    from,
    total: file.total ?? undefined,
    validator: sha256 ? undefined : (file.validator ?? undefined),
    signal,
  })
  try {
    hosts.fine(host)
    fetch.onOpened(opened)
    let skip = await agree(fetch, source, opened)
    const most = Math.min(mostOf(config), file.total ?? Number.POSITIVE_INFINITY)
    for await (const chunk of opened.body) {
      const wait = bandwidth.take(chunk.length, signal)
      if (wait) await wait
      signal.throwIfAborted()
      const bytes = chunk.subarray(Math.min(skip, chunk.length))
      skip -= chunk.length - bytes.length
      if (file.size + bytes.length > most) {
        await file.restart()
        throw tooMuch(config, source, most)
      }
      const behind = file.append(bytes)
      fetch.onProgress(file.size, file.total)
      if (behind) await behind
      opened.letGo?.(chunk)
    }
  } finally {
    opened.close()
  }
  if (file.total !== null && file.size < file.total) throw truncated(source, file.size, file.total)
}

/** Makes the file ready for the body; returns how much of the body's beginning is there already. */
async function agree(fetch: Fetch, source: Source, { offset, total, validator }: Opened): Promise<number> {
  const { config, file } = fetch
  const from = file.size
  const most = mostOf(config)
  if (total !== null && total > most) throw tooMuch(config, source, most)
  if (total !== null && config.size > 0 && total < config.size) throw tooShort(source, total, config.size)
  if (offset !== from && offset !== 0) throw rangeWrong(source, from, offset)
  // The same validator with another size is another object, whatever the server says.
  if (offset > 0 && file.total !== null && total !== null && file.total !== total)
    throw rangeWrong(source, from, offset)
  const skips = offset !== from && config.sha256 !== undefined && !fetch.skipped
  if (skips) fetch.skipped = true
  else if (offset !== from) await file.restart()
  file.describe({ total, validator })
  return skips ? from : 0
}

const isWhole = ({ file }: Fetch): boolean => file.size > 0 && file.size === file.total

const mostOf = ({ size, limit }: DownloadConfig): number => (size > 0 ? Math.min(size, limit) : limit)

// `missing`: the object that was asked for is not what is there. Another source, or the same one later, may have it.
function tooMuch({ size, as }: DownloadConfig, source: Source, most: number): OriginFailure {
  const name = nameOfSource(source)
  // Of a blob whose size nobody promised, as much is taken as there is room for.
  return size === 0 && as === 'blob'
    ? new OriginFailure(
        'content.no-space',
        'missing',
        `${name} is larger than the ${most} bytes that there is room for`,
      )
    : new OriginFailure('content.too-long', 'missing', `${name} sends more than the ${most} bytes expected`)
}

const tooShort = (source: Source, total: number, size: number) =>
  new OriginFailure('content.too-short', 'missing', `${nameOfSource(source)} has ${total} bytes instead of ${size}`)

const truncated = (source: Source, size: number, total: number) =>
  new OriginFailure('content.truncated', 'passing', `${nameOfSource(source)} ended after ${size} of ${total} bytes`)

const rangeWrong = (source: Source, from: number, offset: number) =>
  new OriginFailure('content.range-wrong', 'range', `${nameOfSource(source)} goes on at ${offset} instead of ${from}`)
