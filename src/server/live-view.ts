// Live resources as the API shows them: with the display name, with references and associations by display name, so that
// what was read can be sent back as it is.
import type { Live, LiveId } from '../bundles/platform.ts'
import type { Json } from '../lib/json.ts'
import { markedFields } from '../resources/fields.ts'
import type { Kind, Spec } from '../resources/kind.ts'
import type { LiveResource } from './contract/resources.ts'
import type { Database } from './ports.ts'
import { replacedAt } from './replaced-at.ts'

/** A page at a time: two queries however many they are. */
export async function viewLive(
  { platform, store }: Pick<Database, 'platform' | 'store'>,
  kinds: readonly Kind[],
  resources: readonly Live[],
): Promise<LiveResource[]> {
  const byName = new Map(kinds.map(kind => [kind.kind, kind]))
  const referenced = new Map<string, LiveId>()
  const placesOf = new Map<string, readonly Place[]>()
  for (const live of resources) {
    const places = referencesIn(byName.get(live.kind), live.spec)
    placesOf.set(live.id, places)
    for (const { to } of places) referenced.set(to.id, to)
    for (const to of live.associations) referenced.set(to.id, to)
  }
  const [found, owners] = await Promise.all([
    platform.read([...referenced.values()]),
    store.owners(resources.map(({ id }) => id)),
  ])
  const nameOf = (id: string): string | undefined => {
    const live = found.get(id)
    return live && 'displayName' in live ? live.displayName : undefined
  }
  return resources.map(live => {
    const owner = owners.get(live.id)
    const spec = (placesOf.get(live.id) ?? []).reduce<Spec>((spec, { path, to, kind }) => {
      const external = nameOf(to.id)
      return external === undefined ? spec : replacedAt(spec, path, { ...(kind !== undefined && { kind }), external })
    }, live.spec)
    const associations = live.associations.map(({ kind, id }) => ({ kind, external: nameOf(id) ?? id }))
    return {
      apiVersion: live.apiVersion,
      kind: live.kind,
      metadata: {
        id: live.id,
        revision: live.revision,
        createdAt: live.createdAt,
        updatedAt: live.updatedAt,
        stack: owner ? { id: owner.stackId, name: owner.stackName, resource: owner.name } : null,
        ...(live.controlledBy && { controlledBy: live.controlledBy }),
      },
      spec: { name: live.displayName, ...(spec as Record<string, never>), associations },
      status: live.status as LiveResource['status'],
    }
  })
}

interface Place {
  readonly path: readonly (string | number)[]
  readonly to: LiveId
  /** As it stands there. */
  readonly kind?: string
}

function referencesIn(kind: Kind | undefined, spec: Spec): Place[] {
  if (!kind) return []
  const places: Place[] = []
  for (const { path, mark, value } of markedFields(kind.spec, spec)) {
    const { id, kind: said } = value as { id?: Json; kind?: string }
    const meant = said ?? mark.reference?.[0]
    if (typeof id === 'string' && meant !== undefined)
      places.push({ path, to: { kind: meant, id }, ...(said !== undefined && { kind: said }) })
  }
  return places
}
