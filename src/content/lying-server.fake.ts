// An HTTP server on loopback that answers each request with the next of the given behaviours; the last one stays.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

export interface LyingServer {
  readonly url: string
  /** Of each request that came: its Range header, or '' for none. */
  readonly ranges: readonly string[]
  close(): Promise<void>
}

export async function lyingServer(...behaviours: Behaviour[]): Promise<LyingServer> {
  const ranges: string[] = []
  const server = createServer((request, response) => {
    const behaviour = behaviours[Math.min(ranges.length, behaviours.length - 1)]
    ranges.push(request.headers.range ?? '')
    behaviour?.(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ranges,
    close: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

/** Honest, with ranges. */
export const serve =
  (content: Uint8Array, headers: Record<string, string> = { etag: '"1"' }): Behaviour =>
  (request, response) => {
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
    const goesOn = from !== undefined && request.headers['if-range'] === (headers.etag ?? headers['last-modified'])
    const start = goesOn ? Number(from) : 0
    const range = goesOn ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}
    response.writeHead(goesOn ? 206 : 200, { ...headers, ...range, 'content-length': content.length - start })
    response.end(content.subarray(start))
  }

/** Promises all of it and hangs up after `count` bytes. */
export const cutAfter =
  (count: number, content: Uint8Array, headers: Record<string, string> = { etag: '"1"' }): Behaviour =>
  (_request, response) => {
    response.writeHead(200, { ...headers, 'content-length': content.length })
    response.write(content.subarray(0, count), () => setImmediate(() => response.destroy()))
  }

/** Promises all of it, sends `count` bytes and then nothing more. */
export const stallAfter =
  (count: number, content: Uint8Array): Behaviour =>
  (_request, response) => {
    response.writeHead(200, { etag: '"1"', 'content-length': content.length })
    response.write(content.subarray(0, count))
  }

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (_request, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }
