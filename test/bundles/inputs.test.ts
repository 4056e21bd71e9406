// What a bundle may come as: YAML, JSON, Jsonnet, many files, URLs; values from outside; secrets that stay out of everything.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { listSecrets, putSecret } from '../../src/server/contract/access.ts'
import { runOrThrow } from '../machine/process.ts'
import { describeWith } from '../require.ts'
import { a, onEachDatabase, refusal, told, withLabel } from './scene.ts'
import { type Ground, openGround, type TestServer } from './server.ts'

onEachDatabase('inputs', scene => {
  afterEach(() => scene.clear())

  const twins = {
    'bundle.yaml': `kind: Label
metadata: { name: edge }
spec: { color: "#aabbcc" }
---
kind: Volume
metadata: { name: web }
spec: { size: 2GiB, associations: [{ kind: Label, name: edge }] }
`,
    'bundle.json': JSON.stringify([
      a('Label', 'edge', { color: '#aabbcc' }),
      a('Volume', 'web', { size: '2GiB', ...withLabel('edge') }),
    ]),
    'bundle.jsonnet': `local label = 'edge';
[
  { kind: 'Label', metadata: { name: label }, spec: { color: '#' + 'aabbcc' } },
  { kind: 'Volume', metadata: { name: 'web' }, spec: { size: '%dGiB' % 2, associations: [{ kind: 'Label', name: label }] } },
]
`,
  }

  it('give the same summary and plan as YAML, as JSON and as Jsonnet', async () => {
    const plans = []
    for (const [name, content] of Object.entries(twins)) {
      const file = scene.ground.write(name, content)
      const { code, stdout, stderr } = await scene.server.cairn(['plan', '-f', file, '--name', 'twins', '--json'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const { summary, plan } = JSON.parse(stdout)
      const { bundleHash } = plan.basis
      plans.push({ resources: summary.resources, associations: summary.associations, told: told(plan), bundleHash })
    }
    expect(plans[0]?.told).toEqual(['create Label/edge', 'create Volume/web', 'associate Volume/web Label/edge'])
    expect(plans[1]).toEqual(plans[0])
    expect(plans[2]).toEqual(plans[0])
  })

  it('may be one JSON object, the bundle itself as the body, or a list in YAML', async () => {
    const one = { kind: 'Label', metadata: { name: 'edge' } }
    for (const [type, body] of [
      ['application/json', JSON.stringify(one)],
      ['application/json', JSON.stringify([one])],
      ['application/yaml', 'kind: Label\nmetadata: { name: edge }\n'],
      ['text/yaml', '- { kind: Label, metadata: { name: edge } }\n'],
    ] as const) {
      const answer = await scene.server.fetch('/api/v1/bundles/plan', {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      expect({ type, status: answer.status }).toEqual({ type, status: 200 })
      expect(told(((await answer.json()) as never as { plan: never }).plan)).toEqual(['create Label/edge'])
    }
  })

  it('of many files are one bundle: five of Labels and three of Volumes, with associations across, in any order', async () => {
    const files = [
      ...[1, 2, 3, 4, 5].map(n => ({
        name: `label-${n}.yaml`,
        content: `kind: Label\nmetadata: { name: label-${n} }\n`,
      })),
      ...[1, 2, 3].map(n => ({
        name: `volume-${n}.json`,
        content: JSON.stringify(a('Volume', `volume-${n}`, withLabel(`label-${n}`, `label-${n + 2}`))),
      })),
    ]
    const { plan } = await scene.apply({ sources: files }, { stackName: 'many' })
    expect(plan.counts.create).toBe(8)
    expect(plan.associations).toHaveLength(6)
    const turned = files.toReversed().map(({ name, content }) =>
      name.endsWith('.json')
        ? {
            name,
            content: JSON.stringify(
              JSON.parse(content, (_, value) =>
                isFields(value) ? Object.fromEntries(Object.entries(value).reverse()) : value,
              ),
            ),
          }
        : { name, content },
    )
    const again = await scene.apply({ sources: turned }, { stack: 'many' })
    expect(again.outcome.did).toBe('nothing')
    expect(again.plan.basis.bundleHash).toBe(plan.basis.bundleHash)
    const twice = { sources: [...files, { name: 'again.yaml', content: 'kind: Label\nmetadata: { name: label-1 }\n' }] }
    const { status, codes } = await refusal(scene.plan(twice))
    expect({ status, codes }).toEqual({ status: 422, codes: ['name.duplicate'] })
  })

  it('take values from outside: none, some, all of them, defaults, and in a name that others refer to', async () => {
    const bundle = `kind: Label
metadata: { name: { envRef: { key: label } } }
---
kind: Volume
metadata: { name: web }
spec:
  size: { envRef: { key: size, default: 1GiB, type: size } }
  description: { envRef: { key: text } }
  associations: [{ kind: Label, name: { envRef: { key: label } } }]
`
    const none = await scene.plan(bundle)
    expect(none.summary.missingEnvRefs).toEqual(['label', 'text'])
    expect(none.summary.resources.map(({ name }) => name)).toEqual(['env-label', 'web'])
    expect(await refusal(scene.apply(bundle))).toMatchObject({ status: 422, codes: ['env.missing', 'env.missing'] })
    const part = await refusal(scene.apply(bundle, { env: { label: 'edge' } }))
    expect(part.codes).toEqual(['env.missing'])
    const all = { label: 'edge', text: 'a=b=c' }
    await scene.apply(bundle, { stackName: 'valued', env: all })
    expect((await scene.live('Volume', 'web')).spec).toMatchObject({
      size: '1GiB',
      description: 'a=b=c',
      associations: [{ kind: 'Label', external: 'edge' }],
    })
    const { plan } = await scene.apply(bundle, { stack: 'valued', env: { ...all, size: '3GiB' } })
    expect(told(plan)).toEqual(['update Volume/web spec.size'])
    const wrong = await refusal(scene.plan(bundle, { env: { ...all, size: 'large' } }))
    expect(wrong.codes).toEqual(['env.type'])
    const { warnings } = await scene.plan(bundle, { env: { ...all, unused: 'x' } })
    expect(warnings.map(({ code }) => code)).toEqual(['env.unused'])
  })

  it('keep secrets out of plan, record, events, answers, log and database, and tell only that they changed', async () => {
    const bundle = [a('Datastore', 'store', { username: 'me', password: { secretRef: { key: 'store-pw' } } })]
    const value = `s3cr3t-${'x'.repeat(20)}`
    const planned = await scene.plan(bundle)
    expect(planned.summary.missingSecrets).toEqual(['store-pw'])
    expect(await refusal(scene.apply(bundle))).toMatchObject({ status: 422, codes: ['secret.missing'] })
    const said: unknown[] = [
      await scene.apply(bundle, { stackName: 'secret', secrets: { 'store-pw': value } }),
      await scene.apply(bundle, { stack: 'secret', secrets: { 'store-pw': value } }),
      await scene.plan(bundle, { stack: 'secret', secrets: { 'store-pw': `${value}-2` }, save: true }),
      await scene.exported({ stacks: ['secret'] }),
      await scene.stack('secret'),
      await scene.history('secret'),
      await scene.live('Datastore', 'store'),
    ]
    expect(said[1]).toMatchObject({ outcome: { did: 'nothing' } })
    expect(said[2]).toMatchObject({
      plan: { actions: [{ changes: [{ path: 'spec.password', new: '(secret, changed)', why: 'secret' }] }] },
    })
    expect(said[3]).toContain('secretRef')
    for (const table of [
      'resources',
      'secrets',
      'stacks',
      'stack_resources',
      'stack_events',
      'plans',
      'journal_steps',
      'audit',
      'feed',
    ])
      said.push(await scene.server.query(`select * from ${table}`))
    if (!scene.server.database)
      for (const file of ['cairn.db', 'cairn.db-wal']) said.push(readFileSync(join(scene.server.data, file), 'latin1'))
    expect(JSON.stringify(said).includes('s3cr3t')).toBe(false)
    expect(scene.server.log().includes('s3cr3t')).toBe(false)
    const unused = await refusal(scene.apply([a('Label', 'edge')], { secrets: { nobody: 'v' } }))
    expect(unused.codes).toContain('secret.unused')
    const { client } = scene.server
    await client.call(putSecret, { params: { key: 'store-pw' }, body: { value: 'third' } })
    const { secrets } = await client.call(listSecrets, {})
    expect(secrets).toMatchObject([{ key: 'store-pw', usedBy: [expect.stringContaining('store')] }])
    const inline = await refusal(scene.plan([a('Datastore', 'store', { username: 'me', password: 'in-clear-text' })]))
    expect(inline.codes).toEqual(['secret.inline'])
    expect(JSON.stringify(inline.body)).not.toContain('in-clear-text')
  })
})

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

describeWith(['openssl'], 'bundles by URL', () => {
  let ground: Ground
  let allowing: TestServer
  let web: Server
  let asked: string[]
  let port: number
  const answers = new Map<string, { status?: number; headers?: Record<string, string>; body?: string }>()
  const at = (path: string) => `https://localhost:${port}${path}`

  beforeAll(async () => {
    ground = await openGround()
    const [key, cert] = ['key.pem', 'cert.pem'].map(name => join(ground.directory, name)) as [string, string]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    await runOrThrow([
      'openssl',
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ])
    web = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
      asked.push(request.url ?? '')
      const { status = 200, headers = {}, body = '' } = answers.get(request.url ?? '') ?? { status: 404 }
      response.writeHead(status, headers).end(body)
    })
    await new Promise<void>(done => web.listen(0, '127.0.0.1', done))
    port = (web.address() as AddressInfo).port
    const env = { NODE_EXTRA_CA_CERTS: cert }
    allowing = await ground.startServer({ flags: ['--allow-url', 'localhost'], env })
  })
  afterAll(async () => {
    web?.close()
    await ground?.remove()
  })
  afterEach(() => answers.clear())

  const apply = (server: TestServer, ...words: string[]) => {
    asked = []
    return server.cairn(['apply', '--yes', '--json', ...words])
  }

  it('are fetched by the server, follow redirects, and make the stack of their name', async () => {
    answers.set('/fleet.yaml', { status: 302, headers: { location: '/real/fleet.yaml' } })
    answers.set('/real/fleet.yaml', {
      headers: { 'content-type': 'application/yaml' },
      body: 'kind: Label\nmetadata: { name: fetched }\n',
    })
    const { code, stdout } = await apply(allowing, '-u', at('/fleet.yaml'))
    expect({ code, did: JSON.parse(stdout).outcome?.did }).toEqual({ code: 0, did: 'applied' })
    expect(asked).toContain('/real/fleet.yaml')
  })

  it('of a stack are used when no content is given, and the next apply sees what changed there', async () => {
    answers.set('/stack.json', { body: '{"kind": "Label", "metadata": {"name": "from-url"}}' })
    expect((await allowing.cairn(['stacks', 'create', 'by-url', '-u', at('/stack.json')])).code).toBe(0)
    expect((await apply(allowing, '--stack', 'by-url')).code).toBe(0)
    expect((await allowing.cairn(['get', 'Label', 'from-url'])).code).toBe(0)
    answers.set('/stack.json', {
      body: '{"kind": "Label", "metadata": {"name": "from-url"}, "spec": {"color": "#010203"}}',
    })
    expect(JSON.parse((await apply(allowing, '--stack', 'by-url')).stdout).plan.counts.update).toBe(1)
  })

  it.each([
    ['a private address that nobody allowed', () => `https://127.0.0.1:${port}/x.yaml`, 'url.'],
    ['plain http', () => `http://localhost:${port}/x.yaml`, 'url.'],
    ['a file', () => 'file:///etc/passwd', 'url.'],
    ['credentials', () => `https://me:pw@localhost:${port}/x.yaml`, 'url.'],
    ['Jsonnet, also percent-encoded', () => at('/x.%6Asonnet'), 'url.'],
    ['what is not there', () => at('/missing.yaml'), 'url.'],
    ['a redirect to a private address', () => at('/away.yaml'), 'url.'],
  ])('are refused for %s', async (_, url, code) => {
    answers.set('/x.yaml', { body: 'kind: Label\nmetadata: { name: never }\n' })
    answers.set('/away.yaml', { status: 302, headers: { location: `https://127.0.0.1:${port}/x.yaml` } })
    const { code: exit, stdout } = await apply(allowing, '-u', url())
    const { error } = JSON.parse(stdout)
    expect({ exit, codes: error.problems.map((problem: { code: string }) => problem.code.slice(0, 4)) }).toEqual({
      exit: 3,
      codes: [code],
    })
    expect(stdout).not.toContain('me:pw')
    expect(asked).not.toContain('/x.yaml')
  })

  it('are refused for every private address by a server that allows none', async () => {
    const closed = await ground.startServer({ env: { NODE_EXTRA_CA_CERTS: join(ground.directory, 'cert.pem') } })
    answers.set('/x.yaml', { body: 'kind: Label\nmetadata: { name: never }\n' })
    const { code } = await apply(closed, '-u', at('/x.yaml'))
    expect({ code, asked }).toEqual({ code: 3, asked: [] })
    await closed.stop()
  })
})
