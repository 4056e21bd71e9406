// Every answer that is no 2xx: which status an error has, and what it may tell. Nothing of the inside gets out: an error
// that nobody foresaw is `server.failed`, and the log has the rest.
import { STATUS_CODES } from 'node:http'
import { LostLease, WriteConflict } from '../bundles/store.ts'
import { CairnError, ProblemsError, RefusedError } from '../lib/errors.ts'
import type { Problem, ProblemCode } from '../lib/problem.ts'
import type { ErrorBody } from './contract/route.ts'

export interface Failure {
  readonly status: number
  readonly problems: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  /** What stands in the body beside the problems: summary and plan of a refused bundle. */
  readonly more?: Readonly<Record<string, unknown>>
}

export class HttpFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.problems[0]?.reason ?? `status ${failure.status}`)
    this.name = 'HttpFailure'
    this.failure = failure
  }
}

/** For the common case of one problem. */
export function refuse(
  status: number,
  problem: Omit<Problem, 'path'> & { path?: string },
  headers?: Failure['headers'],
) {
  return new HttpFailure({ status, problems: [{ path: '', ...problem }], ...(headers && { headers }) })
}

export const problemType = 'application/problem+json'

export const failureBody = ({ status, problems, more }: Failure): ErrorBody & Record<string, unknown> => ({
  ...more,
  type: 'about:blank',
  title: STATUS_CODES[status] ?? 'Error',
  status,
  problems: [...problems],
})

const again = { 'retry-after': '1' }

export function failureOf(error: unknown): Failure {
  if (error instanceof HttpFailure) return error.failure
  if (error instanceof ProblemsError) return { status: statusOfProblems(error.problems), problems: error.problems }
  if (error instanceof RefusedError) return { status: statusOfRefusal(error.code), problems: problemsOf(error) }
  if (error instanceof WriteConflict) return conflict(error)
  if (error instanceof LostLease)
    return one(
      409,
      'stack.lock-lost',
      'another operation took the lock of the stack',
      'Look at the stack, then try again.',
    )
  if (error instanceof CairnError && error.code.startsWith('database.'))
    return { ...one(503, error.code, 'the database does not answer now', 'Try again in a moment.'), headers: again }
  return frameworkFailure(error) ?? one(500, 'server.failed', 'the server failed; its log says why')
}

/** A cursor is part of the request, not of what is in it; a bundle that is too large is a bad bundle. */
function statusOfProblems(problems: readonly Problem[]): number {
  if (problems.some(({ code }) => code === 'limit.request')) return 413
  return problems.some(({ code }) => code === 'cursor.invalid') ? 400 : 422
}

const notFound = new Set<ProblemCode>([
  'stack.unknown',
  'resource.unknown',
  'kind.unknown',
  'plan.unknown',
  'token.unknown',
  'secret.unknown',
])
const moved = new Set<ProblemCode>(['revision.moved', 'stack.moved'])
const unconfirmed = new Set<ProblemCode>(['confirm.missing'])

function statusOfRefusal(code: ProblemCode): number {
  if (notFound.has(code)) return 404
  if (moved.has(code)) return 412
  if (unconfirmed.has(code)) return 428
  return 409
}

/** The refusal itself first, unless one of its problems says the same. */
function problemsOf({ code, message, hint, problems }: RefusedError): readonly Problem[] {
  if (problems.some(problem => problem.code === code)) return problems
  return [{ code, path: '', reason: message, ...(hint !== undefined && { hint }) }, ...problems]
}

function conflict({ reason, about }: WriteConflict): Failure {
  const path = about ? `${about.kind}/${about.id}` : ''
  switch (reason) {
    case 'display-name':
      return one(409, 'resource.exists', 'another resource of this kind has that name', undefined, path)
    case 'owner':
      return one(409, 'resource.owned', 'a stack owns this resource', undefined, path)
    case 'gone':
      return one(409, 'resource.gone', 'it was deleted meanwhile', 'Read it again.', path)
    case 'revision':
      return one(409, 'revision.moved', 'somebody else changed it meanwhile', 'Read it again.', path)
  }
}

/** Fastify's own, and those of Node's HTTP parser: they carry a status, and their text is not ours. */
function frameworkFailure(error: unknown): Failure | null {
  const { statusCode, code } = (error ?? {}) as { statusCode?: number; code?: string }
  if (statusCode === 413) return one(413, 'limit.request', 'the request is larger than this server takes')
  if (statusCode === 415) return unsupportedType()
  if (code?.startsWith('FST_') && statusCode && statusCode < 500)
    return one(statusCode, 'request.unreadable', 'the request cannot be read')
  return null
}

/** Its sender went away, or went on with what is no HTTP. */
export const cutShort: Failure = one(400, 'request.unreadable', 'the request ended before it was whole')

export const unsupportedType = (types: readonly string[] = ['application/json']): Failure =>
  one(415, 'request.content-type', `the body must be ${types.join(' or ')}, in UTF-8 and not compressed`)

function one(status: number, code: ProblemCode, reason: string, hint?: string, path = ''): Failure {
  return { status, problems: [{ code, path, reason, ...(hint !== undefined && { hint }) }] }
}
