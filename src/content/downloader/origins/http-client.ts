// One HTTP request and the head of its answer: nothing followed, nothing judged. Connections are kept and used again.
// Bytes come as they are sent: no content coding is asked for and none is undone, since digests are of the bytes as they lie
// on the server. Node's own http, not fetch: web streams cost two to three times as much a byte.
import http from 'node:http'
import https from 'node:https'
import type { NetConnectOpts, Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { OriginFailure } from '../origin.ts'
import { notYetTrusted, stalled, unreachable, untrusted } from './failures.ts'
import { isLoopback } from './hosts.ts'

export interface HttpRequest {
  /** Without userinfo. */
  readonly url: URL
  readonly method: 'GET' | 'HEAD'
  readonly headers: Readonly<Record<string, string>>
  /** A certificate authority beside those that the machine trusts. */
  readonly ca: string | undefined
  /** The head of the answer has to come within this time. */
  readonly stallMs: number
  /** Ends the whole of it, the body included; what is thrown then is its reason. */
  readonly signal: AbortSignal
}

export interface HttpClient {
  /** The body has to be read, discarded or destroyed. */
  send(request: HttpRequest): Promise<http.IncomingMessage>
}

export type ProxyEnv = Readonly<Record<string, string | undefined>>

export function createHttpClient(proxyEnv: ProxyEnv): HttpClient {
  const agents = new Map<string, http.Agent>()
  const agentFor = ({ url, ca }: HttpRequest): http.Agent => {
    // What is meant for this machine never leaves it, whatever the environment says of proxies.
    const direct = isLoopback(url.hostname)
    const key = JSON.stringify([url.protocol, direct, ca])
    const agent = agents.get(key) ?? makeAgent(url, direct ? {} : proxyEnv, ca)
    agents.set(key, agent)
    return agent
  }
  return {
    async send(request) {
      for (;;) {
        const answer = await sendOnce(request, agentFor(request))
        if (answer !== 'connection was stale') return answer
      }
    },
  }
}

/** Idle connections are let go after this long. */
const idleMs = 15_000
/** What may wait for its reader. With Node's 64 KiB a fast connection stops and starts at every block, for a third more work. */
const highWaterMark = 128 * 1024

function makeAgent({ protocol }: URL, proxyEnv: ProxyEnv, ca: string | undefined): http.Agent {
  const options = { keepAlive: true, timeout: idleMs, highWaterMark, proxyEnv }
  if (protocol === 'http:') {
    const connecting: Pick<NetConnectOpts, 'onread'> = { onread: readIntoOne() }
    return new http.Agent({ ...options, ...connecting })
  }
  if (ca === undefined) return new https.Agent(options)
  // A context, not `ca`: the agent would make the text of all authorities part of every connection's name.
  const secureContext = createSecureContext({ ca: [...getCACertificates('default'), ca] })
  return new https.Agent({ ...options, secureContext })
}

/**
 * All connections read into one and the same memory, instead of each block into new memory that becomes garbage at once: a
 * fifth less work and half the process size at full speed. Node's parser copies what it takes out, and takes it all before
 * the next read.
 */
function readIntoOne() {
  return {
    buffer: Buffer.allocUnsafeSlow(256 * 1024),
    callback(this: Socket, count: number, buffer: Uint8Array) {
      this.emit('data', (buffer as Buffer).subarray(0, count))
      return true
    },
  }
}

function sendOnce(
  { url, method, headers, stallMs, signal }: HttpRequest,
  agent: http.Agent,
): Promise<http.IncomingMessage | 'connection was stale'> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const { request } = url.protocol === 'https:' ? https : http
    const sent = request(url, { agent, method, headers: { ...fixedHeaders, ...headers } })
    let answer: http.IncomingMessage | undefined
    const onAbort = () => (answer ?? sent).destroy(new Error('aborted'))
    const timer = setTimeout(() => sent.destroy(stalled(url, stallMs)), stallMs)
    signal.addEventListener('abort', onAbort)
    sent.on('response', response => {
      clearTimeout(timer)
      answer = response
      // Who reads the body learns of it there; while nobody reads it, it is no reason to end the process.
      response.on('error', () => {})
      resolve(response)
    })
    sent.on('error', (error: Error & { code?: string }) => {
      if (signal.aborted) reject(signal.reason)
      else if (sent.reusedSocket && !answer && isReset(error)) resolve('connection was stale')
      else reject(networkFailure(url, error))
    })
    sent.on('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    })
    sent.end()
  })
}

const fixedHeaders = { 'user-agent': 'cairn', accept: '*/*', 'accept-encoding': 'identity' }

const isReset = ({ code }: { code?: string }) => code === 'ECONNRESET' || code === 'EPIPE'

function networkFailure(url: URL, error: Error & { code?: string }): OriginFailure {
  if (error instanceof OriginFailure) return error
  const { code = '', message } = error
  if (code === 'CERT_NOT_YET_VALID') return notYetTrusted(url)
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) return untrusted(url, message)
  if (code === 'EPROTO') return unreachable(url, 'it does not speak TLS as we do')
  return unreachable(url, message || code)
}

const worthReading = 64 * 1024
const worthWaitingMs = 1000

/**
 * Lets go of an answer whose body nobody wants. A short one is read to its end, so that the connection can be used again:
 * it can when this resolves.
 */
export function discard(answer: http.IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    if (answer.closed) return resolve()
    let read = 0
    const timer = setTimeout(() => answer.destroy(), worthWaitingMs)
    answer.on('data', (chunk: Buffer) => {
      read += chunk.length
      if (read > worthReading) answer.destroy()
    })
    answer.on('close', () => {
      clearTimeout(timer)
      // The connection is put back a tick later.
      setImmediate(resolve)
    })
  })
}
