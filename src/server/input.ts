// What a request says, held against its route: path, query, If-Match, body. Everything wrong is gathered into one 400.
import type { IncomingMessage } from 'node:http'
import type * as z from 'zod'
import type { Source } from '../bundles/model/source.ts'
import { joinPaths } from '../lib/located-json.ts'
import type { Problem } from '../lib/problem.ts'
import { schemaProblems } from '../resources/schema-problems.ts'
import { bodyType } from './accept.ts'
import type { Route } from './contract/route.ts'
import { HttpFailure, refuse, unsupportedType } from './failure.ts'
import { readJsonBody, readText } from './json-body.ts'

export interface Input {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** The bundle itself was the body. */
  readonly bundle?: Source
  readonly ifRevision?: number
}

export interface RawRequest {
  readonly message: IncomingMessage
  /** Decoded by the router. */
  readonly params: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

/** Said once or not at all; saying them twice is how two readers of one request are made to differ. */
const singleHeaders = ['authorization', 'content-type', 'content-encoding', 'if-match', 'last-event-id', 'accept']

export function assertSingleHeaders(message: IncomingMessage) {
  for (const name of singleHeaders)
    if ((message.headersDistinct[name]?.length ?? 0) > 1)
      throw refuse(400, {
        code: 'request.given-twice',
        path: `header.${name}`,
        reason: `the header ${name} stands twice`,
      })
}

export function readInput(route: Route, raw: RawRequest, limits: { readonly depth: number }): Input {
  const problems: Problem[] = []
  const params = fits(route.params, raw.params, 'path', problems)
  const query = fits(route.query, queryOf(raw.message.url ?? '', problems), 'query', problems)
  const ifRevision = route.ifMatch ? revisionOf(raw.message.headers['if-match'], problems) : undefined
  const { body, bundle } = route.body ? bodyOf(route, route.body, raw, limits, problems) : { body: undefined }
  if (problems.length > 0) throw new HttpFailure({ status: 400, problems })
  return {
    params,
    query,
    body,
    ...(bundle && { bundle }),
    ...(ifRevision !== undefined && { ifRevision }),
  }
}

/** A parameter that stands twice is a list; routes say which may be. */
function queryOf(url: string, problems: Problem[]): Record<string, string | string[]> {
  const start = url.indexOf('?')
  const query: Record<string, string | string[]> = Object.create(null)
  if (start < 0) return query
  for (const part of url.slice(start + 1).split('&')) {
    if (part === '') continue
    const [, rawName = '', rawValue = ''] = /^([^=]*)=?(.*)$/s.exec(part) ?? []
    const name = decoded(rawName)
    const value = decoded(rawValue)
    if (name === null || value === null) {
      problems.push({ code: 'request.unreadable', path: 'query', reason: 'the query is not percent-encoded UTF-8' })
      continue
    }
    const known = query[name]
    query[name] = known === undefined ? value : [known, value].flat()
  }
  return query
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** `3`, `"3"`, or `*` for whichever. */
function revisionOf(header: string | undefined, problems: Problem[]): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const [, quoted, bare] = /^(?:"(\d{1,15})"|(\d{1,15}))$/.exec(header.trim()) ?? []
  const revision = Number(quoted ?? bare)
  if (Number.isSafeInteger(revision)) return revision
  problems.push({
    code: 'request.if-match',
    path: 'header.if-match',
    reason: 'If-Match must be one revision, such as "3"',
    hint: 'It is the ETag of what was read, and its field `revision`.',
  })
  return undefined
}

function bodyOf(
  route: Route,
  schema: z.ZodType,
  raw: RawRequest,
  limits: { readonly depth: number },
  problems: Problem[],
): { body: unknown; bundle?: Source } {
  const bytes = raw.body
  const { 'content-type': header, 'content-encoding': encoding } = raw.message.headers
  if (bytes === undefined || bytes.length === 0) return { body: fits(schema, {}, '', problems) }
  const types = ['application/json', ...(route.bodyTypes ?? [])]
  const type = bodyType(header)
  if (type === null || !types.includes(type) || (encoding !== undefined && encoding !== 'identity'))
    throw new HttpFailure(unsupportedType(types))
  if (type !== 'application/json') {
    const read = readText(bytes)
    if ('text' in read) return theBundle(schema, { name: 'body', content: read.text, encoding: 'yaml' })
    problems.push(read.problem)
    return { body: undefined }
  }
  // A request is a little deeper than the bundle in it may be.
  const read = readJsonBody(bytes, { depth: limits.depth + 8 })
  if ('problem' in read) {
    problems.push(read.problem)
    return { body: undefined }
  }
  if (route.bodyTypes && isBundle(read.value))
    return theBundle(schema, { name: 'body', content: read.text, encoding: 'json' })
  return { body: fits(schema, read.value, '', problems) }
}

const theBundle = (schema: z.ZodType, bundle: Source) => ({ body: schema.parse({}), bundle })

/** A list of resources or one of them; a request has no kind. */
const isBundle = (value: unknown): boolean =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && Object.hasOwn(value, 'kind'))

function fits(schema: z.ZodType, value: unknown, part: string, problems: Problem[]): unknown {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) {
    if (part !== '' && holdsNul(parsed.data))
      problems.push({ code: 'request.unreadable', path: part, reason: 'a parameter holds a character that is none' })
    return parsed.data
  }
  for (const problem of schemaProblems(schema, parsed.error)) {
    const { code, path } = problem
    problems.push({
      ...problem,
      code: code === 'key.unknown' ? 'request.unknown-key' : code,
      path: joinPaths(part, path),
    })
  }
  return undefined
}

const holdsNul = (value: unknown): boolean =>
  Object.values(value as Record<string, unknown>)
    .flat()
    .some(item => typeof item === 'string' && item.includes('\0'))
