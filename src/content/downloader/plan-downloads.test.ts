import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DownloadConfig } from '../messages.ts'
import { type DownloadEntry, type DownloadsView, planDownloads, type RunningJob } from './plan-downloads.ts'

const runs = { ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }) }

const config = (change: Partial<DownloadConfig> = {}): DownloadConfig => ({
  name: 'a test',
  as: 'blob',
  sources: [{ kind: 'url', url: 'http://one/a' }],
  target: '/pending/a',
  size: 0,
  limit: 100,
  refs: 1,
  attempt: 0,
  ...change,
})
const entry = (change: Partial<DownloadEntry> = {}): DownloadEntry => ({
  config: config(),
  is: 'open',
  expired: false,
  held: null,
  job: null,
  wait: null,
  ...change,
})
const job = (change: Partial<RunningJob> = {}): RunningJob => ({
  host: 'one',
  isPausing: false,
  credentials: 1,
  isCancelled: false,
  ...change,
})
const plan = (change: Partial<DownloadsView>) =>
  planDownloads({
    pending: '/pending',
    configs: new Map(),
    complete: true,
    entries: new Map(),
    settings: { atOnce: 4, perHost: 3, linkCost: 0, maxCost: 0 },
    credentials: 1,
    hostsOf: ({ sources }) => sources.map(source => (source.kind === 'url' ? new URL(source.url).host : null)),
    heldUntil: () => 0,
    now: 1000,
    ...change,
  })
const planOne = (wanted: DownloadConfig | null, known: DownloadEntry | null, change: Partial<DownloadsView> = {}) =>
  plan({
    configs: new Map(wanted ? [['a', wanted]] : []),
    entries: new Map(known ? [['a', known]] : []),
    ...change,
  })

const local = { sources: [{ kind: 'file' as const, path: '/x' }] }
const tooCostly = { why: 'link too costly', until: null } as const
const costly = { settings: { atOnce: 4, perHost: 3, linkCost: 2, maxCost: 1 } }

describe('what is done next', () => {
  it.each<[string, DownloadConfig | null, DownloadEntry | null, Partial<DownloadsView>, object[]]>([
    ['a config is new', config(), null, {}, [{ do: 'take', key: 'a', why: 'new' }]],
    ['it is open and there is room', config(), entry(), {}, [{ do: 'start', key: 'a', host: 'one' }]],
    ['all of it is there', config(), entry({ is: 'done' }), {}, []],
    ['it runs', config(), entry({ job: job() }), {}, []],
    [
      'refs fall to 0 while it runs',
      config({ refs: 0 }),
      entry({ job: job() }),
      {},
      [{ do: 'cancel', key: 'a', why: 'let go' }],
    ],
    ['it is being cancelled', config({ refs: 0 }), entry({ job: job({ isCancelled: true }) }), {}, []],
    [
      'refs are 0 and nothing runs',
      config({ refs: 0 }),
      entry({ config: config({ refs: 0 }) }),
      {},
      [{ do: 'expire', key: 'a' }],
    ],
    ['it is expired', config({ refs: 0 }), entry({ config: config({ refs: 0 }), expired: true }), {}, []],
    [
      'it is expired and wanted again',
      config(),
      entry({ config: config({ refs: 0 }), expired: true }),
      {},
      [{ do: 'take', key: 'a', why: 'wanted again' }],
    ],
    ['the config is gone', null, entry(), {}, [{ do: 'forget', key: 'a' }]],
    [
      'the config is gone while it runs',
      null,
      entry({ job: job() }),
      {},
      [{ do: 'cancel', key: 'a', why: 'config gone' }],
    ],
    ['the config is not there yet', null, entry(), { complete: false }, []],
    ['the config is not there yet and it runs', null, entry({ job: job() }), { complete: false }, []],
    [
      'the attempt is raised',
      config({ attempt: 1 }),
      entry({ is: 'done' }),
      {},
      [{ do: 'take', key: 'a', why: 'new attempt' }],
    ],
    [
      'the attempt is raised while it runs',
      config({ attempt: 1 }),
      entry({ job: job() }),
      {},
      [{ do: 'cancel', key: 'a', why: 'new attempt' }],
    ],
    [
      'a manager that began anew counts attempts from 0',
      config(),
      entry({ is: 'done', config: config({ attempt: 3 }) }),
      {},
      [{ do: 'take', key: 'a', why: 'changed' }],
    ],
    [
      'the sources change while it runs',
      config(local),
      entry({ job: job() }),
      {},
      [{ do: 'cancel', key: 'a', why: 'changed' }],
    ],
    [
      'there are more sources while it runs',
      config({ refs: 2, sources: [...local.sources, ...config().sources] }),
      entry({ job: job() }),
      {},
      [{ do: 'note', key: 'a' }],
    ],
    [
      'there are more sources while it pauses',
      config({ sources: [...local.sources, ...config().sources] }),
      entry({ job: job({ isPausing: true }) }),
      {},
      [{ do: 'cancel', key: 'a', why: 'changed' }],
    ],
    ['only refs rise while it runs', config({ refs: 2 }), entry({ job: job() }), {}, [{ do: 'note', key: 'a' }]],
    [
      'the target changes',
      config({ target: '/pending/b' }),
      entry(),
      {},
      [{ do: 'take', key: 'a', why: 'other target' }],
    ],
    ['it waits after a failure', config(), entry({ wait: { until: 2000, credentials: 1 } }), {}, []],
    [
      'its wait is over',
      config(),
      entry({ wait: { until: 1000, credentials: 1 } }),
      {},
      [{ do: 'start', key: 'a', host: 'one' }],
    ],
    ['it waits for a change', config(), entry({ wait: { until: null, credentials: 1 } }), {}, []],
    [
      'the credentials changed since it failed',
      config(),
      entry({ wait: { until: null, credentials: 0 } }),
      {},
      [{ do: 'start', key: 'a', host: 'one' }],
    ],
    [
      'the sources change while it waits',
      config(local),
      entry({ wait: { until: 2000, credentials: 1 } }),
      {},
      [{ do: 'take', key: 'a', why: 'changed' }],
    ],
    [
      'the credentials change between two tries',
      config(),
      entry({ job: job({ isPausing: true, credentials: 0 }) }),
      {},
      [{ do: 'cancel', key: 'a', why: 'new credentials' }],
    ],
    ['the credentials change while bytes come', config(), entry({ job: job({ credentials: 0 }) }), {}, []],
    [
      'the link becomes too costly',
      config(),
      entry({ job: job() }),
      costly,
      [{ do: 'cancel', key: 'a', why: 'link too costly' }],
    ],
    ['the link is too costly', config(), entry(), costly, [{ do: 'hold', key: 'a', hold: tooCostly }]],
    ['that was told already', config(), entry({ held: tooCostly }), costly, []],
    [
      'the link is cheap again',
      config(),
      entry({ held: tooCostly }),
      {},
      [
        { do: 'release', key: 'a' },
        { do: 'start', key: 'a', host: 'one' },
      ],
    ],
    [
      'the link is too costly, but the file is on this machine',
      config(local),
      entry({ config: config(local) }),
      costly,
      [{ do: 'start', key: 'a', host: null }],
    ],
    [
      'its only host asked for a pause',
      config(),
      entry(),
      { heldUntil: () => 3000 },
      [{ do: 'hold', key: 'a', hold: { why: 'hosts asked to wait', until: 3000 } }],
    ],
    [
      'that was told already, too',
      config(),
      entry({ held: { why: 'hosts asked to wait', until: 3000 } }),
      { heldUntil: () => 3000 },
      [],
    ],
  ])('when %s', (_, wanted, known, change, actions) => {
    expect(planOne(wanted, known, change).actions).toEqual(actions)
  })

  it.each([
    '/elsewhere/a',
    '/pending',
    '/pending/',
    '/pending/../a',
    '/pending/b/a',
    '/pending/.a',
    '/pending/a.progress',
    '/pending/a\0',
    '/pendinga',
    `/pending/${'a'.repeat(300)}`,
  ])('refuses the target %j', target => {
    expect(planOne(config({ target }), null).actions).toEqual([
      { do: 'refuse', key: 'a', why: 'target is not in pending' },
    ])
  })

  it('refuses the second of two that name one target, and takes it when the first is gone', () => {
    const configs = new Map([
      ['a', config()],
      ['b', config()],
    ])
    expect(plan({ configs }).actions).toEqual([
      { do: 'take', key: 'a', why: 'new' },
      { do: 'refuse', key: 'b', why: 'target is taken' },
    ])
    configs.delete('a')
    expect(plan({ configs, entries: new Map([['b', entry({ is: 'refused' })]]) }).actions).toEqual([
      { do: 'take', key: 'b', why: 'changed' },
    ])
  })

  it('says when to look again: at the end of the shortest wait or pause', () => {
    const waiting = entry({ wait: { until: 5000, credentials: 1 } })
    expect(planOne(config(), waiting).askAgainAt).toBe(5000)
    expect(planOne(config(), entry(), { heldUntil: () => 3000 }).askAgainAt).toBe(3000)
    expect(planOne(config(), entry({ wait: { until: null, credentials: 1 } })).askAgainAt).toBeNull()
  })

  it('goes to a mirror when the first host asked for a pause', () => {
    const two = config({ sources: ['one', 'two'].map(host => ({ kind: 'url' as const, url: `http://${host}/a` })) })
    const view = { heldUntil: (host: string | null) => (host === 'one' ? 3000 : 0) }
    expect(planOne(two, entry({ config: two }), view).actions).toEqual([{ do: 'start', key: 'a', host: 'two' }])
  })
})

describe('caps', () => {
  const host = fc.constantFrom('one', 'two', null)
  const some = fc.array(fc.record({ host, runs: fc.boolean(), cancelled: fc.boolean() }), { maxLength: 30 })

  it('hold for any mix of running and waiting downloads, and no place stays free that could be used', () => {
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), (all, atOnce, perHost) => {
        const configs = new Map(
          all.map(({ host }, n) => [
            `${n}`,
            config({
              target: `/pending/${n}`,
              sources: [host === null ? { kind: 'file', path: '/x' } : { kind: 'url', url: `http://${host}/${n}` }],
            }),
          ]),
        )
        // No more run than the caps allow, as it would be by the rule itself.
        const running: (string | null)[] = []
        const hasRoom = (at: string | null) =>
          running.length < atOnce && (at === null || running.filter(one => one === at).length < perHost)
        const entries = new Map(
          all.map(({ host, runs, cancelled }, n) => {
            const isRunning = runs && hasRoom(host)
            if (isRunning) running.push(host)
            return [
              `${n}`,
              entry({
                config: configs.get(`${n}`)!,
                job: isRunning ? job({ host, isCancelled: cancelled }) : null,
              }),
            ]
          }),
        )
        const { actions } = plan({ configs, entries, settings: { atOnce, perHost, linkCost: 0, maxCost: 0 } })
        const started = actions.flatMap(action => (action.do === 'start' ? [action] : []))
        for (const { host } of started) {
          expect(hasRoom(host)).toBe(true)
          running.push(host)
        }
        const left = all.filter(
          (_, n) => entries.get(`${n}`)!.job === null && !started.some(({ key }) => key === `${n}`),
        )
        for (const { host } of left) expect(hasRoom(host)).toBe(false)
      }),
      runs,
    )
  })
})
