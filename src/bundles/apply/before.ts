// What a write on another platform will change, as it is now: enough to bring it back to exactly that.
import { CairnError } from '../../lib/errors.ts'
import { pages } from '../../lib/pages.ts'
import type { Kind } from '../../resources/kind.ts'
import { liveIdOf, referencesIn } from '../plan/live-terms.ts'
import type { Live, LiveId, Platform, Write } from '../platform.ts'
import { type BeforeImage, WriteConflict } from '../store.ts'

export async function beforeOf(platform: Platform, write: Write): Promise<BeforeImage | null> {
  switch (write.do) {
    case 'create':
      return platform.clientIds ? null : { what: 'absent', alike: await alike(platform, write) }
    case 'update':
    case 'restore': {
      const live = await readOne(platform, write)
      if (!live) throw new WriteConflict('gone', { kind: write.kind, id: write.id })
      return resourceImage(platform, live)
    }
    case 'remove': {
      const live = await readOne(platform, write)
      if (!live) return null
      const image = { ...(await resourceImage(platform, live)), carriers: await carriersOf(platform, live) }
      return platform.clientIds ? image : { ...image, alike: await alike(platform, live) }
    }
    case 'associate':
    case 'dissociate': {
      const live = await readOne(platform, write.from)
      return { what: 'association', was: live?.associations.some(({ id }) => id === write.to.id) ?? false }
    }
    case 'put-secret':
    case 'restore-secret':
      return { what: 'secret', sealed: await platform.secrets.sealed(write.key) }
  }
}

/** Throws when it is there, or perhaps there, but cannot be read. */
export async function readOne(platform: Platform, { kind, id }: LiveId): Promise<Live | undefined> {
  const found = (await platform.read([{ kind, id }])).get(id)
  if (found && 'unreadable' in found) {
    const { code, reason, hint } = found.unreadable
    throw new CairnError(code, reason, hint === undefined ? {} : { hint })
  }
  return found
}

export async function resourceImage(
  platform: Platform,
  live: Live,
): Promise<Extract<BeforeImage, { what: 'resource' }>> {
  const { kind, id, apiVersion, displayName, spec, associations } = live
  const refersTo = await targetsOf(platform, live)
  return { what: 'resource', write: { do: 'restore', kind, id, apiVersion, displayName, spec, refersTo }, associations }
}

/** Everything that its spec refers to hard: by id in marked fields, by display name in keys and text. */
async function targetsOf(platform: Platform, live: Live): Promise<LiveId[]> {
  const kind = platform.kinds.find(({ kind }) => kind === live.kind) as Kind
  const targets: LiveId[] = []
  for (const { reference, kinds } of referencesIn(kind, live.spec)) {
    const target = liveIdOf(reference, kinds)
    if (target) targets.push(target)
  }
  const names = kind.namedReferences(live.spec)
  if (names.length > 0)
    for (const { kind, id } of await platform.find(names.map(({ kind, name }) => ({ kind, displayName: name }))))
      targets.push({ kind, id })
  const seen = new Set<string>()
  return targets.filter(({ id }) => !seen.has(id) && seen.add(id))
}

async function alike(platform: Platform, { kind, id, displayName }: LiveId & { displayName: string }) {
  const found = await platform.find([{ kind, displayName }])
  return found.filter(live => live.id !== id).map(live => live.id)
}

async function carriersOf(platform: Platform, target: Live): Promise<LiveId[]> {
  const kinds = platform.kinds.filter(({ associations }) => associations.includes(target.kind)).map(({ kind }) => kind)
  if (kinds.length === 0) return []
  const filter = { kinds, labels: [target.displayName] }
  const carriers: LiveId[] = []
  for await (const { resources } of pages(from => platform.list(filter, { limit: 500, ...from })))
    for (const { kind, id, associations } of resources)
      if (associations.some(other => other.id === target.id)) carriers.push({ kind, id })
  return carriers
}
