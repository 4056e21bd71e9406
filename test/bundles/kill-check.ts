// Looks at everything a server has after it was killed and started again: of each stack, record, live resources,
// associations, secrets, history, feed and audit log tell of one state, and it is one that may be there.
import { expect } from 'vitest'
import { realClock } from '../../src/lib/clock.ts'
import { ApiError } from '../../src/server/client.ts'
import { planBundle } from '../../src/server/contract/bundles.ts'
import { type LiveResource, listResources } from '../../src/server/contract/resources.ts'
import { getStack, stackEvents } from '../../src/server/contract/stacks.ts'
import { keyFileIn } from '../../src/server/database/data-directory.ts'
import { openVault } from '../../src/server/vault.ts'
import type { Change, Slot } from './kill-client.ts'
import { numberIn, sourceOf, type World, worldKinds } from './kill-world.ts'
import type { Fields } from './scene.ts'
import type { TestServer } from './server.ts'

/** How what was under way when the server died has ended. */
export interface Ended {
  done: number
  notDone: number
}

/** Sets `found` of each slot, and begins its changes anew. */
export async function checkAll(server: TestServer, slots: readonly Slot[], where: string): Promise<Ended> {
  await checkTables(server, where)
  const live = await liveByStack(server)
  const ended = { done: 0, notDone: 0 }
  for (const slot of slots) {
    const found = await foundState(server, slot, live.get(slot.stack) ?? new Map(), where)
    await checkAudit(server, slot, where)
    for (const { acknowledged, world } of slot.changes)
      if (!acknowledged) ended[world === found || (world && world.number === found?.number) ? 'done' : 'notDone']++
    slot.found = found
    slot.changes = []
  }
  const known = new Set(slots.map(({ stack }) => stack))
  expect(
    [...live.keys()].filter(stack => !known.has(stack)),
    where,
  ).toEqual([])
  return ended
}

type LiveByPlace = ReadonlyMap<string, LiveResource>

async function liveByStack({ client }: TestServer): Promise<Map<string, LiveByPlace>> {
  const stacks = new Map<string, Map<string, LiveResource>>()
  for (const kind of worldKinds) {
    const { resources, next } = await client.call(listResources, { params: { kind }, query: { limit: 500 } })
    expect(next).toBeUndefined()
    for (const live of resources) {
      const { name, resource } = live.metadata.stack ?? { name: 'no stack', resource: live.metadata.id }
      const places = stacks.get(name) ?? new Map<string, LiveResource>()
      stacks.set(name, places.set(`${kind}/${resource}`, live))
    }
  }
  return stacks
}

async function foundState(server: TestServer, slot: Slot, live: LiveByPlace, where: string): Promise<World | null> {
  const { client } = server
  const about = `${where}, stack ${slot.stack}`
  const stack = await client.call(getStack, { params: { id: slot.stack } }).catch(error => {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  })
  const states = permitted(slot)
  if (!stack) {
    expect(states, about).toContain(null)
    expect([...live.keys()], about).toEqual([])
    return null
  }
  const number = numberIn(live.get('Label/label-0')?.spec.description)
  const world = states.find(state => state?.number === number)
  if (!world) throw new Error(`${about}: state ${number} is there; ${states.map(s => s?.number)} may be`)

  expect(stack, about).toMatchObject({ state: 'active', lock: null })
  expect(pictureOfLive(live), about).toEqual(pictureOf(world))
  expect(pictureOfRecord(stack.resources), about).toEqual(pictureOf(world))
  expect(
    stack.resources.map(({ kind, name, id }) => [kind, name, id]),
    about,
  ).toEqual(stack.resources.map(({ kind, name }) => [kind, name, live.get(`${kind}/${name}`)?.metadata.id]))
  await checkSecrets(server, world, about)
  await checkHistory(server, slot, world, about)

  const body = { stack: slot.stack, sources: [sourceOf(world)], secrets: world.secrets }
  const { plan } = await client.call(planBundle, { body })
  const nothing = { create: 0, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0 }
  expect(plan, about).toMatchObject({ counts: nothing, drift: [], secrets: [], blockers: [] })
  expect(
    plan.associations.filter(({ action }) => action !== 'none'),
    about,
  ).toEqual([])
  return world
}

/** What was under way, and what was acknowledged and not replaced by something that was asked for later. */
function permitted({ found, changes }: Slot): (World | null)[] {
  const before: Change = { world: found, sentAt: 0, acknowledged: { at: 0, audited: null } }
  const isReplaced = (at: number) => changes.some(later => later.acknowledged && later.sentAt > at)
  return [before, ...changes]
    .filter(({ acknowledged }) => !acknowledged || !isReplaced(acknowledged.at))
    .map(({ world }) => world)
}

interface Picture {
  readonly fields: Record<string, unknown>
  /** Of a Label each, sorted. */
  readonly associations: readonly unknown[]
}

/** With references by display name, as the API shows live resources. */
function pictureOf({ resources }: World): Record<string, Picture> {
  const display = (kind: string, name: string) => resources.get(`${kind}/${name}`)?.spec.name
  return picture(resources, ({ spec }) => {
    const { associations = [], machine, ...fields } = spec as Fields & { associations?: Named[]; machine?: Named }
    return {
      fields: machine ? { ...fields, machine: { external: display('Machine', machine.name) } } : fields,
      associations: associations.map(({ name }) => display('Label', name)),
    }
  })
}

function pictureOfLive(live: LiveByPlace): Record<string, Picture> {
  return picture(live, ({ kind, spec: { associations, ...spec } }) => ({
    fields: withoutDefaults(kind, spec),
    associations: (associations as { external: string }[]).map(({ external }) => external),
  }))
}

type RecordResource = Awaited<ReturnType<typeof stackOf>>['resources'][number]
const stackOf = ({ client }: TestServer, id: string) => client.call(getStack, { params: { id } })

/** The record has references by name in the bundle. */
function pictureOfRecord(record: readonly RecordResource[]): Record<string, Picture> {
  const byPlace = new Map(record.map(resource => [`${resource.kind}/${resource.name}`, resource]))
  const display = (kind: string, name: string) => byPlace.get(`${kind}/${name}`)?.lastApplied?.name
  return picture(byPlace, ({ kind, lastApplied = {}, associations }) => {
    const { machine, ...spec } = withoutDefaults(kind, lastApplied)
    return {
      fields: machine ? { ...spec, machine: { external: display('Machine', (machine as Named).name) } } : spec,
      associations: associations.map(({ name = '' }) => display('Label', name)),
    }
  })
}

interface Named {
  readonly name: string
}

function picture<Item>(
  items: ReadonlyMap<string, Item>,
  look: (item: Item) => { fields: Record<string, unknown>; associations: readonly unknown[] },
): Record<string, Picture> {
  return Object.fromEntries(
    [...items].map(([place, item]) => {
      const { fields, associations } = look(item)
      return [place, { fields, associations: associations.toSorted() }]
    }),
  )
}

const written: Readonly<Record<string, readonly string[]>> = {
  Label: ['name', 'color', 'description'],
  Machine: ['name', 'tags', 'description'],
  Variable: ['name', 'value', 'description'],
  Datastore: ['name', 'host', 'username', 'password', 'description'],
  Volume: ['name', 'size', 'machine', 'description'],
}

const withoutDefaults = (kind: string, spec: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => written[kind]?.includes(field)))

/** Sealed values are opened with the key of the server. */
async function checkSecrets(server: TestServer, { secrets }: World, where: string) {
  const vault = await openVault({ keyFile: keyFileIn(server.data), sealedTo: null, clock: realClock })
  const rows = (await server.query('select key, sealed from secrets')) as { key: string; sealed: string }[]
  const sealed = new Map(rows.map(row => [row.key, row.sealed]))
  for (const [key, value] of Object.entries(secrets)) {
    const found = await vault.open(sealed.get(key) ?? 'nothing')
    expect([key, found.reveal()], where).toEqual([key, value])
  }
}

/** One event for each change that was acknowledged, at most one for each that was not; the newest tells what is there. */
async function checkHistory({ client }: TestServer, { stack, found, changes }: Slot, world: World, where: string) {
  const { events } = await client.call(stackEvents, { params: { id: stack } })
  const applied = events.filter(({ type }) => type === 'apply').map(({ sources }) => numberIn(sources[0]))
  expect(applied[0], where).toBe(world.number)
  expect(applied.length, where).toBe(new Set(applied).size)
  expect(
    events.map(({ type }) => type).filter(type => type !== 'apply' && type !== 'create'),
    where,
  ).toEqual([])
  // The first one is kept for ever, those after it are not.
  const numbers = events.map(({ seq }) => seq).slice(0, -1)
  expect(numbers, where).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) - index))
  // A stack that was deleted and made again has a new history.
  const since = changes.findLastIndex(({ world }) => world === null) + 1
  for (const change of changes.slice(since))
    if (change.acknowledged) expect(applied, where).toContain(change.world?.number)
  if (found && since === 0) expect(applied, where).toContain(found.number)
}

async function checkAudit(server: TestServer, { changes }: Slot, where: string) {
  const ids = changes.flatMap(({ acknowledged }) => acknowledged?.audited ?? [])
  const rows = await server.query('select detail from audit order by seq desc limit 200')
  const audited = rows.map(({ detail }) => (JSON.parse(String(detail)) as { request: string }).request)
  for (const id of ids) expect(audited, where).toContain(id)
}

/** What has to hold between the tables, whatever the state; each query gives what breaks it. */
const broken = {
  'resources that no stack has': 'select id from resources where id not in (select resource_id from stack_resources)',
  'records of resources that are not there':
    'select resource_id from stack_resources where resource_id not in (select id from resources)',
  'resources of stacks that are not there':
    'select stack_id from stack_resources where stack_id not in (select id from stacks)',
  'events of stacks that are not there':
    'select stack_id from stack_events where stack_id not in (select id from stacks)',
  'associations without an end': `select from_id from associations
    where from_id not in (select id from resources) or to_id not in (select id from resources)`,
  'references without an end': `select from_id from resource_references
    where from_id not in (select id from resources) or to_id not in (select id from resources)`,
  'uses of secrets that are not there': 'select key from secret_uses where key not in (select key from secrets)',
  'journals without an end': 'select id from journals',
  'resources that the feed tells otherwise': `select feed.id, feed.what, feed.revision, resources.revision as live
    from feed left join resources on resources.id = feed.id
    where feed.seq in (select max(seq) from feed where kind <> 'Stack' group by id)
      and ((resources.id is null and feed.what <> 'deleted')
        or (resources.id is not null and (feed.what = 'deleted' or feed.revision <> resources.revision)))`,
  'resources that the feed does not tell': 'select id from resources where id not in (select id from feed)',
  'stacks that the feed tells otherwise': `select id from stacks
    where revision <> (select max(revision) from feed where feed.id = stacks.id)`,
} as const

async function checkTables({ query, database }: TestServer, where: string) {
  for (const [what, text] of Object.entries(broken)) expect(await query(text), `${where}: ${what}`).toEqual([])
  if (database !== undefined) return
  expect(await query('pragma integrity_check'), where).toEqual([{ integrity_check: 'ok' }])
  expect(await query('pragma foreign_key_check'), where).toEqual([])
}
