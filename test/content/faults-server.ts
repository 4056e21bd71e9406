// A server on loopback that misbehaves on purpose: each request for a path takes the next behaviour of its script, and is
// answered honestly, with ranges, when there is none. It counts the bytes it sends.
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Sha256 } from '../../src/content/messages.ts'
import { sha256Hex } from '../../src/lib/json.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  /** Of the range that was asked for; 0 and the whole without one. */
  readonly from: number
  readonly to: number
  /** Ends when the network has taken them. */
  send(bytes: Buffer): Promise<void>
}

export type Behaviour = (exchange: Exchange) => unknown

export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Where its range begins; null without one. */
  readonly from: number | null
  readonly at: number
}

export interface FaultyServer {
  /** `127.0.0.1:port`. */
  readonly host: string
  readonly origin: string
  readonly asked: readonly Asked[]
  /** Bytes of bodies. */
  readonly sent: number
  url(path: string): string
  /** GETs of a path, without its query. */
  gets(path: string): readonly Asked[]
  put(path: string, body: Buffer, ...script: Behaviour[]): Sha256
  putTyped(path: string, body: Buffer, headers: Readonly<Record<string, string>>, ...script: Behaviour[]): Sha256
  close(): Promise<void>
}

export interface ServerOptions {
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Comes before everything; true when it has answered. */
  readonly guard?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** What is done without a script; default honest. */
  readonly otherwise?: Behaviour
}

interface Served {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  readonly script: Behaviour[]
}

export async function startServer(options: ServerOptions = {}): Promise<FaultyServer> {
  const { tls, guard = () => false, otherwise = honest } = options
  const served = new Map<string, Served>()
  const asked: Asked[] = []
  let sent = 0

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = request
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
    asked.push({ method, path, headers, from: first === undefined ? null : Number(first), at: Date.now() })
    // A client that hangs up is no fault of the server's.
    response.on('error', () => {})
    if (guard(request, response)) return
    const there = served.get(path.replace(/\?.*/, ''))
    if (!there) return void response.writeHead(404).end()
    const { body, script } = there
    if (method === 'HEAD')
      return void response.writeHead(200, { ...there.headers, 'content-length': body.length }).end()
    const send = (bytes: Buffer) => {
      sent += bytes.length
      return new Promise<void>(done => response.write(bytes, () => done()))
    }
    const to = last ? Number(last) + 1 : body.length
    const behave = script.shift() ?? otherwise
    behave({ request, response, body, headers: there.headers, from: Number(first ?? 0), to, send })
  }

  const server = tls ? https.createServer(tls, handle) : http.createServer(handle)
  await new Promise<void>(up => server.listen(0, '127.0.0.1', up))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const origin = `${tls ? 'https' : 'http'}://${host}`
  const putTyped: FaultyServer['putTyped'] = (path, body, headers, ...script) => {
    served.set(path, { body, headers, script })
    return sha256Hex(body) as Sha256
  }
  return {
    host,
    origin,
    asked,
    get sent() {
      return sent
    },
    url: path => `${origin}${path}`,
    gets: wanted => asked.filter(({ method, path }) => method === 'GET' && path.replace(/\?.*/, '') === wanted),
    put: (path, body, ...script) => putTyped(path, body, { 'content-type': 'application/octet-stream' }, ...script),
    putTyped,
    close: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

export interface ServedImage {
  /** For `content pull`. */
  readonly reference: string
  readonly manifest: Sha256
  readonly layers: readonly { readonly sha256: Sha256; readonly path: string }[]
}

export const ociType = (what: string): string => `application/vnd.oci.image.${what}`

/** An image `app:v1` with these layers; `scripts` are the behaviours of each layer. */
export function serveImage(server: FaultyServer, layers: readonly Buffer[], ...scripts: Behaviour[][]): ServedImage {
  const blob = (body: Buffer, type: string, script: readonly Behaviour[] = []) => {
    const sha256 = sha256Hex(body) as Sha256
    const path = `/v2/app/blobs/sha256:${sha256}`
    server.put(path, body, ...script)
    return { sha256, path, descriptor: { mediaType: ociType(type), digest: `sha256:${sha256}`, size: body.length } }
  }
  const config = blob(
    Buffer.from(JSON.stringify({ os: 'linux', rootfs: { type: 'layers', diff_ids: [] } })),
    'config.v1+json',
  )
  const made = layers.map((body, at) => blob(body, 'layer.v1.tar', scripts[at]))
  const manifest = serveManifest(server, {
    schemaVersion: 2,
    mediaType: ociType('manifest.v1+json'),
    config: config.descriptor,
    layers: made.map(({ descriptor }) => descriptor),
  })
  return { reference: `${server.host}/app:v1`, manifest, layers: made }
}

/** Any text or object as `app:v1`. */
export function serveManifest(
  server: FaultyServer,
  document: object | string,
  type = ociType('manifest.v1+json'),
): Sha256 {
  const body = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
  const sha256 = sha256Hex(body) as Sha256
  const headers = { 'content-type': type, 'docker-content-digest': `sha256:${sha256}` }
  for (const name of ['v1', `sha256:${sha256}`]) server.putTyped(`/v2/app/manifests/${name}`, body, headers)
  return sha256
}

export const honest: Behaviour = async exchange => {
  const { response, body, from, to, send } = exchange
  if (from >= body.length && from > 0) return response.writeHead(416).end()
  begin(exchange)
  await send(body.subarray(from, to))
  response.end()
}

/** Promises what was asked for and hangs up after `count` bytes. */
export const cutAfter =
  (count: number): Behaviour =>
  async exchange => {
    begin(exchange)
    await exchange.send(exchange.body.subarray(exchange.from, Math.min(exchange.from + count, exchange.to)))
    // All of them arrive: nothing is thrown away on the way, as it may be when a socket is destroyed.
    exchange.response.socket?.end()
  }

/** Promises what was asked for, sends `count` bytes and then waits for `goOn`, or for ever. */
export const stopAfter =
  (count: number, goOn: Promise<void> = new Promise(() => {})): Behaviour =>
  async exchange => {
    const { from, to, body, response, send } = exchange
    begin(exchange)
    await send(body.subarray(from, from + count))
    await goOn
    await send(body.subarray(from + count, to))
    response.end()
  }

/** The whole as 200, whatever was asked for. */
export const wholeAlways: Behaviour = async ({ response, body, headers, send }) => {
  response.writeHead(200, { ...headers, 'content-length': body.length })
  await send(body)
  response.end()
}

/** As an honest server would send other bytes. */
export const otherBytes =
  (body: Buffer): Behaviour =>
  exchange =>
    honest({ ...exchange, body, to: body.length })

/** A 206 that says `range` and has the bytes from `at` on. */
export const partCalled =
  (range: string, at: number): Behaviour =>
  async ({ response, body, headers, send }) => {
    response.writeHead(206, { ...headers, 'content-range': range })
    await send(body.subarray(at))
    response.end()
  }

/** In chunks, without a word on how long it is. */
export const chunked =
  (body?: Buffer): Behaviour =>
  async ({ response, headers, send, ...exchange }) => {
    response.writeHead(200, headers)
    await send(body ?? exchange.body)
    response.end()
  }

/** Says the right length and sends more on the same connection. */
export const longerThanPromised =
  (more: Buffer): Behaviour =>
  ({ response, body }) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ${body.length}\r\n\r\n`
    response.socket?.write(Buffer.concat([Buffer.from(head), body, more]))
  }

export const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Behaviour =>
  ({ response }) =>
    response.writeHead(status, headers).end(body)

function begin({ request, response, body, headers, from, to }: Exchange) {
  const isPart = request.headers.range !== undefined
  const range = isPart ? { 'content-range': `bytes ${from}-${to - 1}/${body.length}` } : {}
  response.writeHead(isPart ? 206 : 200, { ...headers, ...range, 'content-length': to - from })
}
