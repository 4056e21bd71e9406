// A server on loopback over the memory database, with a token for each role. Closed by whoever made it; that fails when one
// of its answers was not as the contract says.
import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply } from 'fastify'
import { type MovableClock, movableClock } from '../bundles/apply/clock.fake.ts'
import { makeId } from '../lib/id.ts'
import { Secret } from '../lib/redact.ts'
import { kinds } from '../resources/kinds/all.ts'
import { type Client, createClient } from './client.ts'
import { routes } from './contract/all.ts'
import type { Route } from './contract/route.ts'
import { createServer, type Server } from './http.ts'
import { defaultServerLimits, type ServerLimits } from './limits.ts'
import { createLogger } from './logger.ts'
import type { Role, Token } from './ports.ts'
import { type FakeEngine, fakeEngine, type MemoryDatabase, memoryDatabase } from './server.fake.ts'
import { makeToken } from './tokens.ts'

export interface Harness {
  readonly server: Server
  readonly url: string
  readonly database: MemoryDatabase
  readonly engine: FakeEngine
  readonly clock: MovableClock
  /** Texts of tokens. The machine is called atlas. */
  readonly tokens: Readonly<Record<Role, string>>
  /** Every line that was logged. */
  readonly log: string[]
  addToken(token: Partial<Token> & { readonly role: Role }): Promise<{ readonly text: string; readonly id: string }>
  client(role?: Role): Client
  request(path: string, init?: RequestInit & { readonly as?: Role | null }): Promise<Response>
  close(): Promise<void>
}

export async function openHarness(limits: Partial<ServerLimits> = {}): Promise<Harness> {
  const clock = movableClock()
  const database = memoryDatabase({ kinds, clock })
  const engine = fakeEngine()
  const log: string[] = []
  const server = createServer({
    database,
    engine,
    kinds,
    clock,
    newId: () => makeId(clock.now()),
    limits: { ...defaultServerLimits, stopMs: 2_000, ...limits },
    fetchSource: async url => ({ code: 'url.refused', path: url, reason: 'the fake fetches nothing' }),
    logger: createLogger({ write: line => void log.push(line) }),
  })
  const violations: string[] = []
  server.app.addHook('onSend', async (request, reply, payload) => {
    const route: Route | undefined = routes[request.routeOptions.config.name as keyof typeof routes]
    if (!route || reply.statusCode >= 300 || typeof payload !== 'string' || !isJson(reply)) return
    const answer: unknown = JSON.parse(payload)
    const parsed = route.answer.safeParse(answer)
    if (!parsed.success || !isDeepStrictEqual(JSON.parse(JSON.stringify(parsed.data)), answer))
      violations.push(`${request.method} ${request.url} answered ${payload.slice(0, 500)}`)
  })
  const addToken: Harness['addToken'] = async token => {
    const id = makeId(clock.now())
    const { text, hash } = makeToken(id)
    await database.tokens.add({ id, name: token.role, createdAt: clock.now().toISOString(), ...token }, hash)
    return { text: text.reveal(), id }
  }
  const tokens = {
    admin: (await addToken({ role: 'admin' })).text,
    operator: (await addToken({ role: 'operator' })).text,
    viewer: (await addToken({ role: 'viewer' })).text,
    machine: (await addToken({ role: 'machine', machine: 'atlas' })).text,
  }
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  const clients: Client[] = []
  return {
    server,
    url,
    database,
    engine,
    clock,
    tokens,
    log,
    addToken,
    client: (role = 'admin') => {
      const client = createClient({ url, token: new Secret(tokens[role]) })
      clients.push(client)
      return client
    },
    request: (path, { as = 'admin', headers, ...init } = {}) =>
      fetch(url + path, {
        ...init,
        headers: { ...(as && { authorization: `Bearer ${tokens[as]}` }), ...(headers as Record<string, string>) },
      }),
    close: async () => {
      await server.stop()
      await Promise.all(clients.map(client => client.close()))
      if (violations.length > 0) throw new Error(`answers that the contract does not have:\n${violations.join('\n')}`)
    },
  }
}

const isJson = (reply: FastifyReply): boolean => String(reply.getHeader('content-type')).startsWith('application/json')
