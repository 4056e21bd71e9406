// What a handler is given and what it gives back. `Handlers` has one for each route of the contract, typed by it: a route
// without a handler does not compile.
import type { FastifyReply } from 'fastify'
import type * as z from 'zod'
import type { Engine } from '../../bundles/engine.ts'
import type { Source } from '../../bundles/model/source.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Json } from '../../lib/json.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Kind } from '../../resources/kind.ts'
import type { Auth } from '../auth.ts'
import type { RouteName, routes } from '../contract/all.ts'
import type { Route } from '../contract/route.ts'
import type { FeedTail } from '../feed-tail.ts'
import type { ServerLimits } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { Database, Token } from '../ports.ts'
import type { Underway } from '../underway.ts'

export interface HandlerPorts {
  readonly database: Database
  readonly engine: Engine
  readonly kinds: readonly Kind[]
  readonly clock: Clock
  newId(): string
  readonly limits: ServerLimits
  /** One URL of a request, with all guards. */
  fetchSource(url: string, signal?: AbortSignal): Promise<Source | Problem>
  readonly auth: Auth
  readonly tail: FeedTail
  readonly metrics: Metrics
  readonly underway: Underway
}

export interface Call<R extends Route> {
  readonly params: z.output<R['params']>
  readonly query: z.output<R['query']>
  readonly body: R extends Route<z.ZodObject, z.ZodObject, infer Body, z.ZodType> ? z.output<Body> : never
  /** The bundle itself was the body. */
  readonly bundle?: Source
  readonly ifRevision?: number
  readonly who: Token
  /** The content type that the caller wants, of those that the route has. */
  readonly accept: string
  /** Aborted when the caller is gone. */
  readonly gone: AbortSignal
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** For those that stream; they hijack it. */
  readonly reply: FastifyReply
  /** For the audit log: what was done to, and what came of it. */
  note(target: string, detail?: Record<string, Json>): void
}

export type Answer<Body> =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: Body }
  | { readonly text: string; readonly type: string; readonly headers?: Readonly<Record<string, string>> }
  /** The handler wrote it itself; this is how it ended, and why. */
  | { readonly streamed: number; readonly failed?: unknown }

export type Handlers = {
  readonly [Name in RouteName]: (
    call: Call<(typeof routes)[Name]>,
  ) => Promise<Answer<Fixed<z.input<(typeof routes)[Name]['answer']>>>>
}

/** The rooms below give what nobody changes. */
type Fixed<Value> = Value extends readonly (infer Item)[]
  ? readonly Fixed<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Fixed<Value[Key]> }
    : Value

export const etag = (revision: number): { etag: string } => ({ etag: `"${revision}"` })
