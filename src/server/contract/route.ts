// A route of the API as a value: who may call it, what it takes, what it answers. The server, the OpenAPI document, the typed
// client and the table test of who may do what are all made from these.
import * as z from 'zod'
import { problemSchema } from '../../bundles/model/summary.ts'
import type { Role } from '../ports.ts'

export interface Route<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/api/v1/stacks/{id}`. */
  readonly path: string
  readonly tag: string
  /** One line, upper case, no full stop. */
  readonly summary: string
  readonly description?: string
  /** `anyone` needs no token. */
  readonly allow: readonly Role[] | 'anyone'
  /** Written to the audit log whatever it answers. */
  readonly changes: boolean
  readonly params: Params
  readonly query: Query
  /** Absent: no body is read. */
  readonly body?: Body
  /** Other content types than JSON that the body may have. */
  readonly bodyTypes?: readonly string[]
  /** Of 2xx. */
  readonly answer: Answer
  /** The 2xx statuses it can have; the first is the usual one. */
  readonly statuses: readonly [number, ...number[]]
  /** Content types of the answer besides JSON, chosen by Accept. */
  readonly answerTypes?: readonly string[]
  /** The errors that it can answer with beyond those that every route has. */
  readonly errors: readonly number[]
  /** Takes `If-Match: <revision>`. */
  readonly ifMatch?: boolean
}

type Made = 'params' | 'query' | 'statuses' | 'errors' | 'changes'

export function route<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodType,
>(
  parts: Omit<Route<Params, Query, Body, Answer>, Made> & Partial<Pick<Route<Params, Query, Body, Answer>, Made>>,
): Route<Params, Query, Body, Answer> {
  return {
    changes: parts.method !== 'GET',
    // An absent part is the empty object that its type parameter defaults to.
    params: z.strictObject({}) as unknown as Params,
    query: z.strictObject({}) as unknown as Query,
    statuses: [200],
    errors: [],
    ...parts,
  }
}

/** Every answer that is no 2xx, as application/problem+json. */
export const errorSchema = z.object({
  type: z.string().describe('about:blank, or the page of the code.'),
  title: z.string(),
  status: z.number().int(),
  problems: z.array(problemSchema),
})
export type ErrorBody = z.infer<typeof errorSchema>

export const everyone = ['admin', 'operator', 'viewer', 'machine'] as const
export const readers = ['admin', 'operator', 'viewer'] as const
export const writers = ['admin', 'operator'] as const
export const admins = ['admin'] as const

/** Query parameters come as text. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(500).optional().describe('`next` of the page before.'),
}

/** A parameter that may be given more than once. */
export const repeatable = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(
    value => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).max(100).optional(),
  )

export const idParam = z.string().min(1).max(255)
