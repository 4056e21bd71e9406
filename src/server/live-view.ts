// Live resources as the API shows them: with the display name, with references and associations by display name, so that
// what was read can be sent back as it is.
import { liveIdOf, type Respell, referencesIn, respell, spelt } from '../bundles/plan/live-terms.ts'
import type { Live, LiveId } from '../bundles/platform.ts'
import { byKind, type Kind } from '../resources/kind.ts'
import type { LiveResource } from './contract/resources.ts'
import type { Database } from './ports.ts'

/** A page at a time: two queries however many they are. */
export async function viewLive(
  { platform, store }: Pick<Database, 'platform' | 'store'>,
  kinds: readonly Kind[],
  resources: readonly Live[],
): Promise<LiveResource[]> {
  const known = byKind(kinds)
  const referenced = new Map<string, LiveId>()
  for (const live of resources) {
    const kind = known.get(live.kind)
    for (const { reference, kinds: fitting } of kind ? referencesIn(kind, live.spec) : []) {
      const to = liveIdOf(reference, fitting)
      if (to) referenced.set(to.id, to)
    }
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
  const byDisplayName: Respell = (reference, fitting) => {
    const to = liveIdOf(reference, fitting)
    const external = to ? nameOf(to.id) : undefined
    return to && external !== undefined ? spelt(to.kind, fitting, { external }) : reference
  }
  return resources.map(live => {
    const owner = owners.get(live.id)
    const kind = known.get(live.kind)
    const spec = kind ? respell(kind, live.spec, byDisplayName) : live.spec
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
