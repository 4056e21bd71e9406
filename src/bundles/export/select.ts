// Which live resources an export holds, and what is known of them: their stack's record, and what they refer to.
// Everything that was asked for and is not there is a Problem, all of them together; what a stack lost is a warning.
import { pages } from '../../lib/pages.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { byKind, type Kind } from '../../resources/kind.ts'
import type { EnginePorts, ExportRequest } from '../engine.ts'
import type { Stack, StackResource } from '../model/stack.ts'
import type { Live, LiveFilter, LiveId } from '../platform.ts'
import { findStack } from '../stacks/find.ts'
import { neededBy } from './needs.ts'

export interface Selection {
  readonly chosen: readonly Chosen[]
  /** What is referred to but does not come along, by id. */
  readonly outside: ReadonlyMap<string, Live>
  readonly kinds: ReadonlyMap<string, Kind>
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

export interface Chosen {
  readonly live: Live
  /** Where a stack made it or took it over. */
  readonly recorded: StackResource | null
  /** Display name to give it instead of its own. */
  readonly as?: string
}

type Ports = Pick<EnginePorts, 'store' | 'platforms'>

/** What has been chosen so far, by id. */
interface Picking {
  readonly live: Map<string, Live>
  readonly renamed: Map<string, string>
  readonly problems: Problem[]
  readonly warnings: Warning[]
}

const pageSize = 500

export async function selectResources(ports: Ports, request: ExportRequest): Promise<Selection> {
  const picking: Picking = { live: new Map(), renamed: new Map(), problems: [], warnings: [] }
  const stacks = await Promise.all(request.stacks.map(named => findStack(ports.store, named)))
  for (const stack of stacks) await pickStack(ports, stack, request.filters, picking)
  if (wantsEverything(request)) await pickEverything(ports, request.filters, picking)
  await pickNamed(ports, request, picking)
  const kinds = byKind(ports.platforms.flatMap(platform => platform.kinds))
  const outside = await followNeeds(ports, kinds, request, picking)
  const records = await recordsOf(ports, stacks, [...picking.live.keys()])
  return {
    chosen: [...picking.live.values()].map(live => {
      const as = picking.renamed.get(live.id)
      return { live, recorded: records.get(live.id) ?? null, ...(as !== undefined && { as }) }
    }),
    outside,
    kinds,
    problems: picking.problems,
    warnings: picking.warnings,
  }
}

/** Filters alone mean: of everything. */
const wantsEverything = ({ all, stacks, resources }: ExportRequest): boolean =>
  all === true || (stacks.length === 0 && resources.length === 0)

async function pickStack(ports: Ports, stack: Stack, filter: LiveFilter, { live, problems, warnings }: Picking) {
  const found = await readLive(ports, stack.resources, problems)
  const fits = await filtering(ports, [...found.values()], filter, problems)
  for (const resource of stack.resources) {
    const one = found.get(resource.id)
    if (!one) warnings.push(goneFromStack(stack, resource))
    else if (fits(one)) live.set(one.id, one)
  }
}

async function pickEverything({ platforms }: Ports, filter: LiveFilter, { live }: Picking) {
  for (const platform of platforms)
    for await (const { resources } of pages(from => platform.list(filter, { limit: pageSize, ...from })))
      for (const one of resources) if (isFree(one)) live.set(one.id, one)
}

async function pickNamed(ports: Ports, { resources }: ExportRequest, { live, renamed, problems }: Picking) {
  const byId = await readLive(ports, idsIn(resources), problems)
  const byName = await findLive(ports, resources)
  for (const [index, { kind, id, name, as }] of resources.entries()) {
    const found =
      id === undefined ? byName.filter(one => one.kind === kind && one.displayName === name) : oneOf(byId.get(id))
    const path = `resources[${index}]`
    if (found.length === 0) problems.push(notFound(path, kind, id ?? name ?? ''))
    for (const one of found) {
      if (!isFree(one)) problems.push(controlled(path, one))
      live.set(one.id, one)
      if (as !== undefined) renamed.set(one.id, as)
    }
  }
}

/** Adds labels and everything referred to hard, or gives it back as outside where dependencies are not wanted. */
async function followNeeds(
  ports: Ports,
  kinds: Selection['kinds'],
  { noDependencies }: ExportRequest,
  { live, problems }: Picking,
) {
  const outside = new Map<string, Live>()
  for (let fresh = [...live.values()]; fresh.length > 0; ) {
    const needs = fresh.flatMap(one => neededBy(one, kinds.get(one.kind)))
    const unread = needs.filter(({ id }) => id !== undefined && !live.has(id) && !outside.has(id)) as LiveId[]
    const byName = needs.flatMap(({ kind, displayName }) =>
      displayName === undefined ? [] : [{ kind, name: displayName }],
    )
    const found = [...(await readLive(ports, unread, problems)).values(), ...(await findLive(ports, byName))]
    fresh = found.filter(one => !live.has(one.id) && !outside.has(one.id))
    const comesAlong = (one: Live) => !noDependencies && isFree(one)
    for (const one of fresh) (comesAlong(one) ? live : outside).set(one.id, one)
    fresh = fresh.filter(comesAlong)
  }
  return outside
}

/** What a controller made belongs to it, and it makes it again. */
const isFree = ({ controlledBy }: Live): boolean => controlledBy === undefined

async function readLive({ platforms }: Ports, ids: readonly LiveId[], problems: Problem[]): Promise<Map<string, Live>> {
  const live = new Map<string, Live>()
  for (const platform of platforms) {
    const known = new Set(platform.kinds.map(({ kind }) => kind))
    const mine = ids.filter(({ kind }) => known.has(kind))
    if (mine.length === 0) continue
    for (const [id, found] of await platform.read(mine))
      if ('unreadable' in found) problems.push(found.unreadable)
      else live.set(id, found)
  }
  return live
}

async function findLive({ platforms }: Ports, named: readonly { readonly kind: string; readonly name?: string }[]) {
  const wanted = named.flatMap(({ kind, name }) => (name === undefined ? [] : [{ kind, displayName: name }]))
  if (wanted.length === 0) return []
  return (await Promise.all(platforms.map(platform => platform.find(wanted)))).flat()
}

/** Labels are compared by display name, so their display names are read first. */
async function filtering(ports: Ports, among: readonly Live[], filter: LiveFilter, problems: Problem[]) {
  const { kinds, displayNames, labels } = filter
  const targets = labels
    ? await readLive(
        ports,
        among.flatMap(({ associations }) => associations),
        problems,
      )
    : null
  const carries = (one: Live) =>
    one.associations.some(({ id }) => labels?.includes(targets?.get(id)?.displayName ?? '') === true)
  return (one: Live): boolean =>
    isFree(one) &&
    (kinds === undefined || kinds.includes(one.kind)) &&
    (displayNames === undefined || displayNames.includes(one.displayName)) &&
    (labels === undefined || carries(one))
}

/** The record of each: of the stacks asked for first, else of the one that owns it. */
async function recordsOf({ store }: Ports, asked: readonly Stack[], ids: readonly string[]) {
  const records = new Map(asked.flatMap(({ resources }) => resources.map(resource => [resource.id, resource])))
  const owners = await store.owners(ids.filter(id => !records.has(id)))
  for (const stackId of new Set([...owners.values()].map(owner => owner.stackId))) {
    const stack = await store.stack(stackId)
    for (const resource of stack?.resources ?? []) if (!records.has(resource.id)) records.set(resource.id, resource)
  }
  return records
}

const idsIn = (resources: ExportRequest['resources']): LiveId[] =>
  resources.flatMap(({ kind, id }) => (id === undefined ? [] : [{ kind, id }]))

const oneOf = (live: Live | undefined): Live[] => (live ? [live] : [])

const notFound = (path: string, kind: string, named: string): Problem => ({
  code: 'resource.unknown',
  path,
  reason: `there is no ${kind} "${named}"`,
  hint: `cairn get ${kind} lists them.`,
})

const controlled = (path: string, { kind, displayName, controlledBy }: Live): Problem => ({
  code: 'export.controlled',
  path,
  reason: `${kind} "${displayName}" was made for ${controlledBy?.kind} ${controlledBy?.id} and belongs to it`,
  hint: `Export the ${controlledBy?.kind} instead.`,
})

const goneFromStack = (stack: Stack, { kind, name }: StackResource): Warning => ({
  code: 'export.gone',
  path: `${kind}/${name}`,
  reason: `is in the record of stack ${stack.name} but no longer live; it is left out`,
  hint: `cairn stacks refresh ${stack.name} --accept drops it from the record.`,
})
