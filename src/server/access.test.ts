// Every route times every caller, in one table that is made from the contract.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from './contract/all.ts'
import type { Route } from './contract/route.ts'
import { type Harness, openHarness } from './harness.fake.ts'
import { type Role, roles } from './ports.ts'

let harness: Harness
let expired: string
let revoked: string

beforeAll(async () => {
  harness = await openHarness({ refusedLogins: 10_000 })
  expired = (await harness.addToken({ role: 'admin', expiresAt: '2020-01-01T00:00:00.000Z' })).text
  revoked = (await harness.addToken({ role: 'admin', revokedAt: '2020-01-01T00:00:00.000Z' })).text
})
afterAll(() => harness.close())

const all = Object.entries(routes) as [string, Route][]
const guarded = all.filter(([, route]) => route.allow !== 'anyone')

const pathOf = (route: Route) => route.path.replace('{kind}', 'Label').replace(/\{\w+\}/g, 'nothing-here')

async function statusOf(
  route: Route,
  authorization: string | null,
): Promise<{ status: number; code: string | undefined }> {
  const stop = new AbortController()
  const response = await fetch(harness.url + pathOf(route), {
    method: route.method,
    headers: {
      ...(authorization !== null && { authorization }),
      ...(route.body && { 'content-type': 'application/json' }),
    },
    ...(route.body && { body: route.path.endsWith('/status') ? '{"status":{}}' : '{}' }),
    signal: stop.signal,
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const body = isStream ? '' : await response.text()
  stop.abort()
  const problem = response.headers.get('content-type')?.startsWith('application/problem+json')
    ? JSON.parse(body)
    : undefined
  return { status: response.status, code: problem?.problems[0]?.code }
}

describe.each(guarded)('%s', (_name, route) => {
  it.each(roles)('is for %s exactly when the contract says so', async role => {
    const { status, code } = await statusOf(route, `Bearer ${harness.tokens[role]}`)
    const isAllowed = (route.allow as readonly Role[]).includes(role)
    // A machine may call these, but only for itself, which is not what is asked for here.
    const isOther = role === 'machine' && route.path.startsWith('/api/v1/resources/')
    if (!isAllowed || isOther) expect({ status, code }).toEqual({ status: 403, code: 'auth.not-allowed' })
    else expect([401, 403, 405, 500, 501]).not.toContain(status)
  })

  it.each([
    ['no token', () => null, 'auth.missing'],
    ['another scheme', () => `Basic ${harness.tokens.admin}`, 'auth.invalid'],
    ['text that is no token', () => 'Bearer cairn_x', 'auth.invalid'],
    ['a known id with another secret', () => `Bearer ${harness.tokens.admin.slice(0, -4)}0000`, 'auth.invalid'],
    ['an expired token', () => `Bearer ${expired}`, 'auth.expired'],
    ['a revoked token', () => `Bearer ${revoked}`, 'auth.revoked'],
  ])('refuses %s', async (_what, header, code) => {
    expect(await statusOf(route, header())).toEqual({ status: 401, code })
  })
})

describe.each(all.filter(([, route]) => route.allow === 'anyone'))('%s', (_name, route) => {
  it('needs no token', async () => {
    expect((await statusOf(route, null)).status).toBe(200)
  })
})

describe('a machine', () => {
  let atlas: string
  let borea: string

  beforeAll(async () => {
    const machine = (id: string, displayName: string) => ({
      do: 'create' as const,
      kind: 'Machine',
      id,
      apiVersion: 'cairn.dev/v1',
      displayName,
      spec: {},
      refersTo: [],
    })
    atlas = 'id-of-atlas'
    borea = 'id-of-borea'
    await harness.database.store.transaction(tx => tx.write([machine(atlas, 'atlas'), machine(borea, 'borea')]))
  })

  it('sees itself, by id and by name', async () => {
    for (const id of [atlas, 'atlas']) {
      const response = await harness.request(`/api/v1/resources/Machine/${id}`, { as: 'machine' })
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ spec: { name: 'atlas' } })
    }
  })

  it('learns nothing of others, not even whether they are there', async () => {
    const [other, absent] = await Promise.all(
      [borea, 'none'].map(id => harness.request(`/api/v1/resources/Machine/${id}`, { as: 'machine' })),
    )
    expect([other?.status, absent?.status]).toEqual([403, 403])
    expect(await other?.text()).toBe(await absent?.text())
  })

  it('reports its own status and no other', async () => {
    const put = (id: string) =>
      harness.request(`/api/v1/resources/Machine/${id}/status`, {
        as: 'machine',
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ status: { phase: 'Healthy', conditions: [] } }),
      })
    expect((await put(borea)).status).toBe(403)
    const own = await put(atlas)
    expect([own.status, await own.text()]).toEqual([204, ''])
    const seen = await harness.client('machine').call(routes.getResource, { params: { kind: 'Machine', id: atlas } })
    expect(seen.status).toMatchObject({ phase: 'Healthy' })
  })
})

describe('tokens', () => {
  it('count until they are revoked, and not a moment longer', async () => {
    const admin = harness.client()
    const { token, text } = await admin.call(routes.createToken, { body: { name: 'ci', role: 'viewer' } })
    const ask = () => harness.request('/api/v1/me', { as: null, headers: { authorization: `Bearer ${text}` } })
    expect((await ask()).status).toBe(200)
    await admin.call(routes.revokeToken, { params: { id: token.id } })
    expect((await ask()).status).toBe(401)
  })

  it('expire', async () => {
    const { text } = await harness
      .client()
      .call(routes.createToken, { body: { name: 'short', role: 'viewer', expiresIn: '1h' } })
    const ask = () => harness.request('/api/v1/me', { as: null, headers: { authorization: `Bearer ${text}` } })
    expect((await ask()).status).toBe(200)
    harness.clock.advance(2 * 3_600_000)
    expect((await ask()).status).toBe(401)
  })

  it('are for a machine exactly when their role is', async () => {
    const make = (body: object) =>
      harness.request('/api/v1/tokens', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'x', ...body }),
      })
    expect((await make({ role: 'machine' })).status).toBe(422)
    expect((await make({ role: 'viewer', machine: 'atlas' })).status).toBe(422)
    expect((await make({ role: 'viewer', expiresIn: 'soon' })).status).toBe(422)
    expect((await make({ role: 'viewer', expiresIn: '0s' })).status).toBe(422)
    expect((await make({ role: 'machine', machine: 'atlas' })).status).toBe(201)
  })
})

describe('a viewer', () => {
  it('plans, but neither keeps the plan nor tries values of secrets', async () => {
    const plan = (body: object) =>
      harness.request('/api/v1/bundles/plan', {
        as: 'viewer',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    expect((await plan({})).status).toBe(200)
    expect((await plan({ save: true })).status).toBe(403)
    expect((await plan({ secrets: { webhook: 'a guess' } })).status).toBe(403)
  })
})

describe('too much', () => {
  it('of refused tokens is 429 with the time to wait, while good ones go on', async () => {
    const small = await openHarness({ refusedLogins: 3 })
    try {
      const bad = () => small.request('/api/v1/me', { as: null, headers: { authorization: 'Bearer no' } })
      const statuses = []
      for (let turn = 0; turn < 5; turn++) statuses.push((await bad()).status)
      expect(statuses).toEqual([401, 401, 401, 429, 429])
      expect(Number((await bad()).headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await small.request('/api/v1/me')).status).toBe(200)
      small.clock.advance(120_000)
      expect((await bad()).status).toBe(401)
    } finally {
      await small.close()
    }
  })

  it('of requests at once of one token is 429, and another token goes on', async () => {
    const small = await openHarness({ requestsPerToken: 1 })
    try {
      const stop = new AbortController()
      const stream = await small.request('/api/v1/events', { signal: stop.signal })
      const refused = await small.request('/api/v1/me')
      expect([stream.status, refused.status]).toEqual([200, 429])
      expect((await small.request('/api/v1/me', { as: 'viewer' })).status).toBe(200)
      stop.abort()
    } finally {
      await small.close()
    }
  })
})

describe('the audit log', () => {
  it('has every change that was asked for, with who, what and how it ended, and nothing of the body', async () => {
    const mine = await openHarness()
    try {
      const put = (as: Role) =>
        mine.request('/api/v1/secrets/webhook', {
          as,
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ value: 'hunter2-value' }),
        })
      await put('operator')
      await put('viewer')
      await mine.request('/api/v1/secrets', { as: 'viewer' })
      const { entries } = await mine.client().call(routes.listAudit, {})
      expect(entries.map(({ who, role, action, target, status }) => ({ who, role, action, target, status }))).toEqual([
        { who: 'viewer', role: 'viewer', action: 'PUT /api/v1/secrets/{key}', target: 'webhook', status: 403 },
        { who: 'operator', role: 'operator', action: 'PUT /api/v1/secrets/{key}', target: 'webhook', status: 200 },
      ])
      const everything = JSON.stringify(mine.database.auditEntries) + mine.log.join('')
      expect(everything).not.toContain('hunter2-value')
      for (const token of Object.values(mine.tokens)) expect(everything).not.toContain(token.split('_')[2])
    } finally {
      await mine.close()
    }
  })
})
