// Requests made from the OpenAPI document, thousands of them, as an administrator and as a viewer: no 5xx, and no answer that
// the document does not have. The seed is fixed; CAIRN_SEED tries another.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { kinds } from '../../src/resources/kinds/all.ts'
import { createToken } from '../../src/server/contract/access.ts'
import { routes } from '../../src/server/contract/all.ts'
import { applyBundle } from '../../src/server/contract/bundles.ts'
import type { Route } from '../../src/server/contract/route.ts'
import type { Role } from '../../src/server/ports.ts'
import { describeWith } from '../require.ts'
import { runSchemathesis, validateOpenApi } from './schemathesis.ts'
import { type Ground, openGround, type TestServer } from './server.ts'

const seed = Number(process.env.CAIRN_SEED ?? 4)
const stacks = ['north', 'south', 'east', 'west']

let ground: Ground

describeWith(['schemathesis'], 'the API under requests made from its own description', () => {
  beforeAll(async () => {
    ground = await openGround()
  })
  afterAll(() => ground?.remove())

  it('is OpenAPI 3.1', async () => {
    const server = await ground.startServer()
    const document = await (await server.fetch('/api/v1/openapi.json')).text()
    expect(await validateOpenApi(document)).toMatchObject({ code: 0 })
    const broken = JSON.stringify({ ...JSON.parse(document), paths: { '/x': { get: { responses: 'none' } } } })
    expect((await validateOpenApi(broken)).code).not.toBe(0)
    await server.stop()
  })

  it.concurrent('answers an administrator as it says, and never with 5xx', async () => {
    const server = await startSeeded()
    await fuzz(server, server.adminToken, 40)
    expect(neverServed(server.log(), 'admin')).toEqual([])
  })

  it.concurrent('answers a viewer as it says, and never with 5xx', async () => {
    const server = await startSeeded()
    const { text } = await server.client.call(createToken, { body: { name: 'fuzz', role: 'viewer' } })
    await fuzz(server, text, 10)
    expect(neverServed(server.log(), 'viewer')).toEqual([])
  })
})

async function fuzz(server: TestServer, token: string, examples: number) {
  process.stderr.write(`schemathesis: seed ${seed}\n`)
  const known = {
    kinds: kinds.map(({ kind }) => kind),
    stacks,
    resources: stacks,
  }
  const { code, stdout, stderr } = await runSchemathesis({ url: server.url, token, seed, examples, known })
  expect(code, `seed ${seed}\n${stdout}${stderr}`).toBe(0)
  expect(server.log().match(/"level":(50|60).*/g)).toBeNull()
  expect(answers(server.log()).filter(({ status }) => status >= 500)).toEqual([])
  const me = await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(me.status, 'the token it ran with').toBe(200)
}

/** Each stack has a label and a machine of its name. */
async function startSeeded(): Promise<TestServer> {
  const server = await ground.startServer({ flags: ['--limit', 'refusedLogins=1000000'] })
  for (const name of stacks)
    await server.client.call(applyBundle, {
      body: {
        stackName: name,
        sources: [
          {
            name: 'seed.yaml',
            content: `kind: Label\nmetadata: { name: ${name} }\n---\nkind: Machine\nmetadata: { name: ${name} }\nspec: { tags: [${name}] }\n`,
          },
        ],
      },
    })
  return server
}

interface Answered {
  readonly route: string
  readonly status: number
}

const answers = (log: string): Answered[] =>
  log
    .split('\n')
    .filter(line => line.includes('"msg":"answered"'))
    .map(line => JSON.parse(line))

/** Their good requests say what a schema cannot: a spec that fits its kind, the revision of now, what is free to go. */
const needMeaning = [
  'createResource',
  'putResource',
  'putStatus',
  'deleteResource',
  'importIntoStack',
  'forgetInStack',
  'deleteStack',
]

/** Routes of this role that were never answered with 2xx: then nothing but refusals was tried. */
function neverServed(log: string, role: Role): string[] {
  const served = new Set(answers(log).flatMap(({ route, status }) => (status < 300 ? route : [])))
  const left = new Set(['events', ...needMeaning])
  return (Object.entries(routes) as [string, Route][])
    .filter(([name, { allow }]) => !left.has(name) && (allow === 'anyone' || allow.includes(role)) && !served.has(name))
    .map(([name]) => name)
}
