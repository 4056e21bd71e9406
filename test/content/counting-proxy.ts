// Stands before a registry and notes what is asked of it. It stays when the registry goes, so that also the attempt to reach
// a registry that is gone is seen.
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RealRegistry } from './registry.ts'

export interface CountingProxy {
  /** `127.0.0.1:port`, to be named instead of the registry's own. */
  readonly host: string
  /** Connections so far, whatever came of them. */
  connections(): number
  /** How often each digest was fetched, whether manifest or blob. */
  fetched(): ReadonlyMap<string, number>
  close(): Promise<void>
}

export async function countingProxy(registry: RealRegistry): Promise<CountingProxy> {
  const digests: string[] = []
  let connections = 0
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    const [, digest] = /\/sha256:([0-9a-f]{64})$/.exec(url) ?? []
    if (method === 'GET' && digest !== undefined) digests.push(digest)
    const onward = send(`http://${registry.host}${url}`, { method, headers: { ...headers, host: registry.host } })
    onward.on('response', answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.on('connection', () => connections++)
  await new Promise<void>(up => server.listen(0, '127.0.0.1', up))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    fetched: () => new Map([...Map.groupBy(digests, digest => digest)].map(([digest, all]) => [digest, all.length])),
    close: () =>
      new Promise(done => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}
