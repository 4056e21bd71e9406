// What the scenarios share: one real server for each database, bundles from values, and short words for what a plan says.
import { afterAll, beforeAll } from 'vitest'
import type { Plan } from '../../src/bundles/model/plan.ts'
import type { Stack, StackEvent } from '../../src/bundles/model/stack.ts'
import type { Problem } from '../../src/lib/problem.ts'
import { type AnswerOf, ApiError, type CallOf } from '../../src/server/client.ts'
import * as bundles from '../../src/server/contract/bundles.ts'
import * as resources from '../../src/server/contract/resources.ts'
import * as stacks from '../../src/server/contract/stacks.ts'
import type { FeedEvent } from '../../src/server/ports.ts'
import { describeWith } from '../require.ts'
import { type DatabaseKind, databases, type Ground, openGround, type ServerOptions, type TestServer } from './server.ts'

type PlanBody = NonNullable<CallOf<typeof bundles.planBundle>['body']>
type ApplyBody = Exclude<NonNullable<CallOf<typeof bundles.applyBundle>['body']>, { planId: string }>
export type Applied = AnswerOf<typeof bundles.applyBundle>
export type Planned = AnswerOf<typeof bundles.planBundle>

/** Text is one YAML file; a list of resources one JSON file; else the sources as they are. */
export type BundleGiven = string | readonly Resource[] | { readonly sources: NonNullable<PlanBody['sources']> }

export type Fields = resources.LiveResource['spec']

export interface Resource {
  readonly kind: string
  readonly metadata: Fields
  readonly spec: Fields
}

export interface Scene {
  readonly ground: Ground
  readonly server: TestServer
  plan(bundle: BundleGiven, more?: Partial<PlanBody>): Promise<Planned>
  apply(bundle: BundleGiven, more?: Partial<ApplyBody>): Promise<Applied>
  /** A saved plan. */
  applyPlan(planId: string, more?: { secrets?: Record<string, string> }): Promise<Applied>
  createStack(name: string, urls?: readonly string[]): Promise<Stack>
  stack(idOrName: string): Promise<AnswerOf<typeof stacks.getStack>>
  /** Newest first. */
  history(idOrName: string): Promise<StackEvent[]>
  /** By display name. */
  live(kind: string, name: string): Promise<resources.LiveResource>
  /** Display names, sorted. */
  names(kind: string): Promise<string[]>
  /** With another hand. */
  change(kind: string, name: string, spec: Fields): Promise<void>
  remove(kind: string, name: string): Promise<void>
  make(kind: string, spec: Fields): Promise<resources.LiveResource>
  exported(body: NonNullable<CallOf<typeof bundles.exportBundle>['body']>): Promise<string>
  /** The number of the last change that was told. */
  lastChange(): Promise<number>
  /** Everything goes but tokens, audit log and feed. */
  clear(): Promise<void>
}

/** The body runs once for each database, with a server of its own. */
export function onEachDatabase(
  title: string,
  body: (scene: Scene, kind: DatabaseKind) => void,
  options?: ServerOptions,
) {
  for (const kind of databases)
    describeWith(kind === 'postgres' ? ['postgres'] : [], `${title}, on ${kind}`, () => {
      const scene = {} as Scene
      beforeAll(async () => {
        Object.assign(scene, await openScene(kind, options))
      })
      afterAll(() => scene.ground?.remove())
      body(scene, kind)
    })
}

async function openScene(kind: DatabaseKind, options?: ServerOptions): Promise<Scene> {
  const ground = await openGround(kind)
  const server = await ground.startServer(options).catch(async error => {
    await ground.remove()
    throw error
  })
  const { client, query } = server

  async function live(kind: string, name: string): Promise<resources.LiveResource> {
    const found = await client.call(resources.listResources, { params: { kind }, query: { name: [name] } })
    const [one] = found.resources
    if (found.resources.length !== 1 || !one) throw new Error(`${found.resources.length} live ${kind} "${name}"`)
    return one
  }

  return {
    ground,
    server,
    plan: (bundle, more) => client.call(bundles.planBundle, { body: { ...sourcesOf(bundle), ...more } }),
    apply: (bundle, more) => client.call(bundles.applyBundle, { body: { ...sourcesOf(bundle), ...more } }),
    applyPlan: (planId, more) => client.call(bundles.applyBundle, { body: { planId, ...more } }),
    createStack: (name, urls) => client.call(stacks.createStack, { body: { name, ...(urls && { urls: [...urls] }) } }),
    stack: id => client.call(stacks.getStack, { params: { id } }),
    history: async id => (await client.call(stacks.stackEvents, { params: { id } })).events,
    live,
    names: async kind => {
      const found = await client.call(resources.listResources, { params: { kind }, query: { limit: 500 } })
      return found.resources.map(({ spec }) => String(spec.name)).sort()
    },
    change: async (kind, name, spec) => {
      const { metadata, spec: now } = await live(kind, name)
      const body = { spec: { ...now, ...spec } }
      await client.call(resources.putResource, { params: { kind, id: metadata.id }, body })
    },
    remove: async (kind, name) => {
      const { metadata } = await live(kind, name)
      const query = { confirm: ['dataLoss' as const] }
      await client.call(resources.deleteResource, { params: { kind, id: metadata.id }, query })
    },
    make: (kind, spec) => client.call(resources.createResource, { params: { kind }, body: { spec } }),
    exported: body => client.text(bundles.exportBundle, { body, accept: 'application/yaml' }),
    lastChange: async () => Number((await query('select coalesce(max(seq), 0) as seq from feed'))[0]?.seq),
    clear: async () => {
      for (const table of ['stacks', 'stack_events', 'resources', 'secrets', 'plans', 'leases'])
        await query(`delete from ${table}`)
    },
  }
}

function sourcesOf(bundle: BundleGiven) {
  if (typeof bundle === 'string') return { sources: [{ name: 'bundle.yaml', content: bundle }] }
  if ('sources' in bundle) return { sources: bundle.sources }
  return { sources: [{ name: 'bundle.json', content: JSON.stringify(bundle) }] }
}

export const a = (kind: string, name: string, spec: Fields = {}, metadata: Fields = {}): Resource => ({
  kind,
  metadata: { name, ...metadata },
  spec,
})

/** As an association. */
export const withLabel = (...names: string[]) => ({ associations: names.map(name => ({ kind: 'Label', name })) })

/** What a plan does, in its order, without what it leaves alone: `update Label/a spec.name`, `associate Volume/v Label/a`. */
export function told({ actions, associations }: Plan): string[] {
  const words = { create: 'associate', delete: 'dissociate', dropped: 'drop', none: '' }
  return [
    ...actions
      .filter(({ action }) => action !== 'none')
      .map(({ action, kind, name, changes }) =>
        [action, `${kind}/${name}`, ...changes.map(({ path }) => path)].join(' '),
      ),
    ...associations
      .filter(({ action }) => action !== 'none')
      .map(({ action, from, to }) => `${words[action]} ${targetText(from)} ${targetText(to)}`),
  ]
}

const targetText = ({
  kind,
  name,
  external,
}: {
  kind: string
  name?: string | undefined
  external?: string | undefined
}) => `${kind}/${name ?? external}`

/** What a call is refused with. Fails when it is not. */
export async function refusal(call: Promise<unknown>): Promise<{
  readonly status: number
  readonly codes: readonly string[]
  readonly problems: readonly Problem[]
  readonly body: Record<string, unknown>
}> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, problems, body } = error
    return { status, problems, codes: problems.map(({ code }) => code), body: body as Record<string, unknown> }
  }
  throw new Error('it was not refused')
}

/** The changes that were told since then, as `created Label label_1`. */
export async function changesSince(server: TestServer, seq: number): Promise<string[]> {
  const rows = (await server.query(`select * from feed where seq > ${seq} order by seq`)) as unknown as FeedEvent[]
  return rows.map(({ what, kind, name }) => `${what} ${kind} ${name}`)
}
