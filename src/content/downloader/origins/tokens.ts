// Fetches one bearer token from the realm that a challenge names. Which realms may be asked, and as whom, is decided here:
// a realm is asked over https, or over http on loopback by a server that was itself asked over http; credentials go to the
// realm's host when it is the server's own host or has a datastore of its own, and to no other.
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { Secret } from '../../../lib/redact.ts'
import { readWhole } from './body.ts'
import type { Challenge } from './challenge.ts'
import { notContent, realmRefused, unauthorized } from './failures.ts'
import { type Credentials, type Hosts, hostKey, isLoopback } from './hosts.ts'
import { discard, type HttpClient } from './http-client.ts'
import { parseJson } from './json.ts'
import { follow } from './redirects.ts'
import { statusFailure } from './statuses.ts'

export interface TokenRequest {
  readonly challenge: Challenge
  /** What was answered with the challenge. */
  readonly asked: URL
  /** When the challenge names none. */
  readonly scope: string | undefined
  /** Of the server that was asked. */
  readonly credentials: Credentials | null
  readonly stallMs: number
  readonly signal: AbortSignal
}

export interface Token {
  /** The value of an Authorization header. */
  readonly authorization: Secret
  /** From this moment of the monotonic clock on, another one is fetched. */
  readonly renewAtMs: number
}

export interface Surroundings {
  readonly client: HttpClient
  readonly hosts: Hosts
  readonly clock: Clock
}

const mostBytes = 1024 * 1024
const defaultSeconds = 60

export async function fetchToken(request: TokenRequest, { client, hosts, clock }: Surroundings): Promise<Token> {
  const { challenge, asked, stallMs, signal } = request
  const realm = realmOf(challenge, asked)
  const credentials = credentialsFor(realm, request, hosts)
  const url = new URL(realm)
  const scope = challenge.parameters.get('scope') ?? request.scope
  const service = challenge.parameters.get('service')
  if (service !== undefined) url.searchParams.append('service', service)
  for (const part of scope?.split(' ').filter(Boolean) ?? []) url.searchParams.append('scope', part)

  const authorization = credentials ? basic(credentials).reveal() : undefined
  const startedMs = clock.monotonicMs()
  const headers = { accept: 'application/json' }
  const followed = await follow(
    { url, method: 'GET', headers, authorization, plainHttp: 'known hosts', stallMs, signal },
    client,
    hosts,
  )
  const { statusCode: status = 0 } = followed.answer
  if (status !== 200) {
    await discard(followed.answer)
    if (status === 401 || status === 403) throw unauthorized(realm, status, advice(realm, credentials))
    throw statusFailure(followed, clock)
  }
  const token = readToken(await readWhole(followed, { most: mostBytes, stallMs, signal }))
  if (!token) throw notContent(realm, 'no token')
  return {
    authorization: new Secret(`Bearer ${token.text}`),
    renewAtMs: startedMs + token.seconds * 800,
  }
}

/** Where the token is to be had, if it may be asked for there. */
function realmOf({ parameters }: Challenge, asked: URL): URL {
  const realm = URL.parse(parameters.get('realm') ?? '')
  if (!realm) throw realmRefused(asked, null, 'its challenge cannot be answered')
  realm.username = ''
  realm.password = ''
  realm.hash = ''
  const mayBePlain = asked.protocol === 'http:' && isLoopback(realm.hostname)
  if (realm.protocol !== 'https:' && !(realm.protocol === 'http:' && mayBePlain))
    throw realmRefused(asked, realm, 'nothing is sent there, because it is not encrypted')
  return realm
}

function credentialsFor(realm: URL, { asked, credentials }: TokenRequest, hosts: Hosts): Credentials | null {
  if (hostKey(realm.host) === hostKey(asked.host)) return credentials
  if (hosts.knows(realm.host)) return hosts.credentialsOf(realm.host)
  if (!credentials) return null
  throw realmRefused(
    asked,
    realm,
    `the credentials are for ${asked.host}, not for ${realm.host}. If both belong together, add a datastore for ${realm.host}.`,
  )
}

const tokenSchema = z.object({
  token: z.string().optional(),
  access_token: z.string().optional(),
  expires_in: z.number().positive().max(Number.MAX_SAFE_INTEGER).optional().catch(undefined),
})

function readToken(body: Buffer): { text: string; seconds: number } | null {
  const { data } = tokenSchema.safeParse(parseJson(body))
  const text = data?.token || data?.access_token
  if (!text || !/^[\x21-\x7e]{1,16384}$/.test(text)) return null
  return { text, seconds: data?.expires_in ?? defaultSeconds }
}

/** The value of an Authorization header. */
export const basic = ({ username, password }: Credentials): Secret =>
  new Secret(`Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`)

/** What to look at when a host let nobody in. */
export const advice = ({ host }: URL, credentials: Credentials | null): string =>
  credentials
    ? `Check user name and password of the datastore ${host}, and that they may read this.`
    : `There are no credentials for ${host}: add a datastore with user name and password, or check the name of what is asked for.`
