// Which connections nobody waits on. Node's own closeIdleConnections takes an answer that has been ended for one that was sent,
// and cuts off what still lies in its buffer; this one waits until it is out.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

/** From here on whoever asks the server to close idle connections, Node and fastify included, gets this. */
export function closeOnlyIdle(server: Server) {
  const answering = new Map<Socket, number>()
  const count = (socket: Socket, more: 1 | -1) => {
    const known = answering.get(socket)
    if (known !== undefined) answering.set(socket, known + more)
  }
  // Over TLS requests come on another socket, above the one that was connected.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    answering.set(socket, 0)
    socket.once('close', () => answering.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    count(socket, 1)
    response.once('close', () => count(socket, -1))
  })
  server.closeIdleConnections = () => {
    for (const [socket, answers] of answering) if (answers === 0) socket.destroy()
  }
}
