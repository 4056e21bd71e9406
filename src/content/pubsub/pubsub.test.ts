// Both transports, held to the same suite.
import { createServer, connect as netConnect, type Socket } from 'node:net'
import { memoryLinks } from './memory-link.ts'
import type { Transport } from './pubsub.fake.ts'
import { pubsubSuite } from './pubsub.suite.ts'
import { socketLink } from './socket-link.ts'

pubsubSuite('memory', () => ({ pair: async () => memoryLinks(), close: async () => {} }))
pubsubSuite('sockets', overSockets)

function overSockets(): Transport {
  const arrived: ((socket: Socket) => void)[] = []
  const server = createServer(socket => arrived.shift()!(socket))
  const listening = new Promise<number>(done =>
    server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port)),
  )
  const sockets: Socket[] = []
  return {
    pair: async () => {
      const port = await listening
      const theirs = new Promise<Socket>(done => arrived.push(done))
      const ours = netConnect(port, '127.0.0.1')
      const both = [await theirs, ours] as const
      for (const socket of both) socket.setNoDelay()
      sockets.push(...both)
      return [socketLink(both[0]), socketLink(both[1])]
    },
    close: () =>
      new Promise(done => {
        for (const socket of sockets) socket.destroy()
        server.close(() => done())
      }),
  }
}
