import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ResolveConfig, Sha256 } from '../messages.ts'
import { type FakeOrigins, failure, fakeOrigins } from './origins.fake.ts'
import { until } from './peer.fake.ts'
import { planResolves, type ResolveEntry, type ResolvesView } from './plan-resolves.ts'
import { type Rig, removeBase, runDownloader, settingsOf, temporaryBase } from './run-downloader.fake.ts'

const question = (counter = 1): ResolveConfig => ({
  source: { kind: 'url', url: 'http://one/repository' },
  what: { kind: 'tag', tag: 'latest' },
  counter,
})
const entry = (change: Partial<ResolveEntry> = {}): ResolveEntry => ({
  counter: 1,
  isAnswered: false,
  job: null,
  wait: null,
  heldUntil: 0,
  ...change,
})

describe('what is asked next', () => {
  const plan = (wanted: ResolveConfig | null, known: ResolveEntry | null, change: Partial<ResolvesView> = {}) =>
    planResolves({
      configs: new Map(wanted ? [['q', wanted]] : []),
      complete: true,
      entries: new Map(known ? [['q', known]] : []),
      credentials: 1,
      heldUntil: () => 0,
      now: 1000,
      ...change,
    })

  it.each<[string, ResolveConfig | null, ResolveEntry | null, Partial<ResolvesView>, object[]]>([
    ['a question is new', question(), null, {}, [{ do: 'take', key: 'q', why: 'new' }]],
    ['it was taken', question(), entry(), {}, [{ do: 'start', key: 'q' }]],
    ['it runs', question(), entry({ job: { isCancelled: false } }), {}, []],
    ['it is answered', question(), entry({ isAnswered: true }), {}, []],
    ['it is asked again', question(2), entry({ isAnswered: true }), {}, [{ do: 'take', key: 'q', why: 'asked again' }]],
    [
      'it is asked again while it runs',
      question(2),
      entry({ job: { isCancelled: false } }),
      {},
      [{ do: 'cancel', key: 'q', why: 'asked again' }],
    ],
    ['nobody asks any more', null, entry({ isAnswered: true }), {}, [{ do: 'forget', key: 'q' }]],
    ['not all who ask are known yet', null, entry({ isAnswered: true }), { complete: false }, []],
    ['it waits after a failure', question(), entry({ wait: { until: 2000, credentials: 1 } }), {}, []],
    [
      'the credentials changed since',
      question(),
      entry({ wait: { until: null, credentials: 0 } }),
      {},
      [{ do: 'start', key: 'q' }],
    ],
    [
      'its host asked for a pause',
      question(),
      entry(),
      { heldUntil: () => 2000 },
      [{ do: 'hold', key: 'q', until: 2000 }],
    ],
    ['that was told already', question(), entry({ heldUntil: 2000 }), { heldUntil: () => 2000 }, []],
  ])('when %s', (_, wanted, known, change, actions) => {
    expect(plan(wanted, known, change).actions).toEqual(actions)
  })

  it('says when to look again', () => {
    expect(plan(question(), entry({ wait: { until: 2000, credentials: 1 } })).askAgainAt).toBe(2000)
    expect(plan(question(), entry({ wait: { until: null, credentials: 1 } })).askAgainAt).toBeNull()
  })

  it('asks four at once', () => {
    const keys = Array.from({ length: 9 }, (_, n) => `${n}`)
    const { actions } = planResolves({
      configs: new Map(keys.map(key => [key, question()])),
      complete: true,
      entries: new Map(keys.map((key, n) => [key, entry(n < 3 ? { job: { isCancelled: true } } : {})])),
      credentials: 1,
      heldUntil: () => 0,
      now: 0,
    })
    expect(actions.map(action => action.do)).toEqual(['start'])
  })
})

describe('resolving', () => {
  const found = [{ sha256: 'a'.repeat(64) as Sha256, size: 12 }]
  let base: string
  let rig: Rig
  let origins: FakeOrigins
  const said = () => rig.peer.said('resolveStatus', 'q')

  beforeEach(() => {
    base = temporaryBase()
    origins = fakeOrigins({})
    origins.mirrors = { one: ['mirror'] }
    rig = runDownloader({ base, origins })
  })
  afterEach(async () => {
    await rig.stop()
    removeBase(base)
  })

  /** Fails this many times, then answers. */
  const failing = (times: number, kind: Parameters<typeof failure>[0]) => {
    let left = times
    origins.resolve = async source => {
      origins.resolved.push(source)
      if (left-- > 0) throw failure(kind)
      return found
    }
  }

  it('asks the host itself, not its mirrors, and tells what it says', async () => {
    failing(0, 'passing')
    rig.peer.set('resolveConfig', 'q', question())
    await until(() => said()?.found !== null && said() !== undefined)
    expect(said()).toEqual({ counter: 1, found })
    expect(origins.resolved).toEqual([question().source])
  })

  it('asks again when the counter rises, and tells nothing old under the new count', async () => {
    failing(0, 'passing')
    rig.peer.set('resolveConfig', 'q', question())
    await until(() => said()?.found?.length === 1)
    rig.peer.set('resolveConfig', 'q', question(2))
    await until(() => said()?.counter === 2 && said()?.found?.length === 1)
    expect(rig.peer.history('resolveStatus', 'q')).toEqual([
      { counter: 1, found: null },
      { counter: 1, found },
      { counter: 2, found: null },
      { counter: 2, found },
    ])
  })

  it('tries again soon what passes, and later what does not', async () => {
    failing(1, 'passing')
    rig.peer.set('resolveConfig', 'q', question())
    await until(() => rig.clock.sleepers.includes(500))
    await rig.clock.step(500)
    await until(() => said()?.found?.length === 1)

    failing(1, 'denied')
    rig.peer.set('resolveConfig', 'q', question(2))
    await until(() => said()?.error !== undefined)
    expect(said()?.error).toMatchObject({ code: 'content.test-denied', severity: 'notice' })
    await rig.clock.step(60_000)
    await until(() => said()?.found?.length === 1)
    expect(said()).not.toHaveProperty('error')
  })

  it('tries at once with other credentials, and not at all while the link costs too much', async () => {
    failing(1, 'refused')
    rig.peer.set('resolveConfig', 'q', question())
    await until(() => said()?.error !== undefined)
    expect(said()?.error?.retryAt).toBeUndefined()
    rig.peer.set('downloadSettings', '', settingsOf({ datastores: [{ host: 'one' }], linkCost: 1 }))
    await rig.clock.step(86_400_000)
    expect(origins.resolved).toHaveLength(1)
    expect(said()?.error).toMatchObject({ code: 'content.link-too-costly' })
    rig.peer.set('downloadSettings', '', settingsOf({ datastores: [{ host: 'one' }] }))
    await until(() => said()?.found?.length === 1)
  })

  it('forgets what nobody asks any more, also in the middle', async () => {
    origins.resolve = (_, __, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    rig.peer.set('resolveConfig', 'q', question())
    await until(() => said() !== undefined)
    rig.peer.remove('resolveConfig', 'q')
    await until(() => said() === undefined)
  })
})
