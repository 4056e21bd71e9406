// Who calls. A token counts from the moment it is stored until it expires or is revoked: at once on the server that
// revokes it, within the life of the cache on the others.
import type { Clock } from '../lib/clock.ts'
import { refuse } from './failure.ts'
import type { Token, Tokens } from './ports.ts'
import { hashesAgree, parseToken } from './tokens.ts'

export interface Auth {
  /** Throws 401, or 429 when an address has tried too often. */
  authenticate(header: string | undefined, address: string): Promise<Token>
  /** False from the moment on which a stream that this token opened has to end. */
  isGood(token: Token): Promise<boolean>
  /** After this the next request asks the database. */
  forget(id: string): void
}

const cacheMs = 5_000
const minuteMs = 60_000
const mostCached = 10_000

interface Kept {
  readonly found: { readonly token: Token; readonly hash: string }
  readonly until: number
}

export function createAuth({
  tokens,
  clock,
  refusedLogins,
}: {
  readonly tokens: Tokens
  readonly clock: Clock
  readonly refusedLogins: number
}): Auth {
  const cache = new Map<string, Kept>()
  const refusals = new Map<string, { count: number; until: number }>()

  async function find(id: string): Promise<Kept['found'] | null> {
    const now = clock.now().getTime()
    const kept = cache.get(id)
    if (kept && kept.until > now) return kept.found
    const found = await tokens.find(id)
    cache.delete(id)
    if (!found) return null
    if (cache.size >= mostCached) cache.clear()
    cache.set(id, { found, until: now + cacheMs })
    return found
  }

  function refused(
    address: string,
    code: 'auth.missing' | 'auth.invalid' | 'auth.expired' | 'auth.revoked',
    reason: string,
  ) {
    const now = clock.now().getTime()
    if (code !== 'auth.missing') {
      for (const [other, { until }] of refusals) if (until <= now) refusals.delete(other)
      const tries = refusals.get(address) ?? { count: 0, until: now + minuteMs }
      refusals.set(address, { ...tries, count: tries.count + 1 })
      if (tries.count >= refusedLogins)
        return refuse(
          429,
          { code: 'auth.too-many', reason: 'too many refused tokens from this address', hint: 'Wait a minute.' },
          { 'retry-after': String(Math.max(1, Math.ceil((tries.until - now) / 1000))) },
        )
    }
    const error = code === 'auth.missing' ? '' : ', error="invalid_token"'
    return refuse(
      401,
      { code, reason, hint: 'Send Authorization: Bearer <token>; cairn token create makes one.' },
      { 'www-authenticate': `Bearer realm="cairn"${error}` },
    )
  }

  return {
    authenticate: async (header, address) => {
      if (header === undefined) throw refused(address, 'auth.missing', 'no token was sent')
      const [, text = ''] = /^Bearer +(\S+) *$/i.exec(header) ?? []
      const given = parseToken(text)
      const found = given && (await find(given.id))
      if (!given || !found || !hashesAgree(given.hash, found.hash))
        throw refused(address, 'auth.invalid', 'the token is not known')
      const { token } = found
      if (token.revokedAt !== undefined)
        throw refused(address, 'auth.revoked', `the token was revoked at ${token.revokedAt}`)
      if (isExpired(token, clock)) throw refused(address, 'auth.expired', `the token expired at ${token.expiresAt}`)
      return token
    },
    isGood: async token => {
      const found = await find(token.id)
      return found !== null && found.token.revokedAt === undefined && !isExpired(found.token, clock)
    },
    forget: id => cache.delete(id),
  }
}

const isExpired = ({ expiresAt }: Token, clock: Clock): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= clock.now().getTime()
