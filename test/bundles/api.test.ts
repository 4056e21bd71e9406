// The API as any other program sees it: content types, errors, revisions, streams of progress and of events, the audit log.
import { afterEach, expect, it } from 'vitest'
import type { ClientEvent } from '../../src/server/client.ts'
import { createToken, listAudit } from '../../src/server/contract/access.ts'
import { applyBundle } from '../../src/server/contract/bundles.ts'
import { getStack } from '../../src/server/contract/stacks.ts'
import { a, changesSince, onEachDatabase, type Resource, refusal, withLabel } from './scene.ts'

onEachDatabase('over HTTP', scene => {
  afterEach(() => scene.clear())

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    scene.server.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const sources = [{ name: 'bundle.json', content: JSON.stringify([a('Label', 'edge')]) }]

  it.each([
    ['a body that is no JSON', '/api/v1/bundles/plan', '{', {}, 400],
    ['an unknown key', '/api/v1/bundles/plan', { surces: [] }, {}, 400],
    ['a bundle that is no bundle', '/api/v1/bundles/apply', { sources: [{ name: 'x', content: '{' }] }, {}, 422],
    ['another content type', '/api/v1/bundles/plan', 'kind: Label', { 'content-type': 'text/plain' }, 415],
    [
      'a stack that is not there',
      '/api/v1/bundles/apply?stack=nowhere',
      [{ kind: 'Label', metadata: { name: 'x1' } }],
      {},
      404,
    ],
    [
      'a body that is too large',
      '/api/v1/bundles/plan',
      { sources: [{ name: 'x', content: 'x'.repeat(11 * 2 ** 20) }] },
      {},
      413,
    ],
    ['no token', '/api/v1/bundles/plan', {}, { authorization: '' }, 401],
    ['a wrong token', '/api/v1/bundles/plan', {}, { authorization: 'Bearer cairn_x_y' }, 401],
    ['a path that is none', '/api/v1/nothing', {}, {}, 404],
  ])('answers %s with problems', async (_, path, body, headers, status) => {
    const answer = await post(path, body, headers as Record<string, string>)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    const { problems } = (await answer.json()) as { problems: object[] }
    expect(problems.length).toBeGreaterThan(0)
  })

  it('has empty lists where there is nothing, and a null only where the contract names one', async () => {
    const answer = (await (await post('/api/v1/bundles/plan', { sources })).json()) as Record<string, never>
    expect(answer).toMatchObject({
      problems: [],
      warnings: [],
      summary: {
        associations: [],
        missingEnvRefs: [],
        missingSecrets: [],
        resources: [{ associations: [], envReferences: [] }],
      },
      plan: {
        associations: [],
        secrets: [],
        drift: [],
        blockers: [],
        needs: [],
        actions: [{ changes: [], dependsOn: [] }],
      },
    })
    expect(JSON.stringify(answer)).not.toContain('null')
  })

  it('answers 201 with the place of a stack that was made, and 200 afterwards', async () => {
    const body = { sources, stackName: 'made' }
    const first = await post('/api/v1/bundles/apply', body)
    expect({ status: first.status, location: first.headers.get('location') }).toEqual({
      status: 201,
      location: expect.stringMatching(/^\/api\/v1\/stacks\/\w+$/),
    })
    const place = first.headers.get('location') ?? ''
    const record = await scene.server.fetch(place)
    const { createdAt, updatedAt, revision } = (await record.json()) as Record<string, unknown>
    expect(updatedAt).toBe(createdAt)
    expect(record.headers.get('etag')).toBe(`"${revision}"`)
    expect((await post('/api/v1/bundles/apply', { sources, stack: 'made' })).status).toBe(200)
  })

  it('honours If-Match for stacks and resources', async () => {
    await scene.apply([a('Label', 'edge')], { stackName: 'matched' })
    const { metadata, spec } = await scene.live('Label', 'edge')
    const send = (method: string, path: string, ifMatch: string, body?: object) =>
      scene.server.fetch(path, {
        method,
        headers: { 'if-match': ifMatch, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
    const label = `/api/v1/resources/Label/${metadata.id}`
    const changed = { spec: { ...spec, color: '#000000' } }
    expect((await send('PUT', label, '"99"', changed)).status).toBe(412)
    expect((await send('PUT', label, `"${metadata.revision}"`, changed)).status).toBe(200)
    expect((await send('DELETE', label, `"${metadata.revision}"`)).status).toBe(412)
    const { revision } = await scene.stack('matched')
    for (const [method, path, body] of [
      ['PATCH', '/api/v1/stacks/matched', { description: 'x' }],
      ['DELETE', '/api/v1/stacks/matched', undefined],
      ['POST', '/api/v1/stacks/matched/refresh', { accept: true }],
    ] as const)
      expect([method, (await send(method, path, '"99"', body)).status]).toEqual([method, 412])
    expect((await send('PATCH', '/api/v1/stacks/matched', `"${revision}"`, { description: 'x' })).status).toBe(200)
    expect((await send('PATCH', '/api/v1/stacks/matched', 'nonsense', {})).status).toBe(400)
  })

  it('streams progress line by line, and the last line is the answer', async () => {
    const bundle = [
      a('Label', 'edge'),
      a('Variable', 'v', { value: 1, associations: [{ kind: 'Label', name: 'edge' }] }),
    ]
    const body = { sources: [{ name: 'b.json', content: JSON.stringify(bundle) }] }
    const answer = await post('/api/v1/bundles/apply', body, { accept: 'application/x-ndjson' })
    expect(answer.headers.get('content-type')).toMatch(/^application\/x-ndjson/)
    const lines = (await answer.text())
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    const last = lines.pop()
    expect(last).toMatchObject({ status: 201, outcome: { did: 'applied', madeStack: true } })
    const done = lines.filter(({ state }) => state === 'done').map(({ action, resource }) => `${action} ${resource}`)
    expect(done).toEqual(expect.arrayContaining(['create Label/edge', 'create Variable/v']))
    expect(done.indexOf('create Label/edge')).toBeLessThan(done.indexOf('create Variable/v'))
  })

  it('tells changes as they are committed, and goes on after Last-Event-ID without a gap or a repetition', async () => {
    const { client } = scene.server
    const since = await scene.lastChange()
    const stop = new AbortController()
    const events = client.events({ since, signal: stop.signal })[Symbol.asyncIterator]()
    const next = async (): Promise<ClientEvent> => (await events.next()).value
    await scene.apply([a('Label', 'one'), a('Label', 'two')], { stackName: 'told' })
    const seen = [await next(), await next(), await next()]
    expect(seen.map(({ seq }) => seq)).toEqual([since + 1, since + 2, since + 3])
    expect(seen.map(event => event.event === 'change' && `${event.change.what} ${event.change.name}`).sort()).toEqual([
      'created one',
      'created two',
      'stack told',
    ])
    // Nothing done is nothing told.
    await scene.apply([a('Label', 'one'), a('Label', 'two')], { stack: 'told' })
    await scene.apply([a('Label', 'one', { color: '#010101' }), a('Label', 'two')], { stack: 'told' })
    const after = [await next(), await next()]
    expect(after.map(({ seq }) => seq)).toEqual([since + 4, since + 5])
    stop.abort()

    const again = await scene.server.fetch('/api/v1/events', {
      headers: { accept: 'text/event-stream', 'last-event-id': String(since + 2) },
    })
    const reader = again.body?.getReader()
    let text = ''
    while (!text.includes(`id: ${since + 5}\n`)) text += new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual([since + 3, since + 4, since + 5])
  })

  it('writes down every change that was asked for, also a refused one, and never what was in it', async () => {
    const { client } = scene.server
    const { text } = await client.call(createToken, { body: { name: 'wall', role: 'viewer' } })
    const viewer = scene.server.clientOf(text)
    const { stackId } = await scene.apply([a('Label', 'edge', { description: 'not-for-the-log' })], {
      stackName: 'audited',
    })
    expect(await refusal(viewer.call(applyBundle, { body: { sources } }))).toMatchObject({ status: 403 })
    await viewer.call(getStack, { params: { id: 'audited' } })
    expect(await refusal(viewer.call(listAudit, {}))).toMatchObject({ status: 403 })
    const { entries } = await client.call(listAudit, { query: { limit: 3 } })
    expect(entries.map(({ who, role, action, target, status }) => [who, role, action, target, status])).toEqual([
      ['wall', 'viewer', 'POST /api/v1/bundles/apply', '', 403],
      ['local', 'admin', 'POST /api/v1/bundles/apply', stackId, 201],
      ['local', 'admin', 'POST /api/v1/tokens', expect.any(String), 201],
    ])
    expect(entries[1]?.detail).toMatchObject({ outcome: 'applied' })
    expect(JSON.stringify(entries)).not.toContain('not-for-the-log')
    expect(JSON.stringify(entries)).not.toContain(text)
  })

  it('describes itself, says that it is well, and counts', async () => {
    expect(await (await fetch(`${scene.server.url}/healthz`)).json()).toEqual({ ok: true })
    expect(await (await fetch(`${scene.server.url}/readyz`)).json()).toEqual({ ok: true, leader: true })
    const described = (await (await fetch(`${scene.server.url}/api/v1/openapi.json`)).json()) as Record<string, object>
    expect(described.openapi).toMatch(/^3\.1/)
    expect(Object.keys(described.paths ?? {})).toContain('/api/v1/bundles/apply')
    expect((await fetch(`${scene.server.url}/api/v1/docs`)).headers.get('content-type')).toMatch(/^text\/html/)
    expect((await fetch(`${scene.server.url}/metrics`)).status).toBe(401)
    expect(await (await scene.server.fetch('/metrics')).text()).toMatch(/^cairn_/m)
  })
})

// The defects of the original that can be seen from outside; the others are in rollback.test.ts and the property tests.
onEachDatabase('where the original fails', (scene, kind) => {
  afterEach(() => scene.clear())

  const policySource = [{ type: 'registry', registry: { url: 'https://r.example', repositories: ['a'] } }]
  const everyKind: [kind: string, spec: Parameters<typeof a>[2]][] = [
    ['Label', {}],
    ['Variable', { value: 1 }],
    ['Machine', {}],
    ['Instance', { roles: {} }],
    ['Volume', {}],
    ['Datastore', {}],
    ['CachedImage', { image: 'registry.example/web', tag: '1' }],
    ['CachedImageSet', {}],
    ['DiscoveryPolicy', { sources: policySource }],
    ['PullPolicy', {}],
    ['RolloutPolicy', {}],
  ]

  /** Writing a resource of the name `boom` fails in the database, in the middle of everything. */
  async function withFault(work: () => Promise<void>) {
    const { query } = scene.server
    const trigger = `create trigger boom before insert on resources`
    if (kind === 'sqlite')
      await query(`${trigger} when new.display_name = 'boom' begin select raise(abort, 'boom'); end`)
    else {
      await query(`create function boom() returns trigger as $$ begin raise 'boom'; end $$ language plpgsql`)
      await query(`${trigger} for each row when (new.display_name = 'boom') execute function boom()`)
    }
    try {
      await work()
    } finally {
      await query(kind === 'sqlite' ? 'drop trigger boom' : 'drop function boom cascade')
    }
  }

  it('(1, 2, 4, 7) an apply that fails in the middle leaves every field, association, secret and record as it was', async () => {
    const bundle = (name: string, more: Resource[] = []) => [
      a('Label', 'lab', { name }),
      a('Datastore', 'store', { name, username: name, password: { secretRef: { key: 'pw' } }, ...withLabel('lab') }),
      a('Volume', 'vol', { name, description: name, datastore: { name: 'store' } }),
      ...more,
    ]
    await scene.apply(bundle('before', [a('Variable', 'gone', { value: 1 })]), {
      stackName: 'whole',
      secrets: { pw: 'before' },
    })
    const everything = async () => {
      const rows = ['resources', 'associations', 'resource_references', 'secrets', 'secret_uses', 'stack_resources']
      const { revision: _, ...stack } = await scene.stack('whole')
      return [
        stack,
        ...(await Promise.all(rows.map(table => scene.server.query(`select * from ${table} order by 1, 2`)))),
      ]
    }
    const [before, change] = [await everything(), await scene.lastChange()]
    await withFault(async () => {
      const changed = bundle('after', [a('Label', 'boom'), a('PullPolicy', 'zz')])
      const failed = await refusal(scene.apply(changed, { stack: 'whole', secrets: { pw: 'after' } }))
      expect({ status: failed.status, outcome: failed.body.outcome }).toMatchObject({
        status: 500,
        outcome: { did: 'rolled back' },
      })
      expect(JSON.stringify(failed.body)).not.toContain('plpgsql')
      const made = await refusal(scene.apply([a('Label', 'boom')], { stackName: 'never' }))
      expect(made.status).toBe(500)
    })
    expect(await everything()).toEqual(before)
    expect(await changesSince(scene.server, change)).not.toContain('updated Label after')
    expect((await refusal(scene.stack('never'))).status).toBe(404)
    expect((await scene.history('whole')).map(({ type }) => type)).toEqual(['rollback', 'apply'])
    // Applying again reaches the wanted state.
    const again = await scene.apply(bundle('after'), { stack: 'whole', secrets: { pw: 'after' } })
    expect(again.plan.counts).toMatchObject({ update: 3, delete: 1 })
  })

  it('(3, 16) a change of only the display name is applied for every kind, and equal means no write for every kind', async () => {
    const named = (name: string) => everyKind.map(([kind, spec]) => a(kind, 'it', { ...spec, name }))
    await scene.apply(named('before'), { stackName: 'names' })
    const before = await scene.lastChange()
    expect((await scene.apply(named('before'), { stack: 'names' })).outcome.did).toBe('nothing')
    expect(await scene.lastChange()).toBe(before)
    const { plan } = await scene.apply(named('after'), { stack: 'names' })
    expect(plan.actions.map(({ changes }) => changes.map(({ path }) => path))).toEqual(
      everyKind.map(() => ['spec.name']),
    )
    for (const [kind] of everyKind) expect([kind, await scene.names(kind)]).toEqual([kind, ['after']])
  })

  it('(5) a name that one frees and another takes does not race', async () => {
    await scene.apply([a('Label', 'one', { name: 'wanted' })], { stackName: 'free' })
    const { plan } = await scene.apply([a('Label', 'two', { name: 'wanted' })], {
      stack: 'free',
      confirm: ['massDelete'],
    })
    expect(plan.counts).toMatchObject({ create: 1, delete: 1 })
    expect((await scene.live('Label', 'wanted')).metadata.stack).toMatchObject({ resource: 'two' })
    const swapped = [a('Label', 'x1', { name: 'name-1' }), a('Label', 'x2', { name: 'name-2' })]
    await scene.apply(swapped, { stackName: 'swap' })
    const swap = scene.apply([a('Label', 'x1', { name: 'name-2' }), a('Label', 'x2', { name: 'name-1' })], {
      stack: 'swap',
    })
    expect((await refusal(swap)).codes).toContain('plan.name-cycle')
  })

  it('(6, 7, 20) an invalid bundle is no success, leaves no stack, and tells each unsupported association', async () => {
    const bundle = [
      a('Volume', 'one'),
      a('Variable', 'two', {
        value: 1,
        associations: [
          { kind: 'Volume', name: 'one' },
          { kind: 'Label', name: 'none' },
        ],
      }),
    ]
    const { status, problems } = await refusal(scene.apply(bundle, { stackName: 'never' }))
    expect(status).toBe(422)
    expect(problems.map(({ code, path }) => [code, path])).toEqual([
      ['reference.kind', 'Variable/two.spec.associations[0]'],
      ['reference.missing', 'Variable/two.spec.associations[1]'],
    ])
    expect((await refusal(scene.stack('never'))).status).toBe(404)
  })

  it('(15, 18) a second entry of a list counts, and an unknown variant of a union is refused', async () => {
    const sources = [...policySource, { type: 'registry', registry: { url: 'https://s.example', repositories: ['b'] } }]
    const policy = (given: typeof sources) => [a('DiscoveryPolicy', 'both', { sources: given as never })]
    await scene.apply(policy(sources), { stackName: 'lists' })
    expect((await scene.live('DiscoveryPolicy', 'both')).spec.sources).toHaveLength(2)
    const { plan } = await scene.plan(policy(sources.slice(0, 1) as never), { stack: 'lists' })
    expect(plan.actions[0]?.changes).toHaveLength(1)
    const unknown = await refusal(scene.plan(policy([{ ...sources[0], type: 'gopher' }] as never)))
    expect(unknown).toMatchObject({ status: 422, codes: ['value.not-allowed'] })
  })

  it('(13) a stack whose resource was deleted outside is planned, exported and uninstalled', async () => {
    await scene.apply([a('Label', 'gone'), a('Label', 'here')], { stackName: 'holes' })
    await scene.remove('Label', 'gone')
    expect(await scene.exported({ stacks: ['holes'] })).toContain('here')
    const uninstall = await post(`/api/v1/stacks/holes/uninstall`, { confirm: ['massDelete'] })
    expect(uninstall.status).toBe(200)
    expect(await scene.names('Label')).toEqual([])
  })

  const post = (path: string, body: unknown) =>
    scene.server.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
})
