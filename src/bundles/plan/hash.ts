// What a plan rests on, and the name that it has by what it does: the same plan has the same id.
import { canonicalJson, type Json, sha256Hex } from '../../lib/json.ts'
import type { Basis, Plan } from '../model/plan.ts'
import { isReadable, type PlanView } from './view.ts'

export function basisOf(view: PlanView): Basis {
  const liveRevisions: Record<string, number> = {}
  for (const id of [...view.live.keys()].sort()) {
    const live = view.live.get(id)
    if (isReadable(live)) liveRevisions[id] = live.revision
  }
  return {
    stackRevision: view.stack?.revision ?? 0,
    liveRevisions,
    bundleHash: view.bundle.hash,
    settingsHash: settingsHash(view),
  }
}

/** Of everything that came with the request beside the bundle. Secrets are in it as keyed fingerprints. */
function settingsHash({ mode, noStack, env, skip, adopt, secrets }: PlanView): string {
  const supplied = [...secrets.platforms].flatMap(([platform, { supplied }]) =>
    [...supplied].map(([key, fingerprint]) => [platform, key, fingerprint]),
  )
  const skipped = skip.map(({ kind, name }) => (name === undefined ? kind : `${kind}/${name}`))
  const settings: Json = {
    mode: { ...mode } as unknown as Json,
    noStack,
    env,
    skip: [...new Set(skipped)].sort(),
    adopt: adopt ?? null,
    secrets: supplied.map(entry => canonicalJson(entry)).sort(),
  }
  return sha256Hex(canonicalJson(settings, 'any number'))
}

/**
 * Over everything but its life: what is planned twice at different times is one plan. What stays as it is follows from the
 * basis and is left out. Keys of a plan have one order; only the values in changes come from outside.
 */
export function planIdOf({ actions, associations, ...plan }: Omit<Plan, 'id' | 'expiresAt'>): string {
  const parts = [JSON.stringify(plan)]
  for (const action of actions) {
    if (action.action === 'none') continue
    const { changes, ...rest } = action
    parts.push(JSON.stringify(rest), canonicalJson(changes as unknown as Json, 'any number'))
  }
  for (const row of associations) if (row.action !== 'none') parts.push(JSON.stringify(row))
  return sha256Hex(parts.join('\n')).slice(0, 32)
}
