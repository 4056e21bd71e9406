// The door on a real hub; the test is the manager.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Progress, silentProgress } from '../lib/progress.ts'
import { ContentFailure, doorOn, failIfHopeless } from './ask.ts'
import { contentIdOf } from './content-ref.ts'
import type { ContentError, ContentRef, ContentStatus, Sha256 } from './messages.ts'
import { memoryLinks } from './pubsub/memory-link.ts'
import { type TestPeer, testHub, until } from './pubsub/pubsub.fake.ts'

const never = new AbortController().signal
const aRef = (name: string): ContentRef => ({
  name,
  sources: [{ kind: 'url', url: `https://one.example/${name}` }],
  size: 0,
  platform: { os: 'linux', architecture: 'amd64' },
  trust: { policy: 'none', keys: [], certificates: [] },
})
const what = (ref: ContentRef) => `packages/${contentIdOf(ref)}`
const digest = 'a'.repeat(64) as Sha256
const [tool, other] = [aRef('tool'), aRef('other')]

let hub: ReturnType<typeof testHub>
let manager: TestPeer
let requester: TestPeer
beforeEach(async () => {
  hub = testHub({ pair: async () => memoryLinks(), close: async () => {} })
  manager = await hub.connect('manager')
  requester = await hub.connect('requester')
})
afterEach(() => hub.close())

const wishes = () => [...manager.all('contentConfig').keys()]
/** Wishes for this one, by the manager's mirror. */
const wishesFor = (ref: ContentRef) => wishes().filter(key => key.startsWith(what(ref)))
const isWished = (ref: ContentRef) => until(() => wishesFor(ref).length === 1)
const isTakenBack = (ref: ContentRef) => until(() => wishesFor(ref).length === 0)

/** Of a wish that the manager knows already. */
function tell(ref: ContentRef, status: Partial<ContentStatus>) {
  const [key = ''] = wishesFor(ref)
  manager.publish('contentStatus', key, {
    ...{ scope: 'packages', id: key.slice('packages/'.length), name: ref.name, state: 'downloading', blobs: [] },
    ...{ totalSize: 0, currentSize: 0, waitingForCerts: false },
    ...status,
  })
}
/** The requester has heard what the manager said last. */
const isHeard = (ref: ContentRef, state: ContentStatus['state']) =>
  until(() => [...requester.all('contentStatus').values()].some(one => one.name === ref.name && one.state === state))
const blob = { sha256: digest, role: 'blob', state: 'verified', size: 3, currentSize: 3 } as const
const verified: Partial<ContentStatus> = { state: 'verified', sha256: digest, blobs: [{ ...blob, path: '/v/a' }] }

/** A failure that is tried again after so many seconds; for good without them. */
function anError(retryInSeconds?: number): ContentError {
  const at = (seconds: number) => new Date(hub.clock.now().getTime() + seconds * 1000).toISOString()
  return {
    ...{ code: 'source.truncated', text: 'it broke off', severity: 'notice', since: at(0), source: 'downloader' },
    ...(retryInSeconds !== undefined && { retryAt: at(retryInSeconds) }),
  }
}

const openDoor = () => {
  let wishesSoFar = 0
  const door = doorOn(requester, { clock: hub.clock, newId: () => String(++wishesSoFar) })
  return (
    ref: ContentRef,
    { signal = never, progress = silentProgress }: { signal?: AbortSignal; progress?: Progress } = {},
  ) => door.fetch({ scope: 'packages', ref, progress, signal, label: ref.name })
}

describe('who asks for content', () => {
  it('gets it when every blob has its file, holds it until it is released, and then takes the wish back', async () => {
    const fetching = openDoor()(tool)
    await isWished(tool)
    const id = `${contentIdOf(tool)}-1`
    expect([...manager.all('contentConfig')]).toEqual([
      [`packages/${id}`, { scope: 'packages', id, ref: tool, until: 'verified' }],
    ])
    tell(tool, { state: 'verified', sha256: digest, blobs: [blob] })
    await isHeard(tool, 'verified')
    expect(await Promise.race([fetching, 'waits'])).toBe('waits')
    tell(tool, verified)
    const held = await fetching
    expect(held.status).toMatchObject(verified)
    expect(wishes()).toEqual([`packages/${id}`])
    held.release()
    await isTakenBack(tool)
  })

  it('shares one wish with whoever wants the same, until the last has let go', async () => {
    const fetch = openDoor()
    const [one, two, another] = [fetch(tool), fetch(tool), fetch(other)]
    await isWished(other)
    expect(wishes()).toEqual([`${what(tool)}-1`, `${what(other)}-2`])
    tell(tool, verified)
    const held = await Promise.all([one, two])
    held[0].release()
    held[0].release()
    tell(other, verified)
    ;(await another).release()
    await isTakenBack(other)
    expect(wishes()).toEqual([`${what(tool)}-1`])
    held[1].release()
    await isTakenBack(tool)
  })

  it('that asks again gets what is there now, not what is still said of the wish that it took back', async () => {
    const fetch = openDoor()
    const first = fetch(tool)
    await isWished(tool)
    tell(tool, verified)
    ;(await first).release()
    const again = fetch(tool)
    await until(() => wishes().includes(`${what(tool)}-2`) && wishes().length === 1)
    expect(await Promise.race([again, 'waits'])).toBe('waits')
    const path = '/v/fetched-again'
    tell(tool, { ...verified, blobs: [{ ...blob, path }] })
    expect((await again).status.blobs[0]).toMatchObject({ path })
  })

  it('takes the wish back when it gives up, and another who waits for the same does not notice', async () => {
    const fetch = openDoor()
    const stop = new AbortController()
    const [mine, theirs] = [fetch(tool, { signal: stop.signal }), fetch(tool)]
    await isWished(tool)
    stop.abort(new Error('enough'))
    await expect(mine).rejects.toThrow('enough')
    tell(tool, verified)
    ;(await theirs).release()
    await isTakenBack(tool)

    const alone = new AbortController()
    const last = fetch(other, { signal: alone.signal })
    await isWished(other)
    alone.abort(new Error('enough'))
    await expect(last).rejects.toThrow('enough')
    await isTakenBack(other)
  })

  it('waits for what is tried again soon', async () => {
    const fetching = openDoor()(tool)
    await isWished(tool)
    tell(tool, { error: anError(15) })
    await isHeard(tool, 'downloading')
    expect(await Promise.race([fetching, 'waits'])).toBe('waits')
    tell(tool, verified)
    ;(await fetching).release()
  })

  it('is told of what will not pass, and the wish is taken back, whatever came of it', async () => {
    const fetching = openDoor()(tool)
    await isWished(tool)
    tell(tool, { currentSize: 3, error: { ...anError(), code: 'content.digest-mismatch' } })
    const failure = await fetching.catch(error => error)
    expect(failure).toBeInstanceOf(ContentFailure)
    expect(failure).toMatchObject({ code: 'content.digest-mismatch', message: 'it broke off', mayPass: false })
    await isTakenBack(tool)
  })

  it('is told of what passes only later; what came by then stays as long as the channel, for the next one', async () => {
    const fetch = openDoor()
    const fetching = [tool, other].map(ref => fetch(ref).catch(error => error))
    await Promise.all([tool, other].map(isWished))
    tell(tool, { currentSize: 3, error: anError(16) })
    tell(other, { currentSize: 0, error: anError(16) })
    for (const failure of await Promise.all(fetching))
      expect(failure).toMatchObject({
        code: 'source.truncated',
        mayPass: true,
        hint: expect.stringContaining('goes on'),
      })
    await isTakenBack(other)
    expect(wishes()).toEqual([`${what(tool)}-1`])

    tell(tool, verified)
    await isHeard(tool, 'verified')
    ;(await fetch(tool)).release()
    await isTakenBack(tool)
  })

  it('does not wait for a certificate that nobody may ever bring', async () => {
    const fetching = openDoor()(tool)
    const told = isWished(tool).then(() => tell(tool, { waitingForCerts: true }))
    await expect(fetching).rejects.toMatchObject({ code: 'signature.waiting' })
    await told
    await isTakenBack(tool)
  })

  it('is told when the processes are gone for good', async () => {
    const fetching = openDoor()(tool)
    await isWished(tool)
    requester.close()
    await expect(fetching).rejects.toMatchObject({ code: 'channel.closed' })
    await expect(openDoor()(other)).rejects.toMatchObject({ code: 'channel.closed' })
  })

  it('sees how far it is', async () => {
    const seen: string[] = []
    const progress: Progress = {
      begin: label => ({
        expect: total => seen.push(`${label}: of ${total}`),
        advance: bytes => seen.push(`${label}: ${bytes}`),
        done: () => seen.push(`${label}: done`),
        fail: reason => seen.push(`${label}: ${reason}`),
      }),
    }
    const fetch = openDoor()
    const fetching = fetch(tool, { progress })
    await isWished(tool)
    tell(tool, { currentSize: 1 })
    await until(() => seen.length === 1)
    tell(tool, { currentSize: 2, totalSize: 8 })
    await until(() => seen.length === 3)
    tell(tool, { ...verified, currentSize: 8, totalSize: 8 })
    ;(await fetching).release()
    expect(seen).toEqual(['tool: 1', 'tool: of 8', 'tool: 1', 'tool: of 8', 'tool: 6', 'tool: done'])

    const failing = fetch(other, { progress }).catch(() => {})
    await isWished(other)
    tell(other, { error: anError() })
    await failing
    expect(seen.slice(6)).toEqual(['other: 0', 'other: it broke off'])
  })
})

describe('a process that ends again and again', () => {
  it('ends the wait of whoever asks, with its name', async () => {
    const fetching = openDoor()(tool)
    await isWished(tool)
    const supervisor = await hub.connect('supervisor')
    supervisor.publish('isolation', 'verifier', {
      process: 'verifier',
      permission: true,
      netns: true,
      ownUid: false,
      checked: false,
      proof: [],
      insecure: false,
      health: 'degraded',
      starts: 6,
    })
    await expect(fetching).rejects.toMatchObject({
      code: 'process.degraded',
      message: expect.stringContaining('verifier'),
    })
  })
})

describe('a status', () => {
  it('is hopeless by its error and the time of the next try alone', () => {
    const now = hub.clock.now()
    expect(() => failIfHopeless({ name: 'x' }, now)).not.toThrow()
    expect(() => failIfHopeless({ name: 'x', error: anError(0) }, now)).not.toThrow()
    expect(() => failIfHopeless({ name: 'x', error: anError(-60) }, now)).not.toThrow()
    expect(() => failIfHopeless({ name: 'x', error: anError(60) }, now)).toThrow(ContentFailure)
    expect(() => failIfHopeless({ name: 'x', error: anError() }, now)).toThrow(ContentFailure)
  })
})
