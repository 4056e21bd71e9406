// The other side of the contract: one call per route, typed by the route itself. Whatever is no 2xx is thrown as ApiError;
// a server that cannot be reached is said in plain words, with the next step.
import { isIP } from 'node:net'
import { Agent, type Dispatcher, request as send } from 'undici'
import type * as z from 'zod'
import type { StepProgress } from '../bundles/request.ts'
import { CairnError, isErrno, messageOf, RefusedError } from '../lib/errors.ts'
import type { Problem } from '../lib/problem.ts'
import type { Secret } from '../lib/redact.ts'
import { safeUrl } from '../lib/safe-url.ts'
import type { Route } from './contract/route.ts'
import * as service from './contract/service.ts'
import type { FeedEvent } from './ports.ts'
import { readServerSentEvents } from './sse-reader.ts'

export interface Client {
  /** Without credentials; for messages. */
  readonly url: string
  call<R extends Route>(route: R, request: CallOf<R>): Promise<AnswerOf<R>>
  /** The answer as text in one of the route's `answerTypes`, e.g. `application/yaml` of an export. */
  text<R extends Route>(route: R, request: CallOf<R> & { readonly accept: string }): Promise<string>
  /** For routes that answer application/x-ndjson: every line of progress as it comes, then the answer. */
  stream<R extends Route>(route: R, request: CallOf<R> & { onProgress(step: StepProgress): void }): Promise<AnswerOf<R>>
  /** Changes as they are committed, until the signal or until the server ends it. `reset`: some were missed, read everything anew. */
  events(from: { readonly since?: number; readonly signal: AbortSignal }): AsyncIterable<ClientEvent>
  close(): Promise<void>
}

export type ClientEvent =
  | { readonly event: 'change'; readonly seq: number; readonly change: FeedEvent }
  | { readonly event: 'reset'; readonly seq: number }

export interface ClientOptions {
  readonly url: string
  readonly token?: Secret
  /** PEM of the authority that signed the server's certificate; absent: those that Node knows. */
  readonly ca?: string
}

type Part<Name extends string, Input> =
  Record<never, never> extends Input ? { readonly [key in Name]?: Input } : { readonly [key in Name]: Input }

/** What a route takes; parts that it can do without may be left out. */
export type CallOf<R extends Route> = (R extends Route<infer Params, infer Query, infer Body, z.ZodType>
  ? Part<'params', z.input<Params>> &
      Part<'query', z.input<Query>> &
      (Body extends z.ZodUndefined ? unknown : Part<'body', z.input<Body>>)
  : never) & {
  /** The revision that the change rests on. */
  readonly ifMatch?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export type AnswerOf<R extends Route> = z.output<R['answer']>

/** The server answered, and it was no 2xx. `body` is all of what it said: a refused plan is in there. */
export class ApiError extends CairnError {
  readonly status: number
  readonly problems: readonly Problem[]
  readonly body: unknown

  constructor(status: number, problems: readonly Problem[], body: unknown) {
    const first = problems[0] ?? {
      code: 'server.failed',
      path: '',
      reason: `the server answered with status ${status}`,
    }
    super(first.code, first.reason, first.hint === undefined ? {} : { hint: first.hint })
    this.name = 'ApiError'
    this.status = status
    this.problems = problems
    this.body = body
  }
}

/** Undefined parts are left out. */
interface LooseCall {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly ifMatch?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const connectMs = 10_000
/** A question is answered soon; a change may wait for a lock, and says nothing meanwhile. */
const questionMs = 60_000

export function createClient({ url, token, ca }: ClientOptions): Client {
  const base = baseUrl(url, token !== undefined)
  const agent = new Agent({ connect: { timeout: connectMs, ...(ca !== undefined && { ca }) } })
  const shown = safeUrl(base)

  async function ask(route: Route, call: LooseCall, accept: string): Promise<Dispatcher.ResponseData> {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    try {
      return await send(new URL(pathOf(route, call), base), {
        dispatcher: agent,
        method: route.method,
        headers: {
          accept,
          ...(token && { authorization: `Bearer ${token.reveal()}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(call.ifMatch !== undefined && { 'if-match': `"${call.ifMatch}"` }),
        },
        ...(body !== undefined && { body }),
        ...(call.signal && { signal: call.signal }),
        headersTimeout: route.method === 'GET' ? questionMs : 0,
        bodyTimeout: accept === 'text/event-stream' || accept === 'application/x-ndjson' ? 0 : questionMs,
      })
    } catch (cause) {
      throw unreachableServer(shown, cause, call.signal)
    }
  }

  async function succeeded(route: Route, call: LooseCall, accept: string) {
    const answer = await ask(route, call, accept)
    if (answer.statusCode < 300) return answer
    throw apiError(answer.statusCode, parsed(await answer.body.text()))
  }

  /** Reading may fail as well as asking. */
  async function guarded<Result>(call: LooseCall, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw error instanceof CairnError ? error : unreachableServer(shown, error, call.signal)
    }
  }

  return {
    url: shown,
    call: (route, call) =>
      guarded(call, async () => {
        const answer = await succeeded(route, call, 'application/json')
        const text = await answer.body.text()
        if (answer.statusCode === 204) return undefined as AnswerOf<typeof route>
        const value = parsed(text)
        if (value === undefined) throw notAnswered(shown)
        return value as AnswerOf<typeof route>
      }),
    text: (route, call) => guarded(call, async () => (await succeeded(route, call, call.accept)).body.text()),
    stream: (route, call) =>
      guarded(call, async () => {
        const answer = await succeeded(route, call, 'application/x-ndjson')
        if (!String(answer.headers['content-type']).startsWith('application/x-ndjson'))
          return parsed(await answer.body.text()) as AnswerOf<typeof route>
        for await (const line of lines(answer.body)) {
          const value = parsed(line) as StepProgress | ({ status: number } & Record<string, unknown>) | undefined
          if (!value) throw notAnswered(shown)
          if (!('status' in value)) call.onProgress(value)
          else if (value.status < 300) return value as AnswerOf<typeof route>
          else throw apiError(value.status, value)
        }
        throw new CairnError('server.connection-lost', `${shown} ended the connection before it had answered`, {
          hint: 'What was under way is finished or undone by the server: cairn stacks history tells which.',
        })
      }),
    async *events({ since, signal }) {
      const query = since === undefined ? {} : { since }
      const answer = await succeeded(service.events, { query, signal }, 'text/event-stream')
      try {
        for await (const { id, event, data } of readServerSentEvents(answer.body)) {
          const seq = Number(id)
          if (event === 'reset') yield { event, seq }
          else yield { event: 'change', seq, change: JSON.parse(data) as FeedEvent }
        }
      } catch (cause) {
        if (signal.aborted) return
        throw unreachableServer(shown, cause, signal)
      }
    },
    close: () => agent.close(),
  }
}

/** A token in clear over a network is a token lost. */
function baseUrl(url: string, hasToken: boolean): URL {
  const base = URL.parse(url)
  const hint = 'Write it as http://127.0.0.1:8420 or https://cairn.example:8420.'
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password)
    throw new RefusedError('server.address-invalid', `"${safeUrl(url)}" is not the address of a server`, { hint })
  if (hasToken && base.protocol === 'http:' && !isLoopback(base.hostname))
    throw new RefusedError('server.plain-http', `the token is not sent to ${safeUrl(base)}: http is not encrypted`, {
      hint: 'Use https; http is for this machine only.',
    })
  return base
}

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

function pathOf(route: Route, { params = {}, query = {} }: LooseCall): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one))
  return search.size > 0 ? `${path}?${search}` : path
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function apiError(status: number, body: unknown): ApiError {
  const problems = body !== null && typeof body === 'object' && 'problems' in body ? body.problems : []
  return new ApiError(status, Array.isArray(problems) ? (problems as Problem[]) : [], body)
}

async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}

const notAnswered = (url: string) =>
  new CairnError('server.answer-unreadable', `what answers at ${url} is not a Cairn server`, {
    hint: 'Check --server, and proxies in between.',
  })

function unreachableServer(url: string, cause: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (cause instanceof CairnError) return cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(code))
    return new CairnError(
      'server.certificate-refused',
      `the certificate of ${url} is not trusted: ${messageOf(cause)}`,
      {
        hint: 'Give the authority that signed it with --ca-file FILE; a server that made its own keeps it in ca.crt of its data directory.',
        cause,
      },
    )
  if (/WRONG_VERSION_NUMBER|EPROTO|HPE_/.test(code) || (cause instanceof Error && cause.name === 'HTTPParserError'))
    return new CairnError('server.protocol', `${url} speaks another protocol`, {
      hint: 'Is it https instead of http, or the other way around?',
      cause,
    })
  const hint = 'Start one with cairn up, or name another with --server URL.'
  if (isErrno(cause, 'ECONNREFUSED', 'ENOENT'))
    return new CairnError('server.unreachable', `no server answers at ${url}`, { hint, cause })
  if (isErrno(cause, 'ENOTFOUND', 'EAI_AGAIN'))
    return new CairnError('server.unreachable', `the host of ${url} is not known`, { hint, cause })
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new CairnError('server.unreachable', `${url} did not answer in time`, { hint, cause })
  return new CairnError('server.connection-lost', `the connection to ${url} was lost: ${messageOf(cause)}`, {
    hint,
    cause,
  })
}
