// A request's bundle, read and understood: its own sources, else those behind the URLs of its stack. Gathers all Problems.

import type { Problem } from '../../lib/problem.ts'
import type { EnginePorts } from '../engine.ts'
import { addressOf, type BundleResource } from '../model/bundle.ts'
import type { Source } from '../model/source.ts'
import type { Stack } from '../model/stack.ts'
import { readDocuments } from '../read/documents.ts'
import type { BundleRequest } from '../request.ts'
import { type Understood, understand } from '../validate/understand.ts'

export interface ReadBundle extends Understood {
  readonly sources: readonly Source[]
}

export async function readBundle(
  ports: EnginePorts,
  request: BundleRequest,
  stack: Stack | null,
  signal?: AbortSignal,
): Promise<ReadBundle> {
  const { sources, problems: unreached } = await sourcesOf(ports, request, stack, signal)
  const { limits } = ports
  const documents = readDocuments(sources, limits)
  const understood = understand(
    { ...documents, problems: [...unreached, ...documents.problems] },
    {
      kinds: ports.platforms.flatMap(({ kinds }) => kinds),
      platformOf: platformsOfKinds(ports),
      env: request.env,
      options: request.options,
      limits,
      ...(request.defaultApiVersion !== undefined && { defaultApiVersion: request.defaultApiVersion }),
    },
  )
  const problems = [...understood.problems, ...secretProblems(request, understood, limits.secretBytes)]
  if (sources.length === 0 && problems.length === 0) problems.push(nothingGiven)
  return { ...understood, problems, sources }
}

/** Kind to the name of its platform. */
const platformsOfKinds = ({ platforms }: Pick<EnginePorts, 'platforms'>): ReadonlyMap<string, string> =>
  new Map(platforms.flatMap(({ name, kinds }) => kinds.map(({ kind }) => [kind, name] as const)))

async function sourcesOf(ports: EnginePorts, request: BundleRequest, stack: Stack | null, signal?: AbortSignal) {
  if (request.sources.length > 0) return { sources: request.sources, problems: [] }
  const fetched = await Promise.all((stack?.config.urls ?? []).map(url => ports.fetchSource(url, signal)))
  const sources: Source[] = []
  const problems: Problem[] = []
  for (const answer of fetched)
    if ('code' in answer) problems.push(answer)
    else sources.push(answer)
  return { sources, problems }
}

/** A key that nobody uses would be stored for nothing; while a resource is not understood, it may be its key. */
function* secretProblems(
  { secrets }: BundleRequest,
  { secretKeys, invalid }: Understood,
  secretBytes: number,
): Generator<Problem> {
  const used = new Set(secretKeys)
  for (const [key, value] of Object.entries(secrets)) {
    const path = `secrets.${key}`
    if (!used.has(key) && invalid.size === 0)
      yield {
        code: 'secret.unused',
        path,
        reason: `no resource of the bundle uses the secret "${key}"`,
        hint: used.size > 0 ? `Those it uses: ${[...used].sort().join(', ')}.` : 'The bundle uses no secrets.',
      }
    if (Buffer.byteLength(value.reveal()) > secretBytes)
      yield { code: 'limit.secret', path, reason: `the secret "${key}" has more than ${secretBytes} bytes` }
  }
}

const nothingGiven: Problem = {
  code: 'bundle.empty',
  path: '',
  reason: 'there is no bundle: no source was given, and the stack has no URLs',
  hint: 'To remove what a stack made, uninstall it: cairn stacks uninstall.',
}

/** What apply refuses and a plan only tells. */
export function missingValues(
  ports: Pick<EnginePorts, 'platforms'>,
  { bundle, missingEnvRefs }: Understood,
  missingSecrets: readonly string[],
): Problem[] {
  const platforms = platformsOfKinds(ports)
  const addressIn = (user: BundleResource) => addressOf(user, platforms.get(user.kind.kind))
  return [
    ...missingEnvRefs.map((key): Problem => {
      const user = bundle.resources.find(({ envRefs }) => envRefs.some(use => use.key === key))
      const use = user?.envRefs.find(use => use.key === key)
      return {
        code: 'env.missing',
        path: user && use ? `${addressIn(user)}.${use.path}` : '',
        reason: `"${key}" has neither a value nor a default`,
        hint: `Supply it: --env ${key}=VALUE.`,
        ...(user?.source && { source: user.source }),
      }
    }),
    ...missingSecrets.map((key): Problem => {
      const user = bundle.resources.find(({ secretKeys }) => secretKeys.includes(key))
      return {
        code: 'secret.missing',
        path: user ? addressIn(user) : '',
        reason: `the secret "${key}" is neither stored nor supplied`,
        hint: `Supply it: --secret ${key}.`,
        ...(user?.source && { source: user.source }),
      }
    }),
  ]
}
