// Fetches one bundle by its URL, with guards: what may be asked for (url-policy.ts), which address may be dialled for it,
// now and at each redirect (address-guard.ts), for how long, and how much may come back.
// The guard sits where the connection is made, so no name can resolve to one address for the guard and to another after it.
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { getCACertificates } from 'node:tls'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { isErrno, messageOf, ProblemsError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { safeUrl } from '../../lib/safe-url.ts'
import { defaultLimits, type Source } from '../model/source.ts'
import { type AddressGuard, addressGuard } from './address-guard.ts'
import { rawAddress } from './raw-address.ts'
import { readFileUrl } from './url-file.ts'
import { type Resolve, refusalOf, type UrlPolicy } from './url-policy.ts'
import * as told from './url-problems.ts'

/** The source has the name that was asked for, without its query. Rejects only when `signal` does, or for a bad policy. */
export async function fetchSource(url: string, policy: UrlPolicy, signal?: AbortSignal): Promise<Source | Problem> {
  const guard = addressGuard(policy.allow)
  const given = URL.parse(url)
  if (!given) return told.invalid()
  const refused = refusalOf(given, policy)
  if (refused) return refused
  const { mostBytes = defaultLimits.fileBytes, totalMs = 30_000, connectMs = 10_000 } = policy
  if (given.protocol === 'file:') return readFileUrl(given, { root: policy.fileRoot!, mostBytes })

  const deadline = AbortSignal.timeout(totalMs)
  const agent = new Agent({ connect: guardedConnector(guard, { ...policy, connectMs }), allowH2: false })
  let at = rawAddress(given)
  try {
    const either = signal ? AbortSignal.any([signal, deadline]) : deadline
    const followed = await follow(at, policy, url => {
      at = url
      return request(url, { dispatcher: agent, signal: either, headers })
    })
    if ('code' in followed) return followed
    const content = await bodyOf(followed, at, mostBytes)
    if ('code' in content) return content
    const contentType = contentTypeOf(followed)
    return { name: safeUrl(given), content, ...(contentType !== undefined && { contentType }) }
  } catch (error) {
    signal?.throwIfAborted()
    return deadline.aborted ? told.timeout(at, 'the download', totalMs) : failure(at, error, connectMs)
  } finally {
    await agent.destroy()
  }
}

const headers = {
  'user-agent': 'cairn',
  accept: 'application/yaml, application/json, text/plain;q=0.9, */*;q=0.5',
  'accept-encoding': 'gzip, br, zstd',
}

type Answer = Dispatcher.ResponseData

const mostRedirects = 5

/** The last answer, when it is one to read. */
async function follow(first: URL, policy: UrlPolicy, get: (url: URL) => Promise<Answer>): Promise<Answer | Problem> {
  let url = first
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const answer = await get(url)
    const location = [301, 302, 303, 307, 308].includes(answer.statusCode) ? answer.headers.location : undefined
    if (location === undefined) return answerProblem(answer, url) ?? answer
    const next = URL.parse(String(location), url)
    if (!next) return told.redirectRefused(url, 'it redirects to something that is no URL')
    if (next.protocol !== 'https:' && (url.protocol === 'https:' || next.protocol !== 'http:'))
      return told.redirectRefused(url, `it redirects to ${next.protocol.slice(0, -1)}, which is not allowed`)
    const refused = refusalOf(next, policy)
    if (refused) return refused
    url = next
  }
  return told.redirectRefused(first, `it redirects more than ${mostRedirects} times`)
}

function answerProblem(answer: Answer, url: URL): Problem | undefined {
  if (answer.statusCode !== 200) return told.status(url, answer.statusCode)
  const contentType = contentTypeOf(answer) ?? ''
  if (/jsonnet/i.test(contentType)) return told.jsonnet(url)
  return /^(?:text\/html|application\/xhtml)/i.test(contentType) ? told.page(url) : undefined
}

const contentTypeOf = ({ headers }: Answer): string | undefined => {
  const value = headers['content-type']
  return typeof value === 'string' ? value.trim() : undefined
}

const decompressors: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** Counts while it streams: a small answer can unfold to any size. */
async function bodyOf({ body, headers }: Answer, url: URL, mostBytes: number): Promise<Buffer | Problem> {
  const coding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase()
  const decompress = decompressors[coding]
  if (!decompress && coding !== 'identity') return told.contentCoding(url)
  // A failure reaches the reader through the stream itself.
  const stream: Readable = decompress ? pipeline(body, decompress(), () => {}) : body
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) return told.tooLarge(url, mostBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

interface Connecting extends Pick<UrlPolicy, 'ca' | 'resolve'> {
  readonly connectMs: number
}

function guardedConnector(guard: AddressGuard, { ca, connectMs, resolve = resolveAll }: Connecting) {
  const connect = buildConnector({
    timeout: connectMs,
    allowH2: false,
    lookup: guardedLookup(guard, resolve),
    ...(ca !== undefined && { ca: [...getCACertificates('default'), ca] }),
  } as buildConnector.BuildOptions)
  const connector: buildConnector.connector = (options, callback) => {
    const { hostname } = options
    // An address needs no lookup, so it is judged here.
    if (isIP(hostname) && !guard.allows({ host: hostname, address: hostname })) callback(refusedError(hostname), null)
    else connect(options, callback)
  }
  return connector
}

const resolveAll: Resolve = host => lookup(host, { all: true })

/** Gives only addresses that may be dialled. */
function guardedLookup(guard: AddressGuard, resolve: Resolve): LookupFunction {
  return (host, { all }, callback) => {
    resolve(host).then(
      found => {
        const allowed = found.filter(({ address }) => guard.allows({ host, address }))
        const [first] = allowed
        if (!first) callback(refusedError(host), '')
        else if (all) callback(null, [...allowed])
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, ''),
    )
  }
}

const refusedError = (host: string) => new ProblemsError([told.addressRefused(host)])

function failure(url: URL, error: unknown, connectMs: number): Problem {
  if (error instanceof ProblemsError) return error.problems[0]!
  if (isErrno(error, 'UND_ERR_CONNECT_TIMEOUT')) return told.timeout(url, 'connecting', connectMs)
  if (isErrno(error, 'ENOTFOUND', 'EAI_AGAIN', 'ENODATA')) return told.unreachable(url, 'its name is not known')
  if (isErrno(error, 'ECONNREFUSED')) return told.unreachable(url, 'nothing listens there')
  if (error instanceof Error && 'code' in error && /^(?:Z_|ERR__|ZSTD_)/.test(String(error.code)))
    return told.contentCoding(url)
  return told.unreachable(url, messageOf(error))
}
