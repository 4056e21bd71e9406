// The service itself: events, health, metrics, its own description.
import { refuse } from '../failure.ts'
import { type OpenApi, openApiDocument } from '../openapi.ts'
import { apiPage, apiPagePolicy } from '../page.ts'
import type { EventStreams } from '../sse.ts'
import type { HandlerPorts, Handlers } from './handler.ts'

type ServiceRoutes = 'events' | 'health' | 'readiness' | 'metrics' | 'openapi' | 'apiPage'

const pingMs = 2_000

export function serviceHandlers(ports: HandlerPorts, streams: EventStreams): Pick<Handlers, ServiceRoutes> {
  const { database, metrics, underway, kinds, clock } = ports
  // Made when somebody asks first: a start has better things to do.
  let document: OpenApi | undefined
  const described = () => {
    document ??= openApiDocument(kinds)
    return document
  }
  let documentText: string | undefined
  const describedText = () => {
    documentText ??= JSON.stringify(described())
    return documentText
  }
  return {
    events: async ({ reply, who, query, headers }) => {
      const since = lastEventId(headers['last-event-id']) ?? query.since
      const sent = reply.getHeaders()
      await streams.serve({
        response: reply.raw,
        begin: () => reply.hijack(),
        headers: sent,
        who,
        since,
      })
      return { streamed: 200 }
    },
    health: async () => ({ body: { ok: true } }),
    readiness: async () => {
      if (underway.stopping) throw notReady('the server is about to stop')
      const late = new AbortController()
      const answered = database.ping().then(
        () => true,
        () => false,
      )
      const ready = await Promise.race([
        answered,
        clock.sleep(pingMs, late.signal).then(
          () => false,
          () => false,
        ),
      ])
      late.abort()
      if (!ready) throw notReady('the database does not answer')
      return { body: { ok: true, leader: database.leadership.isLeader() } }
    },
    metrics: async () => {
      const { text, type } = await metrics.text()
      return { text, type }
    },
    openapi: async () => ({ text: describedText(), type: 'application/json' }),
    apiPage: async () => ({
      text: apiPage(described()),
      type: 'text/html',
      headers: { 'content-security-policy': apiPagePolicy },
    }),
  }
}

const notReady = (reason: string) => refuse(503, { code: 'server.not-ready', reason }, { 'retry-after': '1' })

function lastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined
  const seq = typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : Number.NaN
  if (Number.isSafeInteger(seq)) return seq
  throw refuse(400, { code: 'value.type', path: 'header.last-event-id', reason: 'must be the number of an event' })
}
