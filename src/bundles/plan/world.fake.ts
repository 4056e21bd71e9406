// A platform in memory with one stack over it: bundles are planned and carried out as the engine does it, without locks and
// journals. Every write is performed one by one, in the order given.
import { canonicalJson } from '../../lib/json.ts'
import { Secret } from '../../lib/redact.ts'
import { canonicalSpec } from '../../resources/canonical.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { Lifecycle } from '../../resources/metadata.ts'
import { type MemoryPlatform, memoryPlatform } from '../apply/platform.fake.ts'
import type { Bundle, BundleResource, Target } from '../model/bundle.ts'
import type { Plan } from '../model/plan.ts'
import type { Stack, StackResource } from '../model/stack.ts'
import type { Live, LiveId, Platform, Write } from '../platform.ts'
import type { Selector } from '../request.ts'
import type { Owner } from '../store.ts'
import { testKinds } from '../validate/kinds.fake.ts'
import { referencesOf } from './from-record.ts'
import { gatherView } from './gather.ts'
import type { OrderedWrites, RecordEvent } from './ordered-writes.ts'
import { planStack } from './plan.ts'
import { emptyBundle, type PlanMode, type PlanView } from './view.ts'
import { writesOf } from './writes.ts'

export interface Wish {
  kind: string
  name: string
  /** spec.name. */
  as?: string
  spec?: Spec
  with?: (string | Target)[]
  lifecycle?: Lifecycle
  movedFrom?: string[]
  secrets?: string[]
  file?: string
}

export const kindsByName: ReadonlyMap<string, Kind> = new Map(testKinds.map(kind => [kind.kind, kind]))

function aResource(wish: Wish): BundleResource {
  const kind = kindsByName.get(wish.kind)!
  const spec = canonicalSpec(kind, wish.spec ?? {})
  return {
    kind,
    apiVersion: kind.apiVersion,
    name: wish.name,
    displayName: wish.as ?? wish.name,
    spec,
    associations: (wish.with ?? []).map(to => (typeof to === 'string' ? { kind: 'Mark', name: to } : to)),
    lifecycle: wish.lifecycle ?? {},
    movedFrom: wish.movedFrom ?? [],
    references: referencesOf(kind, spec),
    secretKeys: wish.secrets ?? [],
    envRefs: [],
    ...(wish.file && { source: { file: wish.file, line: 1, column: 1 } }),
  }
}

export function aBundle(wishes: readonly Wish[]): Bundle {
  const sorted = wishes.toSorted((a, b) => (`${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1))
  return { resources: sorted.map(aResource), hash: `hash of ${canonicalJson(sorted as never, 'any number')}` }
}

export interface Options {
  mode?: PlanMode
  skip?: Selector[]
  adopt?: 'byName'
  env?: Record<string, string>
  secrets?: Record<string, string>
  sources?: string[]
  noStack?: boolean
  valid?: boolean
  invalid?: ReadonlySet<string>
  isComplete?: boolean
}

export interface Applied {
  plan: Plan
  view: PlanView
  writes: OrderedWrites
  /** All of them, in order. */
  done: Write[]
}

export function aWorld() {
  let time = Date.parse('2026-03-01T10:00:00.000Z')
  const clock = { now: () => new Date(time) }
  const platform: MemoryPlatform = memoryPlatform({
    kinds: testKinds,
    transaction: 'shared',
    clientIds: true,
    clock: { ...clock, monotonicMs: () => time, bootId: () => 'boot', sleep: async () => {} },
  })
  let made = 0
  const calls: Record<string, number> = {}
  const counted: Platform = {
    ...platform,
    read: ids => count('read', () => platform.read(ids)),
    find: names => count('find', () => platform.find(names)),
    referrers: ids => count('referrers', () => platform.referrers(ids)),
  }
  const count = <Result>(what: string, call: () => Result): Result => {
    calls[what] = (calls[what] ?? 0) + 1
    return call()
  }

  const world = {
    platform,
    calls,
    stack: null as Stack | null,
    events: [] as RecordEvent[],
    /** Owners other than the stack. */
    foreign: new Map<string, Owner>(),
    later: (ms: number) => {
      time += ms
    },
    view: (wishes: readonly Wish[] = [], options: Options = {}): Promise<PlanView> =>
      gatherView(
        { store: { owners: async ids => owners(ids) }, platforms: [counted], clock },
        {
          mode: options.mode ?? { do: 'apply' },
          stack: options.noStack ? null : world.stack,
          stackName: 'new',
          noStack: options.noStack ?? false,
          bundle: options.mode && options.mode.do !== 'apply' ? emptyBundle : aBundle(wishes),
          valid: options.valid ?? true,
          invalid: options.invalid ?? new Set(),
          isComplete: options.isComplete ?? true,
          sources: options.sources ?? ['bundle.yaml'],
          skip: options.skip ?? [],
          ...(options.adopt && { adopt: options.adopt }),
          env: options.env ?? {},
          secrets: Object.fromEntries(
            Object.entries(options.secrets ?? {}).map(([key, value]) => [key, new Secret(value)]),
          ),
        },
      ),
    plan: async (wishes: readonly Wish[] = [], options: Options = {}): Promise<Plan> =>
      planStack(await world.view(wishes, options)),
    /** Carries the plan out, whatever stands in its way. */
    apply: async (wishes: readonly Wish[] = [], options: Options = {}): Promise<Applied> => {
      const view = await world.view(wishes, options)
      const plan = planStack(view)
      const writes = writesOf(plan, view, () => `id-${String(++made).padStart(4, '0')}`)
      const done = [...writes.platforms.values()].flat().map(({ write }) => write)
      for (const write of done) platform.perform(platform.state, write)
      record(writes)
      return { plan, view, writes, done }
    },
    live: (displayName: string): Live => {
      const found = [...platform.state.resources.values()].filter(one => one.displayName === displayName)
      if (found.length !== 1) throw new Error(`${found.length} resources are called ${displayName}`)
      return found[0]!
    },
    entry: (name: string): StackResource => world.stack!.resources.find(one => one.name === name)!,
    /** As somebody outside would make it. */
    make: (kind: string, displayName: string, spec: Spec = {}, refersTo: LiveId[] = []): Live => {
      const id = `out-${String(++made).padStart(4, '0')}`
      const own = kindsByName.get(kind)!
      const { apiVersion } = own
      platform.outside({ do: 'create', kind, id, apiVersion, displayName, spec: canonicalSpec(own, spec), refersTo })
      return world.live(displayName)
    },
    /** As somebody outside would change it. */
    change: (displayName: string, to: { as?: string; spec?: Spec }): void => {
      const { kind, id, apiVersion, revision, spec } = world.live(displayName)
      const refersTo = platform.state.refersTo.get(id) ?? []
      const changed = { ...spec, ...to.spec }
      for (const key of Object.keys(changed)) if (changed[key] === undefined) delete changed[key]
      platform.outside({
        do: 'update',
        kind,
        id,
        apiVersion,
        displayName: to.as ?? displayName,
        spec: changed,
        refersTo,
        ifRevision: revision,
      })
    },
    remove: (displayName: string): void => {
      const { kind, id } = world.live(displayName)
      platform.outside({ do: 'remove', kind, id })
    },
  }

  const owners = (ids: readonly string[]): Map<string, Owner> => {
    const { stack } = world
    const own = (stack?.resources ?? []).map(
      ({ id, kind, name }) => [id, { stackId: stack!.id, stackName: stack!.name, kind, name }] as const,
    )
    const all = new Map<string, Owner>([...own, ...world.foreign])
    return new Map(ids.flatMap(id => (all.has(id) ? [[id, all.get(id)!]] : [])))
  }
  const record = ({ record: { change, event } }: OrderedWrites): void => {
    if (event) world.events.push(event)
    if (!change) return
    const now = clock.now().toISOString()
    const before: Stack = world.stack ?? {
      id: 'stack-1',
      name: 'new',
      description: '',
      createdAt: now,
      updatedAt: now,
      revision: 0,
      state: 'active',
      config: { urls: [] },
      resources: [],
      sources: [],
    }
    const { put = [], drop = [], ...fields } = change
    const key = ({ kind, name }: { kind: string; name: string }) => `${kind}/${name}`
    const replaced = new Set([...put, ...drop].map(key))
    const resources = [...before.resources.filter(one => !replaced.has(key(one))), ...put]
    resources.sort((a, b) => (key(a) < key(b) ? -1 : 1))
    world.stack = { ...before, ...fields, resources, revision: before.revision + 1 }
  }
  return world
}

export type World = ReturnType<typeof aWorld>

const signs = { create: '+', update: '~', replace: '±', adopt: '>', forget: '.', delete: '-', none: ' ' } as const

/** The order of a plan as indented text: each action, and below it what it waits for. */
export function printOrder({ actions }: Pick<Plan, 'actions'>): string {
  return actions
    .flatMap(({ action, kind, name, dependsOn }) => [
      `${signs[action]} ${kind}/${name}`,
      ...dependsOn.map(address => `    after ${address}`),
    ])
    .join('\n')
}

/** Words only: what each action is, and why. */
export const shortly = ({ actions }: Pick<Plan, 'actions'>): string[] =>
  actions.map(({ action, kind, name, why }) => `${action} ${kind}/${name}: ${why}`)

export const printWrites = (writes: OrderedWrites): string[] =>
  [...writes.platforms.values()].flat().map(({ action, resource }) => `${action} ${resource}`)
