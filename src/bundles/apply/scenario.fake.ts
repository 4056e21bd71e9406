// Two bundles with all test kinds, and the way from one to the other: creates, updates, deletes, a replacement, associations,
// secrets, on two platforms. What a world comes to is told without ids, revisions and times, so that worlds can be compared.
import { Secret } from '../../lib/redact.ts'
import type { Engine } from '../engine.ts'
import { createEngine } from '../engine.ts'
import type { ApplyRequest } from '../request.ts'
import { type MemoryPorts, type MemoryPortsOptions, memoryPorts } from './ports.fake.ts'
import { aRequest, type Doc, doc, marked } from './request.fake.ts'

const firstSecret = 'the first secret value'
const secondSecret = 'the second secret value'

const password = { secretRef: { key: 'password' } }

const oldDocs: readonly Doc[] = [
  doc('Mark/edge', { color: 'red' }),
  doc('Mark/old', { description: 'to be deleted' }),
  doc('Store/main', { url: 'a', user: 'u', password, retries: 5, ...marked('edge') }),
  doc('Disk/data', { size: '1GiB', store: { name: 'main' }, notes: { a: 'b' }, ...marked('edge', 'old') }),
  doc('Disk/gone', { size: '1GiB', store: { name: 'main' }, ...marked('old') }),
  doc('Disk/stiff', { size: '1GiB', format: 'raw', ...marked('edge') }),
  doc('RuleA/hot', { every: '1m', threshold: 80, status: 'inactive' }),
  doc('Group/all', {
    members: [{ name: 'x', weight: 2 }, { name: 'y' }],
    tags: ['t1'],
    stores: { main: { share: 1 } },
  }),
  { ...doc('Foreign/far', { description: 'here' }), apiVersion: 'foreign.example/v1' },
]

const newDocs: readonly Doc[] = [
  doc('Mark/edge', { name: 'edge two', color: 'blue' }),
  doc('Store/main', { url: 'b', password, ...marked('edge') }),
  doc('Store/second', { url: 'c', password: { secretRef: { key: 'other' } } }),
  doc('Disk/data', { name: 'data two', size: '2GiB', store: { name: 'second' }, ...marked('edge') }),
  doc('Disk/new', { size: '3GiB', basedOn: { name: 'data' }, ...marked('edge') }),
  doc('Disk/stiff', { size: '1GiB', format: 'qcow2', ...marked('edge') }),
  doc('RuleA/hot', { every: '2m', threshold: 90 }),
  doc('RuleB/silent', { every: '1m', silentFor: '5m' }),
  doc('Group/all', { members: [{ name: 'y', weight: 7 }], stores: { main: {} }, ...marked('edge') }),
  { ...doc('Foreign/far', { description: 'there' }), apiVersion: 'foreign.example/v1' },
  { ...doc('Foreign/further', {}), apiVersion: 'foreign.example/v1' },
]

export interface Scenario {
  readonly ports: MemoryPorts
  readonly engine: Engine
  readonly stackId: string
}

/** A world in which the first bundle is applied, and somebody outside carries the mark that is to go. */
export async function scenario(options: MemoryPortsOptions = {}): Promise<Scenario> {
  const ports = memoryPorts(options)
  const engine = createEngine(ports)
  const secrets = { password: new Secret(firstSecret) }
  const { stackId } = await engine.apply(aRequest({ docs: oldDocs, secrets, stackName: 'web' }))
  const [platform] = ports.platforms
  const [old] = await platform.find([{ kind: 'Mark', displayName: 'old' }])
  const theirs = { kind: 'Disk', id: 'theirs' }
  const spec = { size: '9GiB', format: 'raw' }
  platform.outside({
    do: 'create',
    ...theirs,
    apiVersion: 'cairn.dev/v1',
    displayName: 'theirs',
    spec,
    refersTo: [],
  })
  const [made] = await platform.find([{ kind: 'Disk', displayName: 'theirs' }])
  platform.outside({ do: 'associate', from: { kind: 'Disk', id: made!.id }, to: { kind: 'Mark', id: old!.id } })
  return { ports, engine, stackId: stackId! }
}

/** From the first bundle to the second. */
export const change = (stackId: string, given: Partial<ApplyRequest> = {}): ApplyRequest =>
  aRequest({
    docs: newDocs,
    stack: stackId,
    secrets: { password: new Secret(secondSecret), other: new Secret('another value') },
    confirm: ['massDelete', 'dataLoss'],
    ...given,
  })

/** Everything that a person could see of a world, with names for ids. */
export async function seen(ports: MemoryPorts): Promise<unknown> {
  const names = new Map<string, string>()
  for (const { state } of ports.platforms)
    for (const { kind, id, displayName } of state.resources.values()) names.set(id, `${kind}/${displayName}`)
  const { stacks } = await ports.store.stacks({}, { limit: 100 })
  const whole = await Promise.all(stacks.map(({ id }) => ports.store.stack(id)))
  const world = {
    platforms: ports.platforms.map(platform => platform.snapshot()),
    stacks: whole.map(stack => ({
      name: stack!.name,
      state: stack!.state,
      leftovers: stack!.leftovers,
      resources: stack!.resources.map(({ appliedAt, ...resource }) => resource),
    })),
  }
  return sorted(JSON.parse(JSON.stringify(world), (_, value) => names.get(value) ?? value))
}

/** Lists that stood in the order of ids. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, sorted(field)]))
}
