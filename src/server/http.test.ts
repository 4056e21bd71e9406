import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CairnError, ProblemsError, RefusedError } from '../lib/errors.ts'
import type { ProblemCode } from '../lib/problem.ts'
import { ApiError } from './client.ts'
import { routes } from './contract/all.ts'
import { type Harness, openHarness } from './harness.fake.ts'
import { anAnswer, anEmptyPlan, aStack } from './server.fake.ts'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness()
})
afterEach(() => {
  harness.engine.answers = {}
})
afterAll(() => harness.close())

const apply = (body: object, headers: Record<string, string> = {}) =>
  harness.request('/api/v1/bundles/apply', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const problem = { code: 'name.missing', path: 'resources[0]', reason: 'it has no name' } as const

describe('plan', () => {
  it('of an invalid bundle is 422 with summary and plan of what could be understood', async () => {
    harness.engine.answers = { plan: async () => ({ ...anAnswer, problems: [problem] }) }
    const failed = await harness
      .client()
      .call(routes.planBundle, { body: {} })
      .catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(ApiError)
    expect(failed).toMatchObject({
      status: 422,
      code: 'name.missing',
      problems: [problem],
      body: { plan: anEmptyPlan },
    })
  })

  it('tells every URL that could not be fetched beside the problems of the rest', async () => {
    harness.engine.answers = { plan: async () => ({ ...anAnswer, problems: [problem] }) }
    const body = { sources: [{ url: 'https://a.example/x.yaml' }, { name: 'b.yaml', content: '' }] }
    const failed = await harness
      .client()
      .call(routes.planBundle, { body })
      .catch((error: unknown) => error)
    expect(failed).toMatchObject({ status: 422, problems: [{ code: 'url.refused' }, { code: 'name.missing' }] })
  })
})

describe('apply', () => {
  it('is 201 with the place of the stack that it made', async () => {
    harness.engine.answers = { apply: async () => ({ ...anAnswer, outcome: { did: 'applied', madeStack: true } }) }
    const response = await apply({})
    expect([response.status, response.headers.get('location')]).toEqual([201, '/api/v1/stacks/stack-1'])
  })

  it.each([
    ['rolled back', { did: 'rolled back', failures: [{ code: 'apply.failed', path: 'Label/a', reason: 'no' }] }, 500],
    ['of another platform', { did: 'rolled back', failures: [{ code: 'platform.down', path: '', reason: 'no' }] }, 502],
    [
      'not wholly undone',
      {
        did: 'rollback incomplete',
        failures: [{ code: 'apply.failed', path: '', reason: 'no' }],
        leftovers: [{ code: 'rollback.conflict', path: '', reason: 'left' }],
      },
      500,
    ],
  ] as const)('that was %s is no 2xx and says so', async (_what, outcome, status) => {
    harness.engine.answers = { apply: async () => ({ ...anAnswer, outcome }) }
    const response = await apply({})
    expect(response.status).toBe(status)
    const body = (await response.json()) as { problems: { code: string }[] }
    const codes = [...outcome.failures, ...('leftovers' in outcome ? outcome.leftovers : [])].map(({ code }) => code)
    expect(body).toMatchObject({ outcome, plan: anEmptyPlan })
    expect(body.problems.map(({ code }) => code)).toEqual(codes)
  })

  it('that is refused says what would have been done', async () => {
    harness.engine.answers = {
      apply: async () => {
        throw new ProblemsError([problem])
      },
    }
    const response = await apply({})
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ problems: [problem], plan: anEmptyPlan, summary: anAnswer.summary })
  })

  it.each<[ProblemCode, number]>([
    ['stack.unknown', 404],
    ['plan.unknown', 404],
    ['stack.locked', 409],
    ['stack.ambiguous', 409],
    ['plan.stale', 409],
    ['plan.blocked', 409],
    ['stack.moved', 412],
    ['confirm.missing', 428],
  ])('refused with %s is %i', async (code, status) => {
    harness.engine.answers = {
      apply: async () => {
        throw new RefusedError(code, 'no', {
          hint: 'wait',
          problems: [{ code: 'resource.owned', path: 'a', reason: 'b' }],
        })
      },
    }
    const response = await apply({})
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      problems: [{ code, reason: 'no', hint: 'wait' }, { code: 'resource.owned' }],
    })
  })

  it('while the database is away is 503 with the time to try again', async () => {
    harness.engine.answers = {
      apply: async () => {
        throw new CairnError('database.unavailable', 'no connection to postgres://secret-host')
      },
    }
    const response = await apply({})
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.text()).not.toContain('secret-host')
  })

  it('hands secrets on as Secrets, and logs none of them', async () => {
    await apply({ secrets: { webhook: 'hunter2-value' }, env: { constructor: 'x' } })
    const [, [request]] = harness.engine.calls.findLast(([name]) => name === 'apply')! as [string, [never]]
    const { secrets, env } = request as { secrets: Record<string, { reveal(): string }>; env: object }
    expect(secrets.webhook?.reveal()).toBe('hunter2-value')
    expect(Object.keys(env)).toEqual(['constructor'])
    expect(harness.log.join('')).not.toContain('hunter2-value')
  })

  it('with `wait` says what is not ready in time', async () => {
    await harness.database.store.transaction(tx =>
      tx.write([
        {
          do: 'create',
          kind: 'Machine',
          id: 'm1',
          apiVersion: 'cairn.dev/v1',
          displayName: 'cleo',
          spec: {},
          refersTo: [],
        },
      ]),
    )
    const resource = { apiVersion: 'cairn.dev/v1', kind: 'Machine', name: 'cleo', displayName: 'cleo', id: 'm1' }
    const summary = { ...anAnswer.summary, resources: [{ ...resource, spec: {}, associations: [], envReferences: [] }] }
    harness.engine.answers = { apply: async () => ({ ...anAnswer, stackId: null, summary }) }
    const answer = await harness.client().call(routes.applyBundle, { body: { wait: '50ms' } })
    expect(answer.readiness).toEqual({
      ready: false,
      waiting: [{ kind: 'Machine', name: 'cleo', reason: 'it has not reported yet' }],
    })
    const waited = harness.client().call(routes.applyBundle, { body: { wait: '30s' } })
    await harness.database.setStatus('m1', { phase: 'Healthy', conditions: [{ type: 'Ready', status: 'True' }] })
    harness.database.commit({ what: 'status', kind: 'Machine' })
    expect((await waited).readiness).toEqual({ ready: true, waiting: [] })
  })
})

describe('apply as a stream', () => {
  const step = (seq: number, state: 'waiting' | 'running' | 'done') => ({
    seq,
    action: 'create',
    resource: 'Label/a',
    state,
  })

  it('has a line for each step, and the answer with its status as the last', async () => {
    harness.engine.answers = {
      apply: async (_request, watch) => {
        for (const state of ['waiting', 'running', 'done'] as const) watch?.onProgress?.(step(1, state))
        return { ...anAnswer, outcome: { did: 'applied', madeStack: true } }
      },
    }
    const response = await apply({}, { accept: 'application/x-ndjson' })
    const lines = (await response.text())
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(response.headers.get('content-type')).toContain('application/x-ndjson')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(lines.map(({ state, status }) => state ?? status)).toEqual(['waiting', 'running', 'done', 201])
    const entry = harness.database.auditEntries[0]
    expect(entry).toMatchObject({ action: 'POST /api/v1/bundles/apply', status: 201, target: 'stack-1' })
  })

  it('that is refused before the first step has its own status', async () => {
    harness.engine.answers = {
      apply: async (_request, watch) => {
        watch?.onProgress?.(step(1, 'waiting'))
        throw new RefusedError('stack.locked', 'no')
      },
    }
    expect((await apply({}, { accept: 'application/x-ndjson' })).status).toBe(409)
  })

  it('that fails midway says so in the last line, which the client throws', async () => {
    harness.engine.answers = {
      apply: async (_request, watch) => {
        watch?.onProgress?.(step(1, 'running'))
        return { ...anAnswer, outcome: { did: 'rolled back', failures: [problem] } }
      },
    }
    const seen: unknown[] = []
    const failed = await harness
      .client()
      .stream(routes.applyBundle, { body: {}, onProgress: one => seen.push(one) })
      .catch((error: unknown) => error)
    expect(seen).toEqual([step(1, 'running')])
    expect(failed).toMatchObject({ name: 'ApiError', status: 500, code: 'name.missing' })
  })

  it('is cancelled with its reader only when that was asked for', async () => {
    const signals: AbortSignal[] = []
    harness.engine.answers = {
      apply: async (_request, watch) => {
        signals.push(watch!.signal!)
        watch?.onProgress?.(step(1, 'running'))
        await new Promise<void>(resolve => {
          watch?.signal?.addEventListener('abort', () => resolve())
          setTimeout(resolve, 200)
        })
        return anAnswer
      },
    }
    for (const cancelOnDisconnect of [true, false]) {
      const stop = new AbortController()
      const response = await harness.request('/api/v1/bundles/apply', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
        body: JSON.stringify({ cancelOnDisconnect }),
        signal: stop.signal,
      })
      await response.body?.getReader().read()
      stop.abort()
      await expect.poll(() => harness.database.auditEntries.length).toBeGreaterThan(signals.length)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  })
})

describe('export', () => {
  it('answers in the type that is asked for', async () => {
    const resources = [{ apiVersion: 'cairn.dev/v1', kind: 'Label', metadata: { name: 'edge' }, spec: {} }]
    harness.engine.answers = { export: async () => ({ resources, problems: [], warnings: [] }) }
    const client = harness.client()
    expect(await client.call(routes.exportBundle, { body: { all: true } })).toEqual(resources)
    const yaml = await client.text(routes.exportBundle, { body: { all: true }, accept: 'application/yaml' })
    expect(yaml).toContain('kind: Label\n')
  })
})

describe('stacks', () => {
  it('have their revision as ETag, and If-Match reaches the engine', async () => {
    const response = await harness.request('/api/v1/stacks/homelab')
    expect(response.headers.get('etag')).toBe('"3"')
    await harness.client().call(routes.patchStack, { params: { id: 'homelab' }, body: { name: 'x' }, ifMatch: 3 })
    expect(harness.engine.calls.at(-1)).toEqual([
      'updateStack',
      ['homelab', { name: 'x' }, { by: 'admin', ifRevision: 3 }],
    ])
  })

  it('that are unknown are deleted all the same', async () => {
    expect((await harness.request('/api/v1/stacks/none', { method: 'DELETE' })).status).toBe(204)
  })

  it('take a plan only, a wait for the lock, and confirmations', async () => {
    const body = { planOnly: true, lockWait: '30s', confirm: ['massDelete' as const] }
    await harness.client().call(routes.uninstallStack, { params: { id: aStack.id }, body })
    expect(harness.engine.calls.at(-1)?.[1][0]).toEqual({
      stack: aStack.id,
      by: 'admin',
      confirm: ['massDelete'],
      lockWaitMs: 30_000,
      planOnly: true,
    })
  })
})

describe('resources', () => {
  const label = (name: string) =>
    harness.client().call(routes.createResource, { params: { kind: 'Label' }, body: { spec: { name } } })

  it('are made, read, changed and deleted, each with its revision', async () => {
    const client = harness.client()
    const made = await label('edge')
    const { id } = made.metadata
    const params = { kind: 'Label', id }
    expect(await client.call(routes.getResource, { params: { kind: 'Label', id: 'edge' } })).toEqual(made)
    const changed = await client.call(routes.putResource, {
      params,
      body: { spec: { ...made.spec, color: '#112233' } },
      ifMatch: made.metadata.revision,
    })
    expect(changed).toMatchObject({ metadata: { revision: 2 }, spec: { name: 'edge', color: '#112233' } })
    const again = await client.call(routes.putResource, { params, body: { spec: changed.spec } })
    expect(again).toEqual(changed)
    await expect(client.call(routes.deleteResource, { params, ifMatch: 1 })).rejects.toMatchObject({
      status: 412,
      code: 'revision.moved',
    })
    await client.call(routes.deleteResource, { params, ifMatch: 2 })
    await expect(client.call(routes.getResource, { params })).rejects.toMatchObject({ status: 404 })
  })

  it('show others by display name, and take them back so', async () => {
    const client = harness.client()
    await label('harbor-label')
    const spec = { name: 'harbor', associations: [{ kind: 'Label', external: 'harbor-label' }] }
    const made = await client.call(routes.createResource, { params: { kind: 'Machine' }, body: { spec } })
    expect(made.spec).toMatchObject(spec)
    const params = { kind: 'Machine', id: made.metadata.id }
    expect(await client.call(routes.putResource, { params, body: { spec: made.spec } })).toEqual(made)
    const { resources } = await client.call(routes.listResources, {
      params: { kind: 'Machine' },
      query: { label: ['harbor-label'] },
    })
    expect(resources).toEqual([made])
    await expect(client.call(routes.deleteResource, { params })).rejects.toMatchObject({ status: 428 })
    await client.call(routes.deleteResource, { params, query: { confirm: ['dataLoss'] } })
  })

  it('that are wrong, taken, or point nowhere are refused with all that is wrong', async () => {
    const client = harness.client()
    await label('taken')
    await expect(label('taken')).rejects.toMatchObject({ status: 409, code: 'resource.exists' })
    const refused = (spec: Record<string, never>) =>
      client.call(routes.createResource, { params: { kind: 'Label' }, body: { spec } }).catch((error: unknown) => error)
    expect(await refused({ name: 'x', color: 'red', colour: 1 } as never)).toMatchObject({
      status: 422,
      problems: expect.arrayContaining([
        expect.objectContaining({ path: 'spec.color' }),
        expect.objectContaining({ code: 'key.unknown', path: 'spec.colour' }),
      ]),
    })
    expect(await refused({})).toMatchObject({ status: 422, problems: [{ code: 'value.missing', path: 'spec.name' }] })
    const spec = { name: 'm', associations: [{ kind: 'Label', external: 'nowhere' }] }
    await expect(
      client.call(routes.createResource, { params: { kind: 'Machine' }, body: { spec } }),
    ).rejects.toMatchObject({ status: 422, code: 'reference.external' })
  })

  it('report a status that fits their kind only', async () => {
    const made = await label('no-status')
    const put = (status: Record<string, never>) =>
      harness.client().call(routes.putStatus, { params: { kind: 'Label', id: made.metadata.id }, body: { status } })
    await expect(put({})).rejects.toMatchObject({ status: 422, code: 'status.unexpected' })
  })
})

describe('health', () => {
  it('is ready while the database answers', async () => {
    expect(await harness.client().call(routes.readiness, {})).toEqual({ ok: true, leader: true })
    harness.database.fails = new Error('away')
    const response = await harness.request('/readyz', { as: null })
    harness.database.fails = null
    expect(response.status).toBe(503)
  })

  it('counts what was asked by the name of the route', async () => {
    await harness.request('/api/v1/stacks/homelab')
    const text = await harness.client().text(routes.metrics, { accept: 'text/plain' })
    expect(text).toMatch(/cairn_http_requests_total\{route="getStack",method="GET",status="200"\} \d/)
    expect(text).toContain('cairn_leader 1')
  })
})
