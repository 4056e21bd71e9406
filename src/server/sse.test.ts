import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ClientEvent } from './client.ts'
import { type Harness, openHarness } from './harness.fake.ts'
import type { Role } from './ports.ts'

let harness: Harness
let stop: AbortController

beforeEach(async () => {
  harness = await openHarness({ heartbeatMs: 30, streams: 3 })
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await harness.close()
})

/** What a stream gives, as it comes. */
function listen(since?: number, role: Role = 'viewer') {
  const seen: ClientEvent[] = []
  const ended = (async () => {
    const from = { signal: stop.signal, ...(since !== undefined && { since }) }
    for await (const event of harness.client(role).events(from)) seen.push(event)
  })().catch(() => {})
  const numbers = () => seen.map(({ event, seq }) => (event === 'reset' ? `reset ${seq}` : seq))
  return { seen, ended, numbers }
}

const streamsAre = (count: number) => expect.poll(async () => (await metric('cairn_event_streams')) ?? -1).toBe(count)

async function metric(name: string): Promise<number | undefined> {
  const text = await (await harness.request('/metrics')).text()
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)
  return found ? Number(found[1]) : undefined
}

describe('the event stream', () => {
  it('gives what is committed from now on, with its number', async () => {
    harness.database.commit({ name: 'before' })
    const { seen, numbers } = listen()
    await streamsAre(1)
    harness.database.commit({ what: 'created', kind: 'Label', name: 'edge' })
    await expect.poll(numbers).toEqual([2])
    expect(seen[0]).toMatchObject({ change: { what: 'created', kind: 'Label', name: 'edge' } })
  })

  it('goes on after the event that was seen last', async () => {
    for (let turn = 0; turn < 5; turn++) harness.database.commit({})
    const { numbers } = listen(2)
    await expect.poll(numbers).toEqual([3, 4, 5])
    harness.database.commit({})
    await expect.poll(numbers).toEqual([3, 4, 5, 6])
  })

  it('takes Last-Event-ID before since', async () => {
    for (let turn = 0; turn < 3; turn++) harness.database.commit({})
    const response = await harness.request('/api/v1/events?since=0', {
      headers: { 'last-event-id': '2' },
      signal: stop.signal,
    })
    const reader = response.body!.getReader()
    let text = ''
    while (!text.includes('id: ')) text += new TextDecoder().decode((await reader.read()).value)
    expect(/id: (\d+)/.exec(text)?.[1]).toBe('3')
  })

  it('says reset when what came after is no longer kept, and when the number is of another database', async () => {
    for (let turn = 0; turn < 5; turn++) harness.database.commit({})
    harness.database.forgetFeed(3)
    const missed = listen(1)
    const foreign = listen(99)
    const whole = listen(3)
    await expect.poll(missed.numbers).toEqual(['reset 5'])
    await expect.poll(foreign.numbers).toEqual(['reset 5'])
    await expect.poll(whole.numbers).toEqual([4, 5])
    harness.database.commit({})
    await expect.poll(missed.numbers).toEqual(['reset 5', 6])
  })

  it('gives a machine what is about itself only', async () => {
    const { seen } = listen(0, 'machine')
    harness.database.commit({ kind: 'Machine', name: 'borea' })
    harness.database.commit({ kind: 'Label', name: 'atlas' })
    harness.database.commit({ kind: 'Machine', name: 'atlas' })
    await expect.poll(() => seen.map(event => event.event === 'change' && event.change.name)).toEqual(['atlas'])
    expect(seen[0]?.seq).toBe(3)
  })

  it('ends when its token is revoked', async () => {
    const { text, id } = await harness.addToken({ role: 'viewer' })
    const response = await harness.request('/api/v1/events', {
      as: null,
      headers: { authorization: `Bearer ${text}` },
      signal: stop.signal,
    })
    await harness.request(`/api/v1/tokens/${id}`, { method: 'DELETE' })
    harness.database.commit({ name: 'not for it' })
    expect(await response.text()).not.toContain('not for it')
  })

  it('sends a sign of life when nothing happens', async () => {
    const response = await harness.request('/api/v1/events', { signal: stop.signal })
    const reader = response.body!.getReader()
    let text = ''
    while (!text.includes(': still here')) text += new TextDecoder().decode((await reader.read()).value)
    expect(text).toContain('retry: 2000')
  })

  it('is refused when there are too many, and free again when one goes', async () => {
    const streams = [listen(), listen(), listen()]
    await streamsAre(3)
    const refused = await harness.request('/api/v1/events')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
    stop.abort()
    await Promise.all(streams.map(({ ended }) => ended))
    await streamsAre(0)
  })

  it('ends with the server', async () => {
    const { ended } = listen()
    await streamsAre(1)
    await harness.server.stop()
    await ended
  })

  it('costs one reading of the feed for all who listen', async () => {
    const streams = [listen(), listen(), listen()]
    await streamsAre(3)
    const before = harness.database.feedReads
    harness.database.commit({})
    for (const { numbers } of streams) await expect.poll(numbers).toEqual([1])
    expect(harness.database.feedReads - before).toBe(1)
  })
})

describe('a reader that does not read', () => {
  it('is dropped, and nothing is gathered for it', async () => {
    const slow = await openHarness({ stalledMs: 100, heartbeatMs: 50 })
    try {
      const name = 'x'.repeat(100_000)
      for (let turn = 0; turn < 200; turn++) slow.database.commit({ name })
      // Never read: the answer waits in the buffers of the connection.
      const response = await slow.request('/api/v1/events?since=0')
      const open = async () => /cairn_event_streams (\d+)/.exec(await (await slow.request('/metrics')).text())?.[1]
      await expect.poll(open, { timeout: 5_000 }).toBe('0')
      await response.body?.cancel().catch(() => {})
    } finally {
      await slow.close()
    }
  })
})
