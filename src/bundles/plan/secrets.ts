// Which of the supplied secrets differ from what the platforms have. Only fingerprints are compared.
import { byName } from '../../lib/by-name.ts'
import type { BundleResource } from '../model/bundle.ts'
import type { Plan } from '../model/plan.ts'
import type { PlanView } from './view.ts'

export interface ChangedSecrets {
  /** Whether what the key stands for changes on the platform of the kind. */
  has(kind: string, key: string): boolean
  /** Sorted; one for each key and platform. */
  readonly puts: readonly { readonly platform: string; readonly key: string; readonly action: 'create' | 'update' }[]
}

/** A supplied key that no resource uses is nobody's. */
export function changedSecrets(view: PlanView, resources: readonly BundleResource[]): ChangedSecrets {
  const changed = new Map<string, { platform: string; key: string; action: 'create' | 'update' }>()
  if (view.secrets.values.size > 0)
    for (const { kind, secretKeys } of resources)
      for (const key of secretKeys) {
        const platform = view.platformOf.get(kind.kind) ?? ''
        const { stored, supplied } = view.secrets.platforms.get(platform) ?? {}
        const fingerprint = supplied?.get(key)
        const before = stored?.get(key)
        if (fingerprint === undefined || fingerprint === before) continue
        changed.set(`${platform} ${key}`, { platform, key, action: before === undefined ? 'create' : 'update' })
      }
  return {
    has: (kind, key) => changed.has(`${view.platformOf.get(kind) ?? ''} ${key}`),
    puts: [...changed.values()].sort((a, b) => byName(a.key, b.key) || byName(a.platform, b.platform)),
  }
}

/** A key that several platforms have stands once. */
export function secretRows({ puts }: ChangedSecrets): Plan['secrets'] {
  const rows = new Map<string, Plan['secrets'][number]>()
  for (const { key, action } of puts) if (!rows.has(key) || action === 'update') rows.set(key, { key, action })
  return [...rows.values()]
}
