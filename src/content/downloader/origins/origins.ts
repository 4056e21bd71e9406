// All sources behind one door: each request goes to the file that knows its kind, with what is configured at that moment.
import type { Clock } from '../../../lib/clock.ts'
import { unreachable } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import { canonicalJson } from '../../../lib/json.ts'
import type { Datastore } from '../../messages.ts'
import type { Source } from '../../source.ts'
import type { Origins } from '../origin.ts'
import { createAuthentication } from './authentication.ts'
import { withoutTags } from './failures.ts'
import { openFile } from './file.ts'
import { hostKey, hostsOf } from './hosts.ts'
import { createHttpClient, type ProxyEnv } from './http-client.ts'
import { mirrored } from './mirrors.ts'
import { findLayoutReferrers, openLayout, resolveLayoutTag } from './oci-layout.ts'
import type { Web } from './open-http.ts'
import { findReferrers, openRegistry, resolveTag } from './registry.ts'
import { openUrl } from './url.ts'

export interface OriginsOptions {
  readonly clock: Clock
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read from it. */
  readonly proxyEnv: ProxyEnv
  readonly files: Files
}

const defaultStallMs = 60_000

export function createOrigins({ clock, proxyEnv, files }: OriginsOptions): Origins {
  const client = createHttpClient(proxyEnv)
  const webOf = (datastores: readonly Datastore[]): Web => {
    const hosts = hostsOf(datastores)
    return { hosts, clock, stallMs: defaultStallMs, authentication: createAuthentication({ client, hosts, clock }) }
  }
  let configured: readonly Datastore[] = []
  let web = webOf(configured)

  return {
    configure(datastores, stallMs) {
      // Tokens live in `web`: other datastores begin without any.
      if (canonicalJson(datastores) !== canonicalJson(configured)) web = webOf(datastores)
      configured = datastores
      web = { ...web, stallMs }
    },

    async open(request) {
      const { source } = request
      switch (source.kind) {
        case 'registry':
          return openRegistry(source, request, web)
        case 'url':
          return openUrl(source.url, request, web)
        case 'file':
          return openFile(source.path, request, files)
        case 'oci-layout':
          return openLayout(source.path, request, files)
        default:
          return unreachable(source)
      }
    },

    async resolve(source, what, signal) {
      switch (source.kind) {
        case 'registry':
          return what.kind === 'tag'
            ? [await resolveTag(source, what.tag, signal, web)]
            : findReferrers(source, what.sha256, signal, web)
        case 'oci-layout':
          return what.kind === 'tag'
            ? [await resolveLayoutTag(source.path, what.tag, signal, files)]
            : findLayoutReferrers(source.path, what.sha256, signal, files)
        case 'url':
        case 'file':
          if (what.kind === 'tag') throw withoutTags(placeOf(source))
          return []
        default:
          return unreachable(source)
      }
    },

    hostOf: source => hostOf(source),
    withMirrors: source => mirrored(source, web.hosts),
  }
}

const placeOf = (source: Extract<Source, { kind: 'url' | 'file' }>) =>
  source.kind === 'file' ? source.path : (URL.parse(source.url) ?? 'an invalid URL')

function hostOf(source: Source): string | null {
  if (source.kind === 'registry') return hostKey(source.host)
  const url = source.kind === 'url' ? URL.parse(source.url) : null
  return url ? hostKey(url.host) : null
}
