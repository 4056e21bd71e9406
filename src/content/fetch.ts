// The one door to the network. Bytes go to a file in the given directory while they are hashed; a cut connection and a
// crashed process are gone on from; what passes by itself is tried again, what does not is told at once.
// Holds: a blob that is handed out is whole as far as the server told, and has the checksum when there is one.
import type { IncomingMessage } from 'node:http'
import { type Checksum, spellChecksum } from '../lib/checksum.ts'
import { type Clock, realClock } from '../lib/clock.ts'
import { CairnError, isErrno, messageOf, ProblemsError } from '../lib/errors.ts'
import type { Files } from '../lib/files.ts'
import { sha256Hex } from '../lib/json.ts'
import type { Progress, Task } from '../lib/progress.ts'
import { sharing } from '../lib/shared.ts'
import {
  busy,
  checksumMismatch,
  FetchFailure,
  notFound,
  problemOf,
  rangeUnusable,
  rejected,
  schemeUnknown,
  tooLarge,
  truncated,
  unauthorized,
} from './fetch-failure.ts'
import { readLocal } from './fetch-local.ts'
import { get } from './http.ts'
import { openPart, type PartFile, type Validator } from './part-file.ts'

export interface FetchRequest {
  /** http, https or file. */
  readonly url: string
  readonly checksum?: Checksum | undefined
  /** Where the bytes lie until the blob is released. */
  readonly directory: string
  readonly files: Files
  readonly progress: Progress
  readonly signal: AbortSignal
  /** Names the work beside its bar: `containerd 1.7.0`. */
  readonly label: string
  /** Config path of the source, for Problems: `packageByNames.containerd.source`. */
  readonly declaredAt: string
}

export interface FetchedBlob {
  readonly path: string
  /** Lower-case hex. */
  readonly sha256: string
  readonly size: number
  /** The file is deleted when all who fetched it at the same time have released it. */
  release(): void
}

export interface Network {
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  readonly tries: number
  readonly stallMs: number
  readonly maxBytes: number
  readonly proxyEnv: Readonly<Record<string, string | undefined>>
}

export const realNetwork: Network = {
  clock: realClock,
  random: Math.random,
  tries: 5,
  stallMs: 60_000,
  maxBytes: 16 * 2 ** 30,
  proxyEnv: process.env,
}

type Fetched = Pick<PartFile, 'path' | 'size' | 'remove'> & { readonly sha256: string }

const fetches = sharing<Fetched>(fetched => fetched.remove())

export async function fetchBlob(request: FetchRequest, network: Network = realNetwork): Promise<FetchedBlob> {
  const key = sha256Hex(JSON.stringify([request.url, request.checksum ? spellChecksum(request.checksum) : null]))
  try {
    const lease = await fetches.acquire(`${request.directory}/${key}`, request.signal, signal =>
      fetchToPart({ ...request, signal }, network, key),
    )
    const { path, sha256, size } = lease.value
    return { path, sha256, size, release: lease.release }
  } catch (error) {
    if (error instanceof FetchFailure) throw new ProblemsError([problemOf(error, request.declaredAt)])
    throw error
  }
}

async function fetchToPart(request: FetchRequest, network: Network, key: string): Promise<Fetched> {
  const { files, directory, checksum, progress, label } = request
  const url = new URL(request.url)
  const algorithm = checksum?.algorithm ?? 'sha256'
  const part = onDisk(() =>
    openPart({ files, clock: network.clock, directory, key, algorithm, pinned: checksum !== undefined }),
  )
  const task = progress.begin(label)
  task.advance(part.size)
  try {
    if (!matches(part, checksum)) await fetchWithRetries({ request, network, url, part, task })
    part.close()
    task.done()
    return { path: part.path, size: part.size, sha256: part.digest('sha256'), remove: part.remove }
  } catch (error) {
    task.fail(messageOf(error))
    const mayGoOn = part.validator !== null && (request.signal.aborted || (error as FetchFailure).passing === true)
    if (mayGoOn) part.close()
    else part.remove()
    throw error
  }
}

interface Download {
  readonly request: FetchRequest
  readonly network: Network
  readonly url: URL
  readonly part: PartFile
  readonly task: Task
}

async function fetchWithRetries(download: Download) {
  const { request, network } = download
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchOnce(download)
    } catch (error) {
      if (!(error instanceof FetchFailure) || !error.passing || attempt >= network.tries) throw error
      await network.clock.sleep(error.retryAfterMs ?? backoffMs(attempt, network.random), request.signal)
    }
  }
}

/** Doubles from half a second up to half a minute; the upper half of each is left to chance, so that a fleet spreads. */
function backoffMs(attempt: number, random: () => number): number {
  return Math.min(500 * 2 ** (attempt - 1), 30_000) * (0.5 + random() / 2)
}

async function fetchOnce(download: Download) {
  const { request, url, part } = download
  const { checksum } = request
  const wentOn = await receive(download)
  if (!checksum || matches(part, checksum)) return
  if (!wentOn) throw checksumMismatch(url, checksum, part.digest(checksum.algorithm))
  // The bytes from before may be what is wrong: once more, all of it.
  restart(download, null)
  await fetchOnce(download)
}

/** True when the bytes that were there are part of the result. */
function receive(download: Download): Promise<boolean> {
  const { url } = download
  if (url.protocol === 'file:') return receiveLocal(download)
  if (url.protocol === 'http:' || url.protocol === 'https:') return receiveHttp(download)
  throw schemeUnknown(url)
}

async function receiveLocal(download: Download): Promise<boolean> {
  restart(download, null)
  for await (const chunk of readLocal(download.request.files, download.url)) append(download, chunk)
  return false
}

async function receiveHttp(download: Download): Promise<boolean> {
  const { request, network, url, part } = download
  const headers: Record<string, string> =
    part.validator === null ? {} : { range: `bytes=${part.size}-`, 'if-range': part.validator }
  const answer = await get({ ...network, url, headers, signal: request.signal })
  const total = begin(download, answer)
  try {
    for await (const chunk of answer) append(download, chunk as Buffer)
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason
    // Not the connection's fault: the disk's, or too much was sent.
    if (error !== answer.errored || error instanceof FetchFailure) throw error
    throw truncated(url, part.size, total)
  }
  if (!answer.complete || (total !== null && part.size !== total)) throw truncated(url, part.size, total)
  return answer.statusCode === 206
}

/** Makes the part ready for the body that follows; returns the size of the whole, if the server tells it. */
function begin(download: Download, answer: IncomingMessage): number | null {
  const { network, url, part, task } = download
  try {
    if (answer.statusCode === 206) {
      const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers['content-range'] ?? '') ?? []
      if (part.validator === null || Number(start) !== part.size || !total) throw rangeUnusable(url)
      task.expect(Number(total))
      return Number(total)
    }
    if (answer.statusCode === 416) throw rangeUnusable(url)
    if (answer.statusCode !== 200) throw failureOf(answer, url, network.clock)
    const length = answer.headers['content-length']
    const total = length === undefined ? null : Number(length)
    if (total !== null && total > network.maxBytes) throw tooLarge(url, network.maxBytes)
    restart(download, validatorOf(answer))
    if (total !== null) task.expect(total)
    return total
  } catch (error) {
    answer.destroy()
    // The next try asks for the whole.
    if ([206, 416].includes(answer.statusCode ?? 0)) restart(download, null)
    throw error
  }
}

function failureOf({ statusCode: status = 0, headers }: IncomingMessage, url: URL, clock: Clock): FetchFailure {
  if (status === 404 || status === 410) return notFound(url)
  if (status === 401 || status === 403 || status === 407) return unauthorized(url, status)
  if (status === 408 || status === 429 || status >= 500)
    return busy(url, status, retryAfterMs(headers['retry-after'], clock))
  return rejected(url, status)
}

const longestRetryAfterMs = 120_000

/** Seconds or a date; a server cannot hold us for longer than two minutes. */
function retryAfterMs(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now().getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestRetryAfterMs)
}

/** A weak ETag does not promise equal bytes. */
function validatorOf({ headers }: IncomingMessage): Validator | null {
  const { etag, 'last-modified': lastModified } = headers
  return etag?.startsWith('"') ? etag : (lastModified ?? null)
}

function append({ request, network, url, part, task }: Download, chunk: Uint8Array) {
  request.signal.throwIfAborted()
  if (part.size + chunk.length > network.maxBytes) throw tooLarge(url, network.maxBytes)
  onDisk(() => part.write(chunk))
  task.advance(chunk.length)
}

function restart({ part, task }: Download, validator: Validator | null) {
  task.advance(-part.size)
  onDisk(() => part.restart(validator))
}

function matches(part: PartFile, checksum: Checksum | undefined): boolean {
  return checksum !== undefined && part.size > 0 && checksum.digests.includes(part.digest(checksum.algorithm))
}

/** Keeps failures of the disk apart from those of the network. */
function onDisk<Result>(act: () => Result): Result {
  try {
    return act()
  } catch (cause) {
    if (isErrno(cause, 'ENOSPC', 'EDQUOT'))
      throw new CairnError('disk.full', 'there is no room left for a download', {
        hint: 'Free some space (cairn node gc), then try again.',
        cause,
      })
    if (isErrno(cause, 'EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOENT'))
      throw new CairnError('fetch.write-failed', `a download cannot be written: ${messageOf(cause)}`, { cause })
    throw cause
  }
}
