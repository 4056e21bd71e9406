// Requests to servers that may want to know who asks: anonymously first, then as the challenge wants it, with what worked
// kept for the next request. A refusal of something that worked before is answered once more and no oftener.
// Holds: one token is fetched at a time for a server and repository, however many wait for it.
import type { Secret } from '../../../lib/redact.ts'
import { sharing } from '../../../lib/shared.ts'
import { type Challenge, parseChallenges } from './challenge.ts'
import { unauthorized } from './failures.ts'
import type { Credentials } from './hosts.ts'
import { discard } from './http-client.ts'
import { type Followed, type FollowRequest, follow } from './redirects.ts'
import { advice, basic, fetchToken, type Surroundings, type Token } from './tokens.ts'

export interface AuthenticatedRequest extends Omit<FollowRequest, 'authorization'> {
  /** What one token is good for; requests with the same one share it. */
  readonly area: string
  /** Asked for when a challenge names no scope. */
  readonly scope?: string | undefined
  /** Written into the address itself: shown at once, and instead of those of the datastore. */
  readonly credentials?: Credentials | undefined
}

export interface Authentication {
  /** The last answer, whatever its status; a 401 only when it came from elsewhere than the server that was asked. */
  send(request: AuthenticatedRequest): Promise<Followed>
}

interface Grant extends Token {
  readonly challenge: Challenge
}

export function createAuthentication(surroundings: Surroundings): Authentication {
  const { client, hosts, clock } = surroundings
  const grants = new Map<string, Grant>()
  const fetches = sharing<Grant>()

  const credentialsOf = ({ url, credentials }: AuthenticatedRequest): Credentials | null =>
    hosts.isPrivate(url) ? (credentials ?? hosts.credentialsOf(url.host)) : null

  const denied = (request: AuthenticatedRequest) => {
    const { url } = request
    const unsent = `No password is sent to ${url.host}, because it is not asked over https.`
    return unauthorized(url, 401, hosts.isPrivate(url) ? advice(url, credentialsOf(request)) : unsent)
  }

  const keyOf = ({ url, area, credentials }: AuthenticatedRequest) =>
    JSON.stringify([url.origin, area, credentials?.username])

  const renew = async (request: AuthenticatedRequest, challenge: Challenge): Promise<Secret> => {
    const key = keyOf(request)
    const lease = await fetches.acquire(key, request.signal, async signal => {
      const { url: asked, scope, stallMs } = request
      const credentials = credentialsOf(request)
      const token = await fetchToken({ challenge, asked, scope, credentials, stallMs, signal }, surroundings)
      const grant = { ...token, challenge }
      grants.set(key, grant)
      return grant
    })
    lease.release()
    return lease.value.authorization
  }

  /** What is sent at first, if anything. */
  const known = async (request: AuthenticatedRequest): Promise<Secret | undefined> => {
    const grant = grants.get(keyOf(request))
    if (grant) return clock.monotonicMs() < grant.renewAtMs ? grant.authorization : renew(request, grant.challenge)
    return request.credentials && hosts.isPrivate(request.url) ? basic(request.credentials) : undefined
  }

  /** What to send after a refusal. */
  const answer = async (request: AuthenticatedRequest, header: string, refused: string | undefined) => {
    const challenges = parseChallenges(header)
    const bearer = challenges.find(({ scheme, parameters }) => scheme === 'bearer' && parameters.has('realm'))
    if (bearer) {
      const now = grants.get(keyOf(request))
      // Somebody else renewed it while this one was under way.
      return now && now.authorization.reveal() !== refused ? now.authorization : renew(request, bearer)
    }
    const credentials = credentialsOf(request)
    const authorization = credentials && basic(credentials)
    if (!authorization || authorization.reveal() === refused || !challenges.some(({ scheme }) => scheme === 'basic'))
      throw denied(request)
    grants.set(keyOf(request), {
      authorization,
      renewAtMs: Number.POSITIVE_INFINITY,
      challenge: { scheme: 'basic', parameters: new Map() },
    })
    return authorization
  }

  return {
    async send(request) {
      let authorization = (await known(request))?.reveal()
      for (let again = false; ; again = true) {
        const followed = await follow({ ...request, authorization }, client, hosts)
        if (followed.answer.statusCode !== 401 || !followed.atHome) return followed
        await discard(followed.answer)
        if (again) throw denied(request)
        const header = followed.answer.headers['www-authenticate'] ?? ''
        authorization = (await answer(request, header, authorization)).reveal()
      }
    },
  }
}
