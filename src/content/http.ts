// One HTTP GET with its redirects, nothing kept and nothing repeated. Bytes come as they are sent: no content coding is
// asked for and none is undone, because checksums are of the bytes as they lie on the server.
import http from 'node:http'
import https from 'node:https'
import { redact } from '../lib/redact.ts'
import {
  FetchFailure,
  insecureRedirect,
  redirectInvalid,
  tooManyRedirects,
  unreachable,
  untrusted,
} from './fetch-failure.ts'

export interface GetRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** No byte for this long ends the connection. */
  readonly stallMs: number
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read from it. */
  readonly proxyEnv: Readonly<Record<string, string | undefined>>
}

const mostRedirects = 10

/** The last answer, whatever its status; its body has to be read or destroyed. */
export async function get(request: GetRequest): Promise<http.IncomingMessage> {
  let { url } = request
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const answer = await getOnce({ ...request, url })
    const { statusCode = 0, headers } = answer
    if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return answer
    answer.destroy()
    url = nextUrl(url, headers.location)
  }
  throw tooManyRedirects(request.url, mostRedirects)
}

/** Where a redirect leads, unless it may not be followed. */
export function nextUrl(from: URL, location: string): URL {
  const to = URL.parse(location, from)
  if (to?.protocol === 'http:' && from.protocol === 'https:') throw insecureRedirect(from, to)
  if (to?.protocol !== 'http:' && to?.protocol !== 'https:') throw redirectInvalid(from)
  return to
}

function getOnce({ url, headers, signal, stallMs, proxyEnv }: GetRequest): Promise<http.IncomingMessage> {
  const { request, Agent } = url.protocol === 'https:' ? https : http
  const agent = new Agent({ proxyEnv, keepAlive: false })
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, signal, timeout: stallMs, headers: { ...fixedHeaders, ...headers } })
    let answer: http.IncomingMessage | undefined
    sent.on('response', response => {
      answer = response
      resolve(response)
    })
    // Whoever reads the body is told as well.
    sent.on('timeout', () => (answer ?? sent).destroy(stalled(url, stallMs)))
    sent.on('error', error => reject(signal.aborted ? signal.reason : networkFailure(url, error)))
    sent.end()
  })
}

const fixedHeaders = { 'user-agent': 'cairn', accept: '*/*', 'accept-encoding': 'identity' }

const stalled = (url: URL, stallMs: number) => unreachable(url, `nothing came for ${stallMs / 1000} s`)

function networkFailure(url: URL, error: Error & { code?: string }): FetchFailure {
  if (error instanceof FetchFailure) return error
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_/.test(error.code ?? '')
  return (isCertificate ? untrusted : unreachable)(url, redact(error.message))
}
