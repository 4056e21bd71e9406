import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realClock } from '../lib/clock.ts'
import type { Check } from '../resources/check.ts'
import { runChecks } from './checks.ts'
import { type FakeNode, fakeNode } from './node.fake.ts'

describe('runChecks', () => {
  let node: FakeNode
  let answer = 200
  const server = createServer((_, response) => response.writeHead(answer).end())

  beforeEach(async () => {
    node = fakeNode()
    answer = 200
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  })
  afterEach(async () => {
    node.remove()
    await new Promise(done => server.close(done))
  })

  const port = () => (server.address() as AddressInfo).port
  /** Real time for what needs a network, stepped time for what would only wait. */
  const check = (wanted: Check, clock = node.context.clock) => runChecks([wanted], { ...node.context, clock })

  it('asks until it holds', async () => {
    answer = 503
    setTimeout(() => {
      answer = 200
    }, 300)
    const found = await check({ name: 'web', http: `http://127.0.0.1:${port()}/`, within: '20s' }, realClock)
    expect(found).toEqual([])
  })

  it('says what it got last when its time is up, without the secrets of the address', async () => {
    answer = 500
    const [failed] = await check({ name: 'web', http: `http://user:pass@127.0.0.1:${port()}/?token=x`, within: '0s' })
    expect(failed).toMatchObject({ name: 'web', reason: expect.stringContaining('HTTP 500') })
    expect(failed?.reason).not.toMatch(/pass|token/)
  })

  it('connects to a port', async () => {
    expect(await check({ name: 'port', tcp: `127.0.0.1:${port()}`, within: '0s' })).toEqual([])
    expect(await check({ name: 'port', tcp: 'nonsense', within: '0s' })).toMatchObject([{ name: 'port' }])
  })

  it('runs a program by its exit code', async () => {
    expect(await check({ name: 'ok', command: ['/bin/true'], within: '0s' })).toEqual([])
    expect(
      await check({ name: 'bad', command: ['/bin/sh', '-c', 'echo why >&2; exit 3'], within: '0s' }),
    ).toMatchObject([{ reason: expect.stringMatching(/exited 3: why/) }])
    expect(await check({ name: 'none', command: ['/no/such'], within: '0s' })).toMatchObject([{ name: 'none' }])
  })

  it('looks for a file below the root', async () => {
    expect(await check({ name: 'file', file: '/etc', within: '0s' })).toMatchObject([{ name: 'file' }])
    node.context.files.mkdir(`${node.root}/etc`)
    expect(await check({ name: 'file', file: '/etc', within: '0s' })).toEqual([])
  })

  it('wants a unit to be active for as long as it says', async () => {
    expect(await check({ name: 'up', unit: 'multi-user.target', for: '10s', within: '20s' })).toEqual([])
    expect(await check({ name: 'up', unit: 'multi-user.target', for: '30s', within: '5s' })).toMatchObject([
      { reason: 'did not hold long enough' },
    ])
  })
})
