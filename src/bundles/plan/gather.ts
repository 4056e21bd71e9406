// Reads everything that a plan is made from: a handful of calls for each platform, however many resources there are.
import type { Clock } from '../../lib/clock.ts'
import type { Secret } from '../../lib/redact.ts'
import type { Kind } from '../../resources/kind.ts'
import type { BundleResource } from '../model/bundle.ts'
import type { Live, LiveId, Platform, Unreadable } from '../platform.ts'
import type { Owner, Store } from '../store.ts'
import { recordedResources } from './from-record.ts'
import { liveIdOf, referencesIn } from './live-terms.ts'
import { draftFor } from './plan.ts'
import { isReadable, nameKey, type PlanView, type Referrer, type SecretsView } from './view.ts'

/** What is asked for; everything else of the view is read. */
export type GatherRequest = Omit<
  PlanView,
  'kinds' | 'platformOf' | 'live' | 'found' | 'owners' | 'referrers' | 'secrets' | 'now' | 'planLifeMs'
> & {
  readonly secrets: Readonly<Record<string, Secret>>
  /** How long the plan may be carried out. */
  readonly planLifeMs?: number
}

export interface GatherPorts {
  readonly store: Pick<Store, 'owners'>
  readonly platforms: readonly Platform[]
  readonly clock: Pick<Clock, 'now'>
}

const planLifeMs = 24 * 3_600_000

export async function gatherView(ports: GatherPorts, request: GatherRequest): Promise<PlanView> {
  const reader = readerOf(ports.platforms)
  const wanted = request.mode.do === 'apply' ? request.bundle.resources : recordedResources({ ...request, ...reader })
  // Nothing of what is forgotten is looked at: it can be let go when its platform is away.
  if (request.mode.do !== 'forget') {
    await reader.read([...recordedIds(request), ...namedIds(request, wanted)])
    await reader.find([...wantedNames(request, wanted, reader), ...referredNames(request, wanted)])
    await reader.read(referredIds(request, reader))
  }
  const [owners, secrets] = await Promise.all([
    ownersOf(ports, request, reader),
    readSecrets(request, wanted, ports.platforms),
  ])
  const { live, kinds, platformOf } = reader
  const found = Map.groupBy([...live.values()].filter(isReadable), one => nameKey(one.kind, one.displayName))
  const read = { kinds, platformOf, live, found, owners, secrets, referrers: new Map(), now: ports.clock.now() }
  const view: PlanView = { planLifeMs, ...request, ...read }
  const removed = removedBy(view)
  return removed.length === 0 ? view : { ...view, referrers: await reader.referrers(removed) }
}

/** What the record has belongs to its stack; only of the rest it has to be asked. */
async function ownersOf(
  { store }: GatherPorts,
  { stack }: GatherRequest,
  { live }: Reader,
): Promise<ReadonlyMap<string, Owner>> {
  const owners = new Map<string, Owner>()
  if (stack)
    for (const { kind, name, id } of stack.resources)
      if (live.has(id)) owners.set(id, { stackId: stack.id, stackName: stack.name, kind, name })
  const others = [...live.keys()].filter(id => !owners.has(id))
  if (others.length > 0) for (const [id, owner] of await store.owners(others)) owners.set(id, owner)
  return owners
}

/** What would be deleted or replaced. */
function removedBy(view: PlanView): LiveId[] {
  const removed: LiveId[] = []
  for (const { pair, word, live } of draftFor(view).planned.values()) {
    const id = live?.id ?? pair.entry?.id
    if (id && (word === 'delete' || word === 'replace')) removed.push({ kind: pair.kind.kind, id })
  }
  return removed
}

interface Reader extends Pick<PlanView, 'kinds' | 'platformOf'> {
  readonly live: Map<string, Live | Unreadable>
  /** Those that were not read before. */
  read(ids: readonly LiveId[]): Promise<void>
  find(wanted: readonly Named[]): Promise<void>
  referrers(ids: readonly LiveId[]): Promise<ReadonlyMap<string, readonly Referrer[]>>
}

interface Named {
  readonly kind: string
  readonly displayName: string
}

function readerOf(platforms: readonly Platform[]): Reader {
  const kinds = new Map<string, Kind>()
  const platformOf = new Map<string, string>()
  for (const platform of platforms)
    for (const kind of platform.kinds) {
      if (kinds.has(kind.kind)) continue
      kinds.set(kind.kind, kind)
      platformOf.set(kind.kind, platform.name)
    }
  const live = new Map<string, Live | Unreadable>()
  const asked = new Set<string>()

  /** Each platform gets those of its kinds, all at once. */
  const share = <Item extends { kind: string }, Answer>(
    items: readonly Item[],
    ask: (platform: Platform, own: readonly Item[]) => Promise<Answer>,
  ): Promise<Answer[]> =>
    Promise.all(
      platforms.flatMap(platform => {
        const own = items.filter(({ kind }) => platformOf.get(kind) === platform.name)
        return own.length > 0 ? [ask(platform, own)] : []
      }),
    )
  return {
    kinds,
    platformOf,
    live,
    read: async ids => {
      const fresh = new Map(ids.filter(({ id }) => !asked.has(id)).map(({ kind, id }) => [id, { kind, id }]))
      for (const id of fresh.keys()) asked.add(id)
      for (const read of await share([...fresh.values()], (platform, own) => platform.read(own)))
        for (const [id, one] of read) live.set(id, one)
    },
    find: async wanted => {
      const distinct = new Map(wanted.map(one => [nameKey(one.kind, one.displayName), one]))
      for (const list of await share([...distinct.values()], (platform, own) => platform.find(own)))
        for (const one of list) {
          asked.add(one.id)
          // What could not be read a moment ago is not taken from a list of names.
          if (!live.has(one.id)) live.set(one.id, one)
        }
    },
    referrers: async ids => {
      const referrers = new Map<string, Referrer[]>(ids.map(({ id }) => [id, []]))
      for (const list of await share(ids, (platform, own) => platform.referrers(own.map(({ id }) => id))))
        for (const { from, to } of list) referrers.get(to)?.push(from)
      return referrers
    },
  }
}

const recordedIds = ({ stack }: GatherRequest): LiveId[] =>
  (stack?.resources ?? []).map(({ kind, id }) => ({ kind, id }))

/** Ids that somebody wrote down: in a bundle to adopt, in a request to import. */
function namedIds({ mode }: GatherRequest, wanted: readonly BundleResource[]): LiveId[] {
  const adopted = wanted.flatMap(({ kind, lifecycle: { adopt } }) =>
    typeof adopt === 'object' ? [{ kind: kind.kind, id: adopt.id }] : [],
  )
  if (mode.do !== 'import') return adopted
  return [...adopted, ...mode.resources.flatMap(({ kind, id }) => (id === undefined ? [] : [{ kind, id }]))]
}

/** Display names that somebody else may have: of what is made, renamed or adopted by name. */
function wantedNames({ mode }: GatherRequest, wanted: readonly BundleResource[], { live, kinds }: Reader): Named[] {
  if (mode.do === 'import')
    return mode.resources.flatMap(({ kind, displayName }) => (displayName === undefined ? [] : [{ kind, displayName }]))
  if (mode.do !== 'apply' && mode.do !== 'reconcile') return []
  const known = new Set<string>()
  for (const one of live.values()) if (isReadable(one)) known.add(nameKey(one.kind, one.displayName))
  const families = Map.groupBy(kinds.values(), ({ family }) => family)
  return wanted.flatMap(({ kind, displayName, lifecycle }) => {
    if (!kind.displayName.unique && lifecycle.adopt !== 'byName') return []
    // Who has a unique name has it alone.
    if (kind.displayName.unique && known.has(nameKey(kind.kind, displayName))) return []
    return (families.get(kind.family) ?? []).map(one => ({ kind: one.kind, displayName }))
  })
}

/** Display names that the bundle or the record refers to. */
function referredNames({ stack }: GatherRequest, wanted: readonly BundleResource[]): Named[] {
  const targets = [
    ...wanted.flatMap(({ references, associations }) => [...references.map(({ target }) => target), ...associations]),
    ...(stack?.resources ?? []).flatMap(({ associations }) => associations),
  ]
  return targets.flatMap(({ kind, external }) => (external === undefined ? [] : [{ kind, displayName: external }]))
}

/** What live specs refer to, so that it can be named; for an import also what they carry. */
function referredIds({ mode }: GatherRequest, { live, kinds }: Reader): LiveId[] {
  const ids: LiveId[] = []
  for (const one of live.values()) {
    const kind = isReadable(one) ? kinds.get(one.kind) : undefined
    if (!kind || !isReadable(one)) continue
    for (const { reference, kinds: fitting } of referencesIn(kind, one.spec)) {
      const id = liveIdOf(reference, fitting)
      if (id) ids.push(id)
    }
    if (mode.do === 'import') ids.push(...one.associations)
  }
  return ids
}

async function readSecrets(
  { secrets }: GatherRequest,
  wanted: readonly BundleResource[],
  platforms: readonly Platform[],
): Promise<SecretsView> {
  const values = new Map(Object.entries(secrets))
  if (values.size === 0) return { values, platforms: new Map() }
  const used = new Map<string, Set<string>>()
  for (const { kind, secretKeys } of wanted)
    for (const key of secretKeys) if (values.has(key)) used.set(kind.kind, (used.get(kind.kind) ?? new Set()).add(key))
  const views = await Promise.all(
    platforms.map(async ({ name, kinds, secrets }) => {
      const keys = [...new Set(kinds.flatMap(({ kind }) => [...(used.get(kind) ?? [])]))].sort()
      const supplied = new Map(keys.map(key => [key, secrets.fingerprint(values.get(key)!)]))
      return [
        name,
        { stored: keys.length > 0 ? await secrets.fingerprints(keys) : new Map<string, string>(), supplied },
      ] as const
    }),
  )
  return { values, platforms: new Map(views) }
}
