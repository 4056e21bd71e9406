// A small registry on loopback that misbehaves on purpose: each request for content takes the next behaviour of `script`;
// when there is none it is honest, with ranges. It can want a password or a token, and speak TLS.
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { sha256Hex } from '../../../lib/json.ts'
import type { Sha256 } from '../../messages.ts'

export type Behaviour = (request: IncomingMessage, response: ServerResponse, content: Content) => void

export interface Content {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

export interface Seen {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
}

export interface FakeRegistry {
  /** `127.0.0.1:port`. */
  readonly host: string
  /** `http://127.0.0.1:port`, or https. */
  readonly url: string
  /** In the order in which they came. */
  readonly seen: Seen[]
  readonly script: Behaviour[]
  /** The tokens that are good now; whoever asks for one gets the newest. */
  readonly tokens: string[]
  /** At `/v2/app/blobs/…`. */
  addBlob(body: Buffer, headers?: Record<string, string>): Sha256
  /** At `/v2/app/manifests/…`, by its digest and its tags. */
  addManifest(body: string, mediaType: string, ...tags: string[]): Sha256
  /** At any other address. */
  add(path: string, content: Content): void
  /** Requests for content alone, in short: `HEAD /v2/app/manifests/v1`. */
  asked(): string[]
  close(): Promise<void>
}

export interface FakeOptions {
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly username?: string
  readonly password?: string
  /** `bearer` has its realm at /token here, unless `realm` says otherwise. */
  readonly auth?: 'basic' | 'bearer'
  readonly realm?: string
  /** Of the tokens; absent is left out of the answer. */
  readonly expiresIn?: number
  /** How the answer calls the token. */
  readonly tokenField?: 'token' | 'access_token'
}

export async function startFakeRegistry(options: FakeOptions = {}): Promise<FakeRegistry> {
  const { tls, auth } = options
  const contents = new Map<string, Content>()
  const seen: Seen[] = []
  const script: Behaviour[] = []
  const tokens = ['first-token']
  const basic = `Basic ${Buffer.from(`${options.username}:${options.password}`).toString('base64')}`

  const isLetIn = ({ headers }: IncomingMessage) =>
    auth === undefined ||
    (auth === 'basic'
      ? headers.authorization === basic
      : tokens.some(token => headers.authorization === `Bearer ${token}`))

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = request
    seen.push({ method, path, headers })
    if (path.startsWith('/token')) return giveToken(request, response)
    if (!isLetIn(request)) return void response.writeHead(401, { 'www-authenticate': challenge() }).end()
    const content = contents.get(path.replace(/\?.*/, ''))
    const behave = script.shift() ?? (content ? honest : notThere)
    behave(request, response, content ?? { body: Buffer.alloc(0), headers: {} })
  }
  const challenge = () =>
    auth === 'basic'
      ? 'Basic realm="fake"'
      : `Bearer realm="${options.realm ?? `${url}/token`}",service="fake registry",scope="repository:app:pull"`
  const giveToken = ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (options.username !== undefined && headers.authorization !== basic) return void response.writeHead(401).end()
    const { tokenField = 'token', expiresIn } = options
    response.end(
      JSON.stringify({ [tokenField]: tokens.at(-1), ...(expiresIn !== undefined && { expires_in: expiresIn }) }),
    )
  }

  const server = tls ? https.createServer(tls, handle) : http.createServer(handle)
  await new Promise<void>(up => server.listen(0, '127.0.0.1', up))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${tls ? 'https' : 'http'}://${host}`
  return {
    host,
    url,
    seen,
    script,
    tokens,
    addBlob(body, headers = {}) {
      const sha256 = sha256Hex(body) as Sha256
      contents.set(`/v2/app/blobs/sha256:${sha256}`, {
        body,
        headers: { 'content-type': 'application/octet-stream', ...headers },
      })
      return sha256
    },
    addManifest(text, mediaType, ...tags) {
      const body = Buffer.from(text)
      const sha256 = sha256Hex(body) as Sha256
      const headers = { 'content-type': mediaType, 'docker-content-digest': `sha256:${sha256}` }
      for (const name of [`sha256:${sha256}`, ...tags]) contents.set(`/v2/app/manifests/${name}`, { body, headers })
      return sha256
    },
    add: (path, content) => void contents.set(path, content),
    asked: () => seen.filter(({ path }) => !path.startsWith('/token')).map(({ method, path }) => `${method} ${path}`),
    close: () => {
      server.closeAllConnections()
      return new Promise(done => server.close(() => done()))
    },
  }
}

const honest: Behaviour = (request, response, { body, headers }) => {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  const ifRange = request.headers['if-range']
  const isPart = first !== undefined && (ifRange === undefined || ifRange === headers.etag)
  const [from, end] = isPart ? [Number(first), last ? Number(last) + 1 : body.length] : [0, body.length]
  if (from >= body.length && isPart) return void response.writeHead(416).end()
  const range = isPart ? { 'content-range': `bytes ${from}-${end - 1}/${body.length}` } : {}
  response.writeHead(isPart ? 206 : 200, { ...headers, ...range, 'content-length': end - from })
  response.end(body.subarray(from, end))
}

export const notThere: Behaviour = (_request, response) => void response.writeHead(404).end()

export const answer =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Behaviour =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)

export const redirectTo = (location: string, status = 307): Behaviour => answer(status, { location })

/** Promises all of it and hangs up after `count` bytes. */
export const cutAfter =
  (count: number): Behaviour =>
  (_request, response, { body, headers }) => {
    response.writeHead(200, { ...headers, 'content-length': body.length })
    response.write(body.subarray(0, count), () => setImmediate(() => response.destroy()))
  }

/** Promises all of it, sends `count` bytes and then nothing more. */
export const stallAfter =
  (count: number): Behaviour =>
  (_request, response, { body, headers }) => {
    response.writeHead(200, { ...headers, 'content-length': body.length })
    response.write(body.subarray(0, count))
  }

export const saysNothing: Behaviour = () => {}

/** In chunks, without a word on how long it is. */
export const chunked: Behaviour = (_request, response, { body, headers }) => {
  response.writeHead(200, headers)
  response.write(body.subarray(0, 1000))
  response.end(body.subarray(1000))
}

/** Sends all from `from` on and calls it `range`. */
export const partCalled =
  (range: string, from: number): Behaviour =>
  (_request, response, { body, headers }) =>
    void response.writeHead(206, { ...headers, 'content-range': range }).end(body.subarray(from))
