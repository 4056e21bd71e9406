// A bundle as it was sent becomes the engine's request: URLs are fetched, secrets become Secrets.
import type * as z from 'zod'
import type { Source } from '../../bundles/model/source.ts'
import type { BundleRequest } from '../../bundles/request.ts'
import { ProblemsError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { Secret } from '../../lib/redact.ts'
import { slots } from '../../lib/slots.ts'
import type { planBundle } from '../contract/bundles.ts'
import { refuse } from '../failure.ts'
import { defined } from './defined.ts'
import type { Call, HandlerPorts } from './handler.ts'

type BundleBody = Pick<
  z.output<NonNullable<(typeof planBundle)['body']>>,
  'stack' | 'stackName' | 'sources' | 'env' | 'secrets' | 'skip' | 'adopt' | 'defaultApiVersion' | 'options'
>

const fetchesAtOnce = 8

/** With the problems of the URLs that gave nothing. */
export async function requestOf(
  ports: Pick<HandlerPorts, 'fetchSource' | 'limits'>,
  call: Pick<Call<typeof planBundle>, 'query' | 'bundle' | 'gone'>,
  body: BundleBody,
): Promise<{ readonly request: BundleRequest; readonly problems: readonly Problem[] }> {
  if (call.query.stack !== undefined && body.stack !== undefined)
    throw refuse(400, { code: 'request.given-twice', path: 'query.stack', reason: 'the stack is in the body already' })
  const stack = body.stack ?? call.query.stack
  const { stackName, adopt, defaultApiVersion } = body
  const secrets = secretsOf(body.secrets, ports.limits)
  const read = call.bundle ? [call.bundle] : await sourcesOf(ports, body.sources, call.gone)
  const request: BundleRequest = {
    sources: read.flatMap(source => ('code' in source ? [] : source)),
    env: withoutPrototype(body.env),
    secrets,
    skip: body.skip.map(defined),
    options: defined(body.options),
    ...defined({ stack, stackName, adopt, defaultApiVersion }),
  }
  return { request, problems: read.flatMap(source => ('code' in source ? source : [])) }
}

function sourcesOf(
  { fetchSource, limits }: Pick<HandlerPorts, 'fetchSource' | 'limits'>,
  sources: BundleBody['sources'],
  gone: AbortSignal,
): Promise<(Source | Problem)[]> {
  if (sources.length > limits.files)
    throw new ProblemsError([
      {
        code: 'limit.files',
        path: 'sources',
        reason: `${sources.length} files, and at most ${limits.files} are taken`,
      },
    ])
  const inTurn = slots(fetchesAtOnce)
  return Promise.all(
    sources.map(async source => ('url' in source ? inTurn(() => fetchSource(source.url, gone)) : defined(source))),
  )
}

export function secretsOf(
  secrets: Readonly<Record<string, string>>,
  { secretBytes }: { readonly secretBytes: number },
): Record<string, Secret> {
  const large = Object.keys(secrets).filter(key => Buffer.byteLength(secrets[key] ?? '') > secretBytes)
  if (large.length > 0)
    throw new ProblemsError(
      large.map(key => ({
        code: 'limit.secret',
        path: `secrets.${key}`,
        reason: `it is larger than ${secretBytes} bytes`,
      })),
    )
  return withoutPrototype(Object.fromEntries(Object.entries(secrets).map(([key, value]) => [key, new Secret(value)])))
}

/** So that a key called `constructor` is one only when somebody sent it. */
const withoutPrototype = <Value>(record: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.assign(Object.create(null) as Record<string, Value>, record)
