// The bundle commands between flags and the API: what is sent, and what comes back. Applying has a file of its own.
import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { defaultLimits } from '../bundles/model/source.ts'
import type { PlanAnswer } from '../bundles/request.ts'
import { ApiError, type CallOf, type Client } from '../server/client.ts'
import * as routes from '../server/contract/bundles.ts'
import { listStacks } from '../server/contract/stacks.ts'
import {
  envOf,
  type planOptions,
  readSources,
  secretsOf,
  selectorsOf,
  type sourceOptions,
  type valueOptions,
} from './bundle-input.ts'
import type { Session } from './command.ts'
import type { Values } from './parameter.ts'
import { type serverOptions, withServer } from './server.ts'

type BundleValues = Values<typeof sourceOptions> & Values<typeof valueOptions> & Values<typeof serverOptions>
type PlanBody = NonNullable<CallOf<typeof routes.planBundle>['body']>

/** Everything that plan and apply send alike. */
export async function requestOf(values: BundleValues & Partial<Values<typeof planOptions>>, session: Session) {
  const sources = await readSources(values, session)
  return {
    sources: [...sources, ...(values.url ?? []).map(url => ({ url }))],
    env: await envOf(values),
    secrets: await secretsOf(values, session),
    skip: selectorsOf(values.skip),
    ...(values.adopt && { adopt: 'byName' as const }),
  } satisfies PlanBody
}

/** What is said of a bundle without looking at anything live. */
export type Validation = Pick<PlanAnswer, 'summary' | 'problems' | 'warnings'>

export async function validateBundle(
  values: BundleValues & { readonly skip?: readonly string[]; readonly offline?: boolean },
  session: Session,
): Promise<Validation> {
  const body = await requestOf(values, session)
  if (values.offline) return validateHere(body)
  return withServer(values, client => askForPlan(client, { ...body, validateOnly: true }))
}

/** By the kinds of this program. What is behind URLs is not fetched. */
async function validateHere({ sources, env }: Awaited<ReturnType<typeof requestOf>>): Promise<Validation> {
  const [{ readDocuments }, { understand }, { kinds }] = await Promise.all([
    import('../bundles/read/documents.ts'),
    import('../bundles/validate/understand.ts'),
    import('../resources/kinds/all.ts'),
  ])
  const local = sources.flatMap(source => ('url' in source ? [] : [source]))
  const context = { kinds, env, options: {}, limits: defaultLimits }
  const { summary, problems, warnings } = understand(readDocuments(local, defaultLimits), context)
  return { summary, problems, warnings }
}

/**
 * Without --stack it is the stack that has the name of the first file or directory, and a new one of that name where there
 * is none: applying the same path again means the same stack.
 */
export async function stackOf(client: Client, values: PlanValues): Promise<{ stack?: string; stackName?: string }> {
  if (values.noStack) return {}
  if (values.stack !== undefined) return { stack: values.stack }
  const name = values.name ?? nameOfPath(values.file?.[0])
  if (name === undefined) return {}
  const { stacks } = await client.call(listStacks, { query: { name: [name], limit: 2 } })
  return stacks.length > 0 ? { stack: name } : { stackName: name }
}

function nameOfPath(path: string | undefined): string | undefined {
  if (path === undefined || path === '-') return undefined
  return basename(resolve(path)).replace(/\.(ya?ml|json|jsonnet)$/, '') || undefined
}

export interface PlanValues extends BundleValues, Values<typeof planOptions> {
  readonly name?: string
  readonly noStack?: true
  readonly out?: string
}

export async function planBundle(values: PlanValues, session: Session): Promise<PlanAnswer> {
  const body = await requestOf(values, session)
  const { noStack, out } = values
  const request = { ...body, ...(noStack && { noStack }), ...(out !== undefined && { save: true }) }
  return withServer(values, async client => {
    const answer = await askForPlan(client, { ...request, ...(await stackOf(client, values)) })
    if (out !== undefined && answer.problems.length === 0) await writePlan(out, answer)
    return answer
  })
}

/** With problems the server still gives the plan of what it could understand. */
export async function askForPlan(client: Client, body: PlanBody): Promise<PlanAnswer> {
  try {
    return (await client.call(routes.planBundle, { body })) as PlanAnswer
  } catch (error) {
    if (error instanceof ApiError && error.status === 422 && isPlanAnswer(error.body)) return error.body
    throw error
  }
}

const isPlanAnswer = (body: unknown): body is PlanAnswer =>
  typeof body === 'object' && body !== null && 'plan' in body && 'summary' in body

/** What `cairn plan -o` writes: for people to keep, and for apply to name. The server has the rest. */
export interface PlanFile {
  readonly cairnPlan: 1
  readonly answer: PlanAnswer
}

async function writePlan(file: string, answer: PlanAnswer) {
  const content: PlanFile = { cairnPlan: 1, answer }
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`)
}

export interface ExportValues extends Values<typeof serverOptions> {
  readonly stack?: readonly string[]
  readonly all?: true
  readonly resource?: readonly string[]
  readonly kind?: readonly string[]
  readonly label?: readonly string[]
  readonly name?: readonly string[]
  readonly noDeps?: true
  readonly resolve?: true
  readonly strictNames?: true
}

export async function exportResources(values: ExportValues) {
  const { stack = [], all, resource, kind, label, name, noDeps, resolve, strictNames } = values
  const body = {
    stacks: [...stack],
    ...(all && { all }),
    resources: selectorsOf(resource).map(({ kind, name = '' }) =>
      name.startsWith('id:') ? { kind, id: name.slice(3) } : { kind, name },
    ),
    filters: {
      ...(kind && { kinds: [...kind] }),
      ...(label && { labels: [...label] }),
      ...(name && { displayNames: [...name] }),
    },
    ...(noDeps && { noDependencies: noDeps }),
    ...(resolve && { resolve }),
    ...(strictNames && { strictNames }),
  }
  return withServer(values, client => client.call(routes.exportBundle, { body }))
}
