// Fastify with nothing of its own left: bodies stay bytes, the query stays text, and whatever is refused before a route is
// found is refused in the same shape as everything else.
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyServerOptions } from 'fastify'
import { type Failure, failureBody, failureOf, problemType } from './failure.ts'
import { closeOnlyIdle } from './idle-connections.ts'
import type { ServerLimits } from './limits.ts'
import { securityHeaders } from './security-headers.ts'

export function bareApp({
  limits,
  newId,
  tls,
}: {
  readonly limits: ServerLimits
  newId(): string
  readonly tls?: { readonly cert: string; readonly key: string }
}): FastifyInstance {
  const options: FastifyServerOptions = {
    bodyLimit: limits.requestBytes,
    requestTimeout: limits.arriveMs,
    keepAliveTimeout: 60_000,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // Refused by our own hook, in our own words.
    return503OnClosing: false,
    genReqId: message => {
      const given = message.headers['x-request-id']
      return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : newId()
    },
    // The query is read by input.ts, which is strict.
    routerOptions: { querystringParser: () => ({}), maxParamLength: 1_000 },
    frameworkErrors: (error, _request, reply) => {
      reply.headers(securityHeaders)
      sendFailure(reply, failureOf(error))
    },
    clientErrorHandler: refuseSocket,
  }
  const http = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: Math.min(limits.arriveMs, 15_000),
    // Node looks every 30 s unless told: half a minute for slow senders beyond what they have.
    connectionsCheckingInterval: 2_000,
  }
  const app = tls
    ? // Its type differs for TLS only in the raw server, which nobody here looks into.
      (fastify({
        ...options,
        https: { ...http, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: http.headersTimeout },
      } as never) as unknown as FastifyInstance)
    : fastify({ ...options, http })
  closeOnlyIdle(app.server)
  app.server.maxConnections = limits.connections
  app.server.maxHeadersCount = 100
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  return app
}

export function sendFailure(reply: FastifyReply, failure: Failure) {
  if (failure.headers) reply.headers(failure.headers)
  return reply
    .code(failure.status)
    .type(problemType)
    .send(JSON.stringify(failureBody(failure)))
}

/** What Node's parser refused never becomes a request. */
function refuseSocket(error: Error & { code?: string }, socket: Socket) {
  if (!socket.writable) return socket.destroy()
  const [status, code, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ([431, 'limit.headers', 'the headers are larger than this server takes'] as const)
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ([408, 'limit.time', 'the request did not arrive in time'] as const)
        : ([400, 'request.unreadable', 'the request is not HTTP'] as const)
  const failure = { status, problems: [{ code, path: '', reason }] }
  const body = JSON.stringify(failureBody(failure))
  const headers = {
    ...securityHeaders,
    'content-type': problemType,
    'content-length': body.length,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 ${status} ${failureBody(failure).title}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}
