// What is known of the hosts that content comes from: how they are spoken to, with whose authority, as whom, and who else
// has the same. Pure; made anew of the datastores whenever these change.
import { Secret } from '../../../lib/redact.ts'
import type { Datastore } from '../../messages.ts'
import { addressInvalid } from './failures.ts'

export interface Credentials {
  readonly username: string
  readonly password: Secret
}

export interface Hosts {
  /** Where a registry or mirror of this name answers, as text: nothing is known of the name yet. */
  addressOf(host: string): string
  /** The same, checked; throws when it is no host name. */
  baseOf(host: string): URL
  /** True when the host has a datastore, with credentials or without. */
  knows(host: string): boolean
  credentialsOf(host: string): Credentials | null
  caOf(host: string): string | undefined
  mirrorsOf(host: string): readonly string[]
  /** Encrypted, or of a kind that may go without: what a password may be sent to. */
  isPrivate(url: URL): boolean
}

export function hostsOf(datastores: readonly Datastore[]): Hosts {
  const stores = new Map(datastores.map(store => [hostKey(store.host), store]))
  const storeOf = (host: string) => stores.get(hostKey(host))
  const addressOf = (host: string) => {
    const store = storeOf(host)
    const isPlain = store?.plainHttp ?? (isLoopback(URL.parse(`http://${host}`)?.hostname ?? '') && !store?.ca)
    return `${isPlain ? 'http' : 'https'}://${hostKey(host) === dockerHub ? dockerHubAddress : host}`
  }
  return {
    addressOf,
    baseOf(host) {
      const url = URL.parse(addressOf(host))
      if (!url || !/^[^/?#@\\\s]+$/.test(host)) throw addressInvalid(`"${host}" is no host name`)
      return url
    },
    knows: host => storeOf(host) !== undefined,
    credentialsOf(host) {
      const { username, password } = storeOf(host) ?? {}
      return username === undefined ? null : { username, password: new Secret(password ?? '') }
    },
    caOf: host => storeOf(host)?.ca,
    mirrorsOf: host => storeOf(host)?.mirrors ?? [],
    isPrivate: ({ protocol, host, hostname }) =>
      protocol === 'https:' || isLoopback(hostname) || storeOf(host)?.plainHttp === true,
  }
}

/** Docker Hub is one registry under four names: the one people write, and those that its parts answer at. */
const dockerHub = 'docker.io'
const dockerHubAddress = 'registry-1.docker.io'
const otherNames = new Set([dockerHubAddress, 'index.docker.io', 'auth.docker.io'])

/** One spelling for each host: lower case, without the port that the scheme implies. */
export function hostKey(host: string): string {
  const key = host.toLowerCase().replace(/:(?:80|443)$/, '')
  return otherNames.has(key) ? dockerHub : key
}

/** As URL spells host names. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
