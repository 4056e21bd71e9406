// The HTTP API, made from the contract: each route is authenticated before its body is read, validated, handled, audited and
// answered in one place. Whatever is wrong with a request is 4xx in application/problem+json.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Engine } from '../bundles/engine.ts'
import type { Source } from '../bundles/model/source.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Json } from '../lib/json.ts'
import type { Problem } from '../lib/problem.ts'
import { redact } from '../lib/redact.ts'
import type { Kind } from '../resources/kind.ts'
import { acceptedType } from './accept.ts'
import { answerTypesOf } from './answer-types.ts'
import { type AuditNote, createAuditLog } from './audit.ts'
import { createAuth } from './auth.ts'
import { assertMayCall } from './authorize.ts'
import { bareApp, sendFailure } from './bare-app.ts'
import { type RouteName, routes } from './contract/all.ts'
import type { Route } from './contract/route.ts'
import { cutShort, failureOf, refuse } from './failure.ts'
import { createFeedTail } from './feed-tail.ts'
import { accessHandlers } from './handlers/access.ts'
import { bundleHandlers } from './handlers/bundles.ts'
import type { Answer, Call, HandlerPorts, Handlers } from './handlers/handler.ts'
import { resourceHandlers } from './handlers/resources.ts'
import { serviceHandlers } from './handlers/service.ts'
import { stackHandlers } from './handlers/stacks.ts'
import { assertSingleHeaders, readInput } from './input.ts'
import type { ServerLimits } from './limits.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { notFound } from './not-found.ts'
import type { Database, Token } from './ports.ts'
import { securityHeaders } from './security-headers.ts'
import { createEventStreams } from './sse.ts'
import { createUnderway } from './underway.ts'

export interface ServerOptions {
  readonly database: Database
  readonly engine: Engine
  readonly kinds: readonly Kind[]
  readonly clock: Clock
  newId(): string
  readonly limits: ServerLimits
  fetchSource(url: string, signal?: AbortSignal): Promise<Source | Problem>
  readonly logger: Logger
  /** Absent: plain HTTP, which only loopback is for. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

export interface Server {
  readonly app: FastifyInstance
  readonly metrics: Metrics
  /** From here on it is not ready; streams end, requests and applies finish or, past the limit, are undone. */
  stop(): Promise<void>
}

/** What belongs to one request. */
interface Asked {
  who: Token
  readonly note: AuditNote
}

const smallBody = 2 ** 20

const nobody: Token = { id: '', name: 'nobody', role: 'viewer', createdAt: '' }

export function createServer(options: ServerOptions): Server {
  const { database, clock, limits, logger } = options
  const auth = createAuth({ tokens: database.tokens, clock, refusedLogins: limits.refusedLogins })
  const tail = createFeedTail(database.feed)
  const streams = createEventStreams({ feed: database.feed, tail, auth, limits })
  const metrics = createMetrics({ database, streams: () => streams.open })
  const underway = createUnderway()
  const audit = createAuditLog({
    audit: database.audit,
    clock,
    failed: reason => logger.error({ reason }, 'a change could not be written to the audit log'),
  })
  const ports: HandlerPorts = { ...options, auth, tail, metrics, underway }
  const handlers: Handlers = {
    ...bundleHandlers(ports),
    ...stackHandlers(ports),
    ...resourceHandlers(ports),
    ...accessHandlers(ports),
    ...serviceHandlers(ports, streams),
  }
  const app = bareApp(options)
  const asked = new WeakMap<FastifyRequest, Asked>()
  const atOnce = new Map<string, number>()
  let bodiesBytes = 0

  /** What is not the caller's doing is in the log, also what the caller is not told. */
  const report = (request: FastifyRequest, error: unknown) => {
    const failure = error === request.raw.errored ? cutShort : failureOf(error)
    if (failure.status >= 500 && !failure.more)
      logger.error({ request: request.id, error: redact(messageOf(error)), stack: stackOf(error) }, 'a request failed')
    return failure
  }
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown) =>
    sendFailure(reply, report(request, error))

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...securityHeaders, 'x-request-id': request.id })
    const name = routeName(request)
    // Before anything of its body is read.
    if (!name) return sendFailure(reply, notFound(request.raw.url ?? ''))
    const route: Route = routes[name]
    try {
      assertSingleHeaders(request.raw)
      if (underway.stopping && route.allow !== 'anyone')
        throw refuse(503, { code: 'server.stopping', reason: 'the server is about to stop' }, { 'retry-after': '1' })
      if (route.allow === 'anyone') {
        asked.set(request, { who: nobody, note: { detail: {} } })
        return
      }
      const who = await auth.authenticate(request.headers.authorization, request.ip)
      asked.set(request, { who, note: { detail: {} } })
      countIn(reply, who)
      assertMayCall(route, who)
      countBody(request, reply)
    } catch (error) {
      return fail(request, reply, error)
    }
  })

  /** Throws 429. */
  function countIn(reply: FastifyReply, { id }: Token) {
    const count = atOnce.get(id) ?? 0
    if (count >= limits.requestsPerToken)
      throw refuse(
        429,
        { code: 'limit.requests', reason: `this token has ${count} requests under way` },
        { 'retry-after': '1' },
      )
    atOnce.set(id, count + 1)
    reply.raw.once('close', () => {
      const rest = (atOnce.get(id) ?? 1) - 1
      if (rest > 0) atOnce.set(id, rest)
      else atOnce.delete(id)
    })
  }

  /** Throws 429. Small ones always have a place, so that nobody who sends much keeps others from working. */
  function countBody({ headers }: FastifyRequest, reply: FastifyReply) {
    const isChunked = headers['transfer-encoding'] !== undefined
    const size = Math.min(isChunked ? limits.requestBytes : Number(headers['content-length'] ?? 0), limits.requestBytes)
    if (size <= smallBody) return
    if (bodiesBytes > 0 && bodiesBytes + size > limits.bodiesBytes)
      throw refuse(
        429,
        { code: 'limit.requests', reason: 'the server has as much to read at once as it takes' },
        { 'retry-after': '1' },
      )
    bodiesBytes += size
    reply.raw.once('close', () => {
      bodiesBytes -= size
    })
  }

  // Every answer that is not streamed passes here before it is sent, refusals too.
  app.addHook('onSend', async (request, reply) => {
    const name = routeName(request)
    if (name) await audited(request, name, reply.statusCode)
  })

  async function audited(request: FastifyRequest, name: RouteName, status: number) {
    const { who, note } = asked.get(request) ?? {}
    if (!who || !note || who === nobody) return
    const params = request.params as Record<string, string>
    await audit.write({ route: routes[name], who, params, note, status, requestId: request.id })
  }

  app.addHook('onResponse', async (request, reply) => {
    const route = routeName(request) ?? 'none'
    const { method } = request
    const ms = Math.round(reply.elapsedTime)
    metrics.answered({ route, method, status: reply.statusCode, ms })
    logger.info(
      { request: request.id, method, route, status: reply.statusCode, ms, who: asked.get(request)?.who.name },
      'answered',
    )
  })

  async function handle(name: RouteName, request: FastifyRequest, reply: FastifyReply) {
    const route: Route = routes[name]
    const { who, note } = asked.get(request)!
    const gone = new AbortController()
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort(new Error('the caller is gone'))
    })
    const input = readInput(
      route,
      {
        message: request.raw,
        params: request.params as Record<string, string>,
        body: request.body as Uint8Array | undefined,
      },
      limits,
    )
    const call = {
      ...input,
      who,
      accept: chosenType(route, request.headers.accept),
      gone: gone.signal,
      headers: request.headers,
      reply,
      note: (target: string, detail: Record<string, Json> = {}) => {
        note.target = target
        Object.assign(note.detail, detail)
      },
    }
    // The contract types each handler by its own route; here any of them is called.
    const answer = await (handlers[name] as (call: Call<Route>) => Promise<Answer<unknown>>)(call as Call<Route>)
    if ('streamed' in answer) {
      if (answer.failed !== undefined) report(request, answer.failed)
      return audited(request, name, answer.streamed)
    }
    if (answer.headers) reply.headers(answer.headers)
    if ('text' in answer) return reply.type(withCharset(answer.type)).send(answer.text)
    reply.code(answer.status ?? route.statuses[0])
    return answer.body === undefined
      ? reply.send()
      : reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body))
  }

  for (const [name, route] of Object.entries(routes) as [RouteName, Route][])
    app.route({
      method: route.method,
      url: route.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { name },
      handler: (request, reply) => handle(name, request, reply),
    })
  app.setErrorHandler((error, request, reply) => fail(request, reply, error))

  return {
    app,
    metrics,
    stop: async () => {
      const finished = underway.stop(limits.stopMs)
      streams.stop()
      tail.close()
      const closed = app.close()
      const late = setTimeout(() => app.server.closeAllConnections(), limits.stopMs + 1_000)
      // A connection whose last request was under way goes idle only now.
      const idle = setInterval(() => app.server.closeIdleConnections(), 50)
      try {
        await Promise.all([finished, closed])
      } finally {
        clearTimeout(late)
        clearInterval(idle)
      }
    },
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of the contract. */
    name?: RouteName
  }
}

const routeName = (request: FastifyRequest): RouteName | undefined => request.routeOptions.config?.name

/** Throws 406. Text is not also JSON. */
function chosenType(route: Route, header: string | undefined): string {
  const offered = answerTypesOf(route)
  const type = acceptedType(header, offered)
  if (type !== null) return type
  throw refuse(406, {
    code: 'request.accept',
    path: 'header.accept',
    reason: `this is answered as ${offered.join(' or ')}`,
  })
}

const withCharset = (type: string): string => (type.includes('charset') ? type : `${type}; charset=utf-8`)

const stackOf = (error: unknown): string | undefined =>
  error instanceof Error && error.stack !== undefined ? redact(error.stack) : undefined
