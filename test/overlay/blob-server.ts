// A server on loopback with one answer a path: bytes, or whatever a test wants it to do instead.
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sha256Hex } from '../../src/lib/json.ts'

export interface BlobServer {
  url(path: string): string
  /** The checksum of the bytes at a path. */
  checksum(path: string): string
  close(): Promise<void>
}

export async function serveBlobs(blobs: Readonly<Record<string, Buffer | RequestListener>>): Promise<BlobServer> {
  const server = createServer((request, response) => {
    const blob = blobs[(request.url ?? '').slice(1)]
    if (typeof blob === 'function') return blob(request, response)
    response.writeHead(blob ? 200 : 404, blob ? { 'content-length': blob.length } : {}).end(blob)
  })
  await new Promise<void>(up => server.listen(0, '127.0.0.1', up))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: path => `${origin}/${path}`,
    checksum: path => `sha256:${sha256Hex(blobs[path] as Buffer)}`,
    close: () =>
      new Promise(done => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}
