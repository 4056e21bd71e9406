import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Harness, openHarness } from './harness.fake.ts'
import { anAnswer } from './server.fake.ts'

let harness: Harness

beforeEach(async () => {
  harness = await openHarness({ stopMs: 300 })
})
afterEach(() => harness.close())

const apply = () =>
  harness.request('/api/v1/bundles/apply', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })

/** An apply that goes on until it is let go, or cancelled. */
function lasting() {
  let letGo = () => {}
  const seen = { begun: false, cancelled: false }
  harness.engine.answers = {
    apply: (_request, watch) =>
      new Promise(resolve => {
        seen.begun = true
        letGo = () => resolve(anAnswer)
        watch?.signal?.addEventListener('abort', () => {
          seen.cancelled = true
          const problem = { code: 'apply.cancelled', path: '', reason: 'cancelled' } as const
          resolve({ ...anAnswer, outcome: { did: 'rolled back', failures: [problem] } })
        })
      }),
  }
  return { seen, letGo: () => letGo() }
}

describe('a server that stops', () => {
  it('lets what is under way finish, and tells the caller', async () => {
    const { seen, letGo } = lasting()
    const answer = apply()
    await expect.poll(() => seen.begun).toBe(true)
    const stopped = harness.server.stop()
    letGo()
    expect((await answer).status).toBe(200)
    await stopped
    expect(seen.cancelled).toBe(false)
  })

  it('has it undone when it takes too long, and tells the caller', async () => {
    const { seen } = lasting()
    const answer = apply()
    await expect.poll(() => seen.begun).toBe(true)
    await harness.server.stop()
    expect((await answer).status).toBe(500)
    expect(seen.cancelled).toBe(true)
  })

  it('waits for work whose caller is gone', async () => {
    const { seen } = lasting()
    const gone = new AbortController()
    const asked = harness
      .request('/api/v1/bundles/apply', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        signal: gone.signal,
      })
      .catch(() => {})
    await expect.poll(() => seen.begun).toBe(true)
    gone.abort()
    await asked
    expect(seen.cancelled).toBe(false)
    await harness.server.stop()
    expect(seen.cancelled).toBe(true)
  })

  it('takes nothing new', async () => {
    await harness.server.stop()
    await expect(apply()).rejects.toThrow()
  })
})
