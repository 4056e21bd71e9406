// Sources in memory: each open is answered by the next behaviour of its source's script; the last one stays. Counts what
// is open at once per host, and every byte that was handed out.
import type { Source } from '../source.ts'
import { type FailureKind, type Opened, type OpenRequest, OriginFailure, type Origins } from './origin.ts'

export type Behaviour = (request: OpenRequest) => Opened | Promise<Opened>

export interface FakeOrigins extends Origins {
  /** Of all opens, in order. */
  readonly requests: OpenRequest[]
  readonly resolved: Source[]
  readonly configured: Parameters<Origins['configure']>[]
  bytes: number
  readonly openNow: Map<string, number>
  readonly mostOpen: Map<string, number>
  mirrors: Record<string, readonly string[]>
  resolve: Origins['resolve']
}

export const url = (text: string): Source => ({ kind: 'url', url: text })

/** Behaviours by the path of the URL: `/a`. */
export function fakeOrigins(scripts: Record<string, readonly Behaviour[]>): FakeOrigins {
  const turns = new Map<string, number>()
  const addressOf = (source: Source) => new URL(source.kind === 'url' ? source.url : 'http://other/')
  const hostOf = (source: Source) => (source.kind === 'url' ? addressOf(source).host : null)
  const fake: FakeOrigins = {
    requests: [],
    resolved: [],
    configured: [],
    bytes: 0,
    openNow: new Map(),
    mostOpen: new Map(),
    mirrors: {},
    async open(request) {
      fake.requests.push(request)
      const { pathname } = addressOf(request.source)
      const script = scripts[pathname]
      if (!script) throw new Error(`no script for ${pathname}`)
      const turn = turns.get(pathname) ?? 0
      turns.set(pathname, turn + 1)
      const opened = await script[Math.min(turn, script.length - 1)]!(request)
      return counted(fake, hostOf(request.source) ?? '', opened)
    },
    async resolve(source) {
      fake.resolved.push(source)
      return []
    },
    configure: (...args) => void fake.configured.push(args),
    hostOf,
    withMirrors: source =>
      source.kind === 'url'
        ? [
            ...(fake.mirrors[addressOf(source).host] ?? []).map(host =>
              url(source.url.replace(/\/\/[^/]+/, `//${host}`)),
            ),
            source,
          ]
        : [source],
  }
  return fake
}

function counted(fake: FakeOrigins, host: string, opened: Opened): Opened {
  const { openNow, mostOpen } = fake
  const now = (openNow.get(host) ?? 0) + 1
  openNow.set(host, now)
  mostOpen.set(host, Math.max(mostOpen.get(host) ?? 0, now))
  let isOpen = true
  return {
    ...opened,
    body: tapped(opened.body, bytes => {
      fake.bytes += bytes
    }),
    close() {
      if (isOpen) openNow.set(host, openNow.get(host)! - 1)
      isOpen = false
      opened.close()
    },
  }
}

async function* tapped(body: AsyncIterable<Buffer>, count: (bytes: number) => void) {
  for await (const chunk of body) {
    count(chunk.length)
    yield chunk
  }
}

interface Answer {
  readonly offset?: number
  readonly total?: number | null
  readonly validator?: string | null
  readonly contentType?: string | null
}

export function answer(
  body: AsyncIterable<Buffer>,
  { offset = 0, total = null, validator = null, contentType = null }: Answer = {},
): Opened {
  return { offset, total, validator, contentType, body, close() {} }
}

export async function* chunksOf(content: Buffer, size = 64 * 1024) {
  for (let at = 0; at < content.length; at += size) {
    await new Promise(resolve => setImmediate(resolve))
    yield content.subarray(at, at + size)
  }
}

/** Honest, with ranges; `etag` is its validator, and a range of another object is answered with all of it. */
export const serve =
  (content: Buffer, etag: string | null = '"1"'): Behaviour =>
  ({ from, validator }) => {
    if (from > content.length) throw failure('range')
    const offset = validator !== undefined && validator !== etag ? 0 : from
    return answer(chunksOf(content.subarray(offset)), { offset, total: content.length, validator: etag })
  }

/** Sends `count` bytes from where it was asked to, then the connection is cut. */
export const cutAfter =
  (count: number, content: Buffer, etag: string | null = '"1"'): Behaviour =>
  ({ from }) =>
    answer(cut(content.subarray(from, from + count)), { offset: from, total: content.length, validator: etag })

/** Knows no ranges. */
export const serveWhole =
  (content: Buffer): Behaviour =>
  () =>
    answer(chunksOf(content), { total: content.length })

export const fails =
  (kind: FailureKind, retryAfterMs?: number): Behaviour =>
  () => {
    throw failure(kind, retryAfterMs)
  }

/** Sends what is asked for up to `count` bytes, then waits for `go`. */
export const stopsAt =
  (count: number, content: Buffer, go: Promise<void>): Behaviour =>
  ({ from, signal }) =>
    answer(stopped(content.subarray(from), count, go, signal), {
      offset: from,
      total: content.length,
      validator: '"1"',
    })

export const failure = (kind: FailureKind, retryAfterMs?: number) =>
  new OriginFailure(`content.test-${kind}`, kind, `the test says ${kind}`, retryAfterMs)

async function* cut(content: Buffer) {
  yield* chunksOf(content)
  throw failure('passing')
}

async function* stopped(content: Buffer, count: number, go: Promise<void>, signal: AbortSignal) {
  yield* chunksOf(content.subarray(0, count))
  await new Promise<void>((resolve, reject) => {
    go.then(resolve)
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  yield* chunksOf(content.subarray(count))
}
