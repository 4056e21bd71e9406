// Tokens, secrets, the audit log. The text of a token is in one answer only; the value of a secret in none.
import { parseDuration } from '../../lib/duration.ts'
import { ProblemsError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { Secret } from '../../lib/redact.ts'
import { refuse } from '../failure.ts'
import { makeToken } from '../tokens.ts'
import { defined } from './defined.ts'
import type { HandlerPorts, Handlers } from './handler.ts'

type AccessRoutes =
  | 'whoAmI'
  | 'listTokens'
  | 'createToken'
  | 'revokeToken'
  | 'listSecrets'
  | 'putSecret'
  | 'deleteSecret'
  | 'listAudit'

/** Dates have an end: 100 years are for ever, and more would not print. */
const longestLife = 100 * 365 * 86_400_000

export function accessHandlers({ database, clock, newId, auth, limits }: HandlerPorts): Pick<Handlers, AccessRoutes> {
  const { tokens, secrets, audit } = database
  return {
    whoAmI: async ({ who: { id, name, role, machine } }) => ({ body: { id, name, role, ...defined({ machine }) } }),
    listTokens: async () => ({ body: { tokens: [...(await tokens.list())] } }),
    createToken: async ({ body, note }) => {
      const { name, role, machine, expiresIn } = body
      const problems = machineProblems(role, machine)
      const lifeMs = expiresIn === undefined ? undefined : parseDuration(expiresIn, 'expiresIn')
      if (lifeMs !== undefined && (lifeMs <= 0 || lifeMs > longestLife))
        problems.push({ code: 'value.range', path: 'expiresIn', reason: 'must be between 1ms and 100 years' })
      if (problems.length > 0) throw new ProblemsError(problems)
      const id = newId()
      const now = clock.now()
      const token = {
        id,
        name,
        role,
        createdAt: now.toISOString(),
        ...defined({ machine }),
        ...(lifeMs !== undefined && { expiresAt: new Date(now.getTime() + lifeMs).toISOString() }),
      }
      const { text, hash } = makeToken(id)
      await tokens.add(token, hash)
      note(id, { name, role, ...defined({ machine }) })
      return { status: 201, headers: { location: `/api/v1/tokens/${id}` }, body: { token, text: text.reveal() } }
    },
    revokeToken: async ({ params }) => {
      const revoked = await tokens.revoke(params.id, clock.now().toISOString())
      auth.forget(params.id)
      if (!revoked)
        throw refuse(404, { code: 'token.unknown', path: 'path.id', reason: 'there is no such token in use' })
      return { status: 204, body: undefined }
    },
    listSecrets: async () => {
      const all = await secrets.list()
      return { body: { secrets: all.map(secret => ({ ...secret, usedBy: [...secret.usedBy] })) } }
    },
    putSecret: async ({ params, body, note }) => {
      if (Buffer.byteLength(body.value) > limits.secretBytes)
        throw new ProblemsError([
          { code: 'limit.secret', path: 'value', reason: `it is larger than ${limits.secretBytes} bytes` },
        ])
      const { changed } = await secrets.put(params.key, new Secret(body.value), clock.now().toISOString())
      note(params.key, { changed })
      return { body: { changed } }
    },
    deleteSecret: async ({ params }) => {
      const done = await secrets.remove(params.key)
      if (done === 'unknown')
        throw refuse(404, { code: 'secret.unknown', path: 'path.key', reason: 'there is no such secret' })
      if (done === 'used')
        throw refuse(409, {
          code: 'secret.used',
          path: 'path.key',
          reason: 'resources refer to it',
          hint: 'GET /api/v1/secrets names them.',
        })
      return { status: 204, body: undefined }
    },
    listAudit: async ({ query }) => ({ body: { entries: (await audit.list(defined(query))) as never } }),
  }
}

function machineProblems(role: string, machine: string | undefined): Problem[] {
  if (role === 'machine' && machine === undefined)
    return [{ code: 'value.missing', path: 'machine', reason: 'a token of role machine is for one machine' }]
  if (role !== 'machine' && machine !== undefined)
    return [{ code: 'value.invalid', path: 'machine', reason: `a token of role ${role} is for no machine` }]
  return []
}
