// Finds the kind that a document means, and what was perhaps meant when there is none.
import { didYouMean, nearest } from '../../lib/suggest.ts'
import type { Kind } from '../../resources/kind.ts'

export interface KindIndex {
  readonly apiVersions: readonly string[]
  find(apiVersion: string, kind: string): Kind | null
  /** For a kind that there is not: the one that was probably meant, and what to tell. */
  guess(kind: string): { readonly kind: Kind | null; readonly hint: string | undefined }
}

export const ownApiVersion = 'cairn.dev/v1'

/** Kinds that people know from InfluxDB templates, whether or not such a platform is connected. */
const influxKinds = new Set([
  'Bucket',
  'CheckDeadman',
  'CheckThreshold',
  'Dashboard',
  'NotificationEndpointHTTP',
  'NotificationEndpointPagerDuty',
  'NotificationEndpointSlack',
  'NotificationRule',
  'Task',
  'Telegraf',
])

export function indexKinds(kinds: readonly Kind[]): KindIndex {
  const byVersion = new Map(kinds.map(kind => [`${kind.apiVersion} ${kind.kind}`, kind]))
  const byName = new Map(kinds.toReversed().map(kind => [kind.kind, kind]))
  return {
    apiVersions: [...new Set(kinds.map(kind => kind.apiVersion))],
    find: (apiVersion, kind) => byVersion.get(`${apiVersion} ${kind}`) ?? null,
    guess: kind => {
      const elsewhere = byName.get(kind)
      if (elsewhere)
        return { kind: elsewhere, hint: `${kind} is a kind of ${elsewhere.apiVersion}: write that as its apiVersion.` }
      if (kind.toLowerCase() === 'secret')
        return {
          kind: null,
          hint: 'Secrets are supplied at apply, never written in a bundle; refer to one with { secretRef: { key: KEY } }.',
        }
      if (influxKinds.has(kind)) return { kind: null, hint: `${kind} is a kind of influxdata.com/v2alpha1.` }
      const meant = nearest(kind, byName.keys())
      return { kind: (meant !== null && byName.get(meant)) || null, hint: didYouMean(kind, byName.keys()) }
    },
  }
}
