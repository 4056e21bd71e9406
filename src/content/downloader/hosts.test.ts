import { describe, expect, it } from 'vitest'
import { createBandwidth } from './bandwidth.ts'
import { createHosts } from './hosts.ts'
import { steppedClock } from './stepped-clock.fake.ts'

const { signal } = new AbortController()
const quiet = () => new Promise(resolve => setImmediate(resolve))

describe('the places of a host', () => {
  const hostsWith = (limits: { perHost: number }) =>
    createHosts(
      steppedClock(),
      () => 1,
      () => ({ ...limits, longestPauseMs: 600_000 }),
    )

  it('are given in the order of asking, and never more than there are', async () => {
    const hosts = hostsWith({ perHost: 1 })
    const order: number[] = []
    const leave = await hosts.enter('one', signal)
    const others = [1, 2].map(async n => {
      const out = await hosts.enter('one', signal)
      order.push(n)
      return out
    })
    await quiet()
    expect(order).toEqual([])
    leave()
    const next = await others[0]!
    expect(order).toEqual([1])
    next()
    await others[1]
    expect(order).toEqual([1, 2])
  })

  it('are not waited for by who gave up, nor at another host or on this machine', async () => {
    const hosts = hostsWith({ perHost: 1 })
    const leave = await hosts.enter('one', signal)
    const abort = new AbortController()
    const given = hosts.enter('one', abort.signal)
    abort.abort()
    await expect(given).rejects.toBe(abort.signal.reason)
    await hosts.enter('two', signal)
    await hosts.enter(null, signal)
    await hosts.enter(null, signal)
    leave()
    await hosts.enter('one', signal)
  })

  it('become more when the setting says so', async () => {
    const limits = { perHost: 1 }
    const hosts = hostsWith(limits)
    await hosts.enter('one', signal)
    const second = hosts.enter('one', signal)
    limits.perHost = 2
    hosts.lookAgain()
    await second
  })
})

describe('a host that asks for a pause', () => {
  it('gets what it asks for, at most an hour; without a number longer each time until it answers', async () => {
    const clock = steppedClock()
    const hosts = createHosts(
      clock,
      () => 1,
      () => ({ perHost: 3, longestPauseMs: 90_000 }),
    )
    const pauses = (count: number) =>
      Array.from({ length: count }, (_, n) => {
        hosts.slow(`${n}`, undefined)
        for (let strike = 0; strike < n; strike++) hosts.slow(`${n}`, undefined)
        return hosts.heldUntil(`${n}`)
      })
    expect(pauses(9)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 60_000, 90_000, 90_000])
    hosts.slow('asks', 1234)
    expect(hosts.heldUntil('asks')).toBe(1234)
    hosts.slow('asks', 10 ** 9)
    expect(hosts.heldUntil('asks')).toBe(3_600_000)
    hosts.slow(null, 1000)
    expect(hosts.heldUntil(null)).toBe(0)
    await clock.step(100_000)
    expect(hosts.heldUntil('8')).toBe(0)
    hosts.fine('8')
    hosts.slow('8', undefined)
    expect(hosts.heldUntil('8')).toBe(100_500)
  })
})

describe('the bandwidth', () => {
  it('costs nothing without a cap', () => {
    expect(createBandwidth(steppedClock()).take(10 ** 9, signal)).toBeUndefined()
  })

  it('lets the rate through, whatever the size of the pieces, and a new rate is felt within a second', async () => {
    const clock = steppedClock()
    const bandwidth = createBandwidth(clock)
    bandwidth.limit(1000)
    let passed = 0
    const take = async () => {
      for (;;) {
        await bandwidth.take(500, signal)
        passed += 500
      }
    }
    take()
    await clock.step(10_000)
    expect(passed).toBeGreaterThanOrEqual(10_000)
    expect(passed).toBeLessThanOrEqual(11_000)
    bandwidth.limit(1)
    await clock.step(3000)
    const slow = passed
    await clock.step(100_000)
    expect(passed - slow).toBeLessThanOrEqual(500)
    bandwidth.limit(100_000)
    await clock.step(2000)
    expect(passed - slow).toBeGreaterThan(90_000)
  })
})
