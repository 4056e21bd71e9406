// Keys that resources of a bundle use and that are neither supplied nor kept by the platform of who uses them.
import type { EnginePorts } from '../engine.ts'
import type { Bundle } from '../model/bundle.ts'
import type { BundleRequest } from '../request.ts'

/** Sorted. */
export async function missingSecrets(
  { platforms }: Pick<EnginePorts, 'platforms'>,
  { resources }: Bundle,
  supplied: BundleRequest['secrets'],
): Promise<string[]> {
  const missing = new Set<string>()
  for (const platform of platforms) {
    const kinds = new Set(platform.kinds.map(({ kind }) => kind))
    const wanted = new Set<string>()
    for (const { kind, secretKeys } of resources)
      if (kinds.has(kind.kind)) for (const key of secretKeys) if (!Object.hasOwn(supplied, key)) wanted.add(key)
    if (wanted.size === 0) continue
    const stored = await platform.secrets.fingerprints([...wanted])
    for (const key of wanted) if (!stored.has(key)) missing.add(key)
  }
  return [...missing].sort()
}
