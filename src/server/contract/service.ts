// The service itself: events as they happen, health, metrics, its own description.
import * as z from 'zod'
import { everyone, route } from './route.ts'

const tag = 'Service'

export const events = route({
  method: 'GET',
  path: '/api/v1/events',
  tag,
  summary: 'Changes as they are committed, as server-sent events',
  description:
    'Each has its number as id. `Last-Event-ID` (or `since`) goes on from there; when that is no longer kept, the first event is `reset`, and whoever watches reads everything anew. A machine sees its own only.',
  allow: everyone,
  query: z.strictObject({ since: z.coerce.number().int().min(0).optional() }),
  answer: z.string(),
  answerTypes: ['text/event-stream'],
  errors: [503],
})

export const health = route({
  method: 'GET',
  path: '/healthz',
  tag,
  summary: 'The process answers',
  allow: 'anyone',
  answer: z.object({ ok: z.literal(true) }),
})

export const readiness = route({
  method: 'GET',
  path: '/readyz',
  tag,
  summary: 'It can do its work: the database answers, and it is not about to stop',
  allow: 'anyone',
  answer: z.object({ ok: z.literal(true), leader: z.boolean() }),
  errors: [503],
})

export const metrics = route({
  method: 'GET',
  path: '/metrics',
  tag,
  summary: 'Figures in the text format of Prometheus',
  allow: ['admin', 'operator', 'viewer'],
  answer: z.string(),
  answerTypes: ['text/plain'],
})

export const openapi = route({
  method: 'GET',
  path: '/api/v1/openapi.json',
  tag,
  summary: 'This API as OpenAPI 3.1',
  allow: 'anyone',
  answer: z.record(z.string(), z.json()),
})

export const apiPage = route({
  method: 'GET',
  path: '/api/v1/docs',
  tag,
  summary: 'This API as a page to read',
  allow: 'anyone',
  answer: z.string(),
  answerTypes: ['text/html'],
})
