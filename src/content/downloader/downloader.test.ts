import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Files, realFiles } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import type { DownloadStatus } from '../messages.ts'
import {
  answer,
  chunksOf,
  cutAfter,
  type FakeOrigins,
  fails,
  failure,
  fakeOrigins,
  serve,
  serveWhole,
  stopsAt,
  url,
} from './origins.fake.ts'
import { until } from './peer.fake.ts'
import { formatRecord, parseRecord } from './progress-record.ts'
import {
  configFor,
  hasError,
  isDownloaded,
  type Rig,
  type RigOptions,
  removeBase,
  runDownloader,
  settingsOf,
  temporaryBase,
} from './run-downloader.fake.ts'

let base: string
const rigs: Rig[] = []
const run = (origins: FakeOrigins, options: Partial<RigOptions> = {}): Rig => {
  const rig = runDownloader({ base, origins, ...options })
  rigs.push(rig)
  return rig
}

beforeEach(() => {
  base = temporaryBase()
})
afterEach(async () => {
  await Promise.all(rigs.splice(0).map(rig => rig.stop()))
  removeBase(base)
})

const MiB = 2 ** 20
const small = Buffer.from('the bytes of a small blob')
const large = randomBytes(3 * MiB)
const never = new Promise<void>(() => {})

/** Lets one after another who sleeps no longer than `most` sleep out, until the condition holds. */
async function sleepOut(rig: Rig, condition: () => boolean, most = 1000_000) {
  const shortest = () => rig.clock.sleepers[0] ?? Number.POSITIVE_INFINITY
  while (!condition()) {
    await until(() => condition() || shortest() <= most)
    if (!condition()) await rig.clock.step(Math.max(shortest(), 1))
  }
}
const digestOf = (path: string) => sha256Hex(readFileSync(path))
const recordOf = (target: string) => parseRecord(readFileSync(`${target}.progress`, 'utf8'))

describe('a download', () => {
  it('ends with the bytes in its target and says so', async () => {
    const rig = run(fakeOrigins({ '/a': [serve(large)] }))
    const config = configFor({ base, content: large })
    rig.want('a', config)
    expect(await rig.reach('a', isDownloaded)).toEqual({
      state: 'downloaded',
      currentSize: large.length,
      totalSize: large.length,
      attempt: 0,
      expired: false,
      retryCount: 0,
    })
    expect(digestOf(config.target)).toBe(sha256Hex(large))
    expect(rig.peer.completed).toEqual(new Set(['downloadStatus', 'resolveStatus']))
  })

  it('proposes a digest when the config has none', async () => {
    const rig = run(fakeOrigins({ '/a': [cutAfter(MiB, large), serve(large)] }))
    rig.want('url-1', configFor({ base, content: large, sha256: undefined, size: 0 }))
    await sleepOut(rig, () => rig.status('url-1')?.state === 'downloaded')
    expect(rig.status('url-1')).toMatchObject({ sha256: sha256Hex(large), totalSize: large.length })
  })

  it('tells the content type as the server said it, and it decides nothing', async () => {
    const origins = fakeOrigins({
      '/a': [() => answer(chunksOf(small), { total: small.length, contentType: 'text/html\n' })],
    })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: small }))
    expect((await rig.reach('a', isDownloaded)).contentType).toMatch(/^text\/html/)
  })

  it('takes a body of no bytes for what it is', async () => {
    const rig = run(fakeOrigins({ '/a': [serve(Buffer.alloc(0))] }))
    rig.want('a', configFor({ base }))
    expect(await rig.reach('a', isDownloaded)).toMatchObject({ currentSize: 0, totalSize: 0 })
  })

  it.each(['/etc/passwd', '../x', 'sub/x', '.x', 'x.progress'])(
    'refuses the target %j and builds no path',
    async name => {
      const origins = fakeOrigins({})
      const rig = run(origins)
      const target = name.startsWith('/') ? name : `${rig.pending}/${name}`
      rig.want('a', configFor({ base, target }))
      const status = await rig.reach('a', hasError)
      expect(status).toMatchObject({ state: 'initial', error: { code: 'content.target-invalid', severity: 'error' } })
      expect(status.error).not.toHaveProperty('retryAt')
      expect(origins.requests).toEqual([])
      rig.peer.remove('downloadConfig', 'a')
      await until(() => rig.status('a') === undefined)
      expect(existsSync('/etc/passwd')).toBe(true)
    },
  )

  it('writes no secret of a URL anywhere', async () => {
    const secret = 'canary-5ecret'
    const address = `http://user:${secret}@one/a?sig=${secret}#${secret}`
    const origins = fakeOrigins({ '/a': [cutAfter(MiB, large), () => answer(chunksOf(Buffer.alloc(4 * MiB)))] })
    const rig = run(origins)
    const config = configFor({ base, content: large, urls: [address] })
    rig.want('a', config)
    await sleepOut(rig, () => rig.status('a')?.error !== undefined)
    const written = readdirSync(rig.pending).map(name => readFileSync(join(rig.pending, name), 'latin1'))
    const told = JSON.stringify([rig.peer.history('downloadStatus', 'a'), rig.log, readdirSync(rig.pending), written])
    expect(told).toContain('http://one/a')
    expect(told).not.toContain(secret)
  })
})

describe('sizes', () => {
  it('aborts at once when more comes than was promised, and keeps none of it', async () => {
    const origins = fakeOrigins({ '/a': [() => answer(chunksOf(large), { total: null })] })
    const rig = run(origins)
    const config = configFor({ base, content: large, size: MiB })
    rig.want('a', config)
    const status = await rig.reach('a', hasError)
    expect(status.error).toMatchObject({ code: 'content.too-long', severity: 'notice' })
    expect(origins.bytes).toBeLessThanOrEqual(MiB + 64 * 1024)
    expect(readFileSync(config.target)).toHaveLength(0)
  })

  it('does not begin to read what says of itself that it is too long or too short', async () => {
    for (const [size, code] of [
      [MiB, 'content.too-long'],
      [4 * MiB, 'content.too-short'],
    ] as const) {
      const origins = fakeOrigins({ '/a': [serve(large)] })
      const rig = run(origins)
      rig.want('a', configFor({ base, content: large, size }))
      expect((await rig.reach('a', hasError)).error?.code).toBe(code)
      expect(origins.bytes).toBe(0)
      await rig.stop()
    }
  })

  it('holds to the limit when the size is not known', async () => {
    const rig = run(fakeOrigins({ '/a': [() => answer(chunksOf(large))] }))
    rig.want('a', configFor({ base, content: large, size: 0, limit: MiB }))
    expect((await rig.reach('a', hasError)).error?.code).toBe('content.no-space')
  })

  it('takes a body that ends early for cut off and goes on from there', async () => {
    const early = () => answer(chunksOf(large.subarray(0, MiB)), { total: null })
    const origins = fakeOrigins({ '/a': [early, serve(large)] })
    const rig = run(origins)
    const config = configFor({ base, content: large })
    rig.want('a', config)
    await sleepOut(rig, () => rig.status('a')?.state === 'downloaded')
    expect(origins.requests.map(({ from }) => from)).toEqual([0, MiB])
    expect(digestOf(config.target)).toBe(sha256Hex(large))
  })
})

describe('going on', () => {
  it('asks for a closed range after a cut, without a validator when a digest names the object', async () => {
    const origins = fakeOrigins({ '/a': [cutAfter(MiB, large), serve(large)] })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: large }))
    await sleepOut(rig, () => rig.status('a')?.state === 'downloaded')
    expect(origins.requests[1]).toMatchObject({ from: MiB, total: large.length, validator: undefined })
    expect(origins.bytes).toBe(large.length)
  })

  it('goes on with a validator when no digest names the object, and begins anew when that changed', async () => {
    const other = randomBytes(2 * MiB)
    const origins = fakeOrigins({ '/a': [cutAfter(MiB, large, '"1"'), serve(other, '"2"')] })
    const rig = run(origins)
    const config = configFor({ base, content: large, sha256: undefined, size: 0 })
    rig.want('url-1', config)
    await sleepOut(rig, () => rig.status('url-1')?.state === 'downloaded')
    expect(origins.requests[1]).toMatchObject({ from: MiB, validator: '"1"' })
    expect(rig.status('url-1')?.sha256).toBe(sha256Hex(other))
    expect(digestOf(config.target)).toBe(sha256Hex(other))
  })

  it('begins anew when there is neither digest nor validator', async () => {
    const origins = fakeOrigins({ '/a': [cutAfter(MiB, large, null), serve(large, null)] })
    const rig = run(origins)
    rig.want('url-1', configFor({ base, content: large, sha256: undefined, size: 0 }))
    await sleepOut(rig, () => rig.status('url-1')?.state === 'downloaded')
    expect(origins.requests.map(({ from }) => from)).toEqual([0, 0])
    expect(rig.status('url-1')?.sha256).toBe(sha256Hex(large))
  })

  it('passes over the prefix once when a server knows no ranges, and then begins anew', async () => {
    const cutWhole = () => answer(cutBody(large.subarray(0, 2 * MiB)), { total: large.length })
    const origins = fakeOrigins({ '/a': [cutAfter(MiB, large), cutWhole, serveWhole(large)] })
    const rig = run(origins)
    const config = configFor({ base, content: large })
    rig.want('a', config)
    await sleepOut(rig, () => rig.status('a')?.state === 'downloaded')
    expect(origins.requests.map(({ from }) => from)).toEqual([0, MiB, 2 * MiB])
    expect(digestOf(config.target)).toBe(sha256Hex(large))
    const sizes = rig.peer.history('downloadStatus', 'a').map(status => status!.currentSize)
    expect(sizes).toEqual([...sizes].sort((one, other) => one - other))
  })

  it('begins anew after a range that cannot be had', async () => {
    const origins = fakeOrigins({ '/a': [cutAfter(MiB, large), fails('range'), serve(large)] })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: large }))
    await sleepOut(rig, () => rig.status('a')?.state === 'downloaded')
    expect(origins.requests.map(({ from }) => from)).toEqual([0, MiB, 0])
  })

  it('is done without a request when all bytes are there already', async () => {
    const origins = fakeOrigins({})
    const config = configFor({ base, content: large })
    const rig = run(origins)
    await until(() => existsSync(rig.pending))
    writeFileSync(config.target, large)
    const record = { attempt: 0, offset: large.length, size: large.length, validator: null, complete: false }
    writeFileSync(`${config.target}.progress`, formatRecord(record))
    rig.want('a', config)
    await rig.reach('a', isDownloaded)
    expect(origins.requests).toEqual([])
  })
})

async function* cutBody(content: Buffer) {
  yield* chunksOf(content)
  throw failure('passing')
}

describe('trying again', () => {
  it('makes six tries, doubling from half a second, then waits a minute, doubling to the longest', async () => {
    const origins = fakeOrigins({ '/a': [fails('passing')] })
    const rig = run(origins, { settings: { retrySeconds: 150 } })
    rig.want('a', configFor({ base, content: small }))
    const inner = [500, 1000, 2000, 4000, 8000]
    const pauses = [...inner, 60_000, ...inner, 120_000, ...inner, 150_000, ...inner, 150_000]
    for (const [n, pause] of pauses.entries()) {
      await until(() => rig.clock.sleepers.includes(pause))
      expect(origins.requests).toHaveLength(n + 1)
      await rig.clock.step(pause - 1)
      expect(origins.requests).toHaveLength(n + 1)
      await rig.clock.step(1)
      await until(() => origins.requests.length === n + 2)
    }
  })

  it('counts inner tries anew when bytes came', async () => {
    const cuts = Array.from({ length: 10 }, () => cutAfter(64 * 1024, large))
    const origins = fakeOrigins({ '/a': [...cuts, serve(large)] })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: large }))
    await sleepOut(rig, () => rig.status('a')?.state === 'downloaded')
    expect(rig.status('a')?.retryCount).toBe(0)
    expect(origins.bytes).toBe(large.length)
  })

  it.each(['denied', 'missing'] as const)('asks a source that says %s at the outer pace only', async kind => {
    const origins = fakeOrigins({ '/a': [fails(kind)] })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: small }))
    const status = await rig.reach('a', hasError)
    expect(origins.requests).toHaveLength(1)
    expect(status.error).toMatchObject({ severity: 'notice', retryAt: '2026-01-01T00:01:00.000Z' })
    await rig.clock.step(59_999)
    expect(origins.requests).toHaveLength(1)
    await rig.clock.step(1)
    await until(() => origins.requests.length === 2)
  })

  it('waits for a change, not for time, after what will not change by itself', async () => {
    const origins = fakeOrigins({ '/a': [fails('refused')] })
    const rig = run(origins)
    const config = configFor({ base, content: small })
    rig.want('a', config)
    const { error } = await rig.reach('a', hasError)
    expect(error).toMatchObject({ severity: 'error' })
    expect(error).not.toHaveProperty('retryAt')
    await rig.clock.step(86_400_000)
    expect(origins.requests).toHaveLength(1)
    rig.want('a', { ...config, sources: [url('http://one/a?b')] })
    await until(() => origins.requests.length === 2)
  })

  it('tries at once with other credentials or sources, and not with another bandwidth', async () => {
    const origins = fakeOrigins({ '/a': [fails('denied'), fails('denied'), serve(small)], '/b': [fails('denied')] })
    const rig = run(origins)
    const config = configFor({ base, content: small })
    rig.want('a', { ...config, sources: [url('http://one/b')] })
    await rig.reach('a', hasError)
    rig.want('a', config)
    await rig.reach('a', ({ retryCount }) => retryCount === 2)
    rig.peer.set('downloadSettings', '', settingsOf({ bandwidth: 10 ** 9 }))
    await rig.clock.step(1)
    expect(origins.requests).toHaveLength(2)
    rig.peer.set('downloadSettings', '', settingsOf({ datastores: [{ host: 'one', username: 'me', password: 'x' }] }))
    await rig.reach('a', ({ retryCount }) => retryCount === 3)
    rig.peer.set('downloadSettings', '', settingsOf({ datastores: [{ host: 'one', username: 'me', password: 'y' }] }))
    await rig.reach('a', isDownloaded)
    expect(origins.configured.at(-1)).toEqual([[{ host: 'one', username: 'me', password: 'y' }], 60_000])
    expect(rig.clock.monotonicMs()).toBe(1)
  })

  it('uses other credentials at once also between two inner tries', async () => {
    const origins = fakeOrigins({ '/a': [fails('passing'), serve(small)] })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: small }))
    await until(() => rig.clock.sleepers.includes(500))
    rig.peer.set('downloadSettings', '', settingsOf({ datastores: [{ host: 'one' }] }))
    await rig.reach('a', isDownloaded)
    expect(rig.clock.monotonicMs()).toBe(0)
  })

  it('keeps the first error until it succeeds, and grows from notice to error', async () => {
    const origins = fakeOrigins({
      '/a': [fails('missing'), ...Array.from({ length: 21 }, () => fails('denied')), serve(small)],
    })
    const rig = run(origins, { settings: { retrySeconds: 60 } })
    rig.want('a', configFor({ base, content: small }))
    const seen: DownloadStatus[] = []
    for (let count = 1; count <= 22; count++) {
      seen.push(await rig.reach('a', ({ retryCount }) => retryCount === count))
      await rig.clock.step(60_000)
    }
    expect(seen.every(({ firstError }) => firstError?.code === 'content.test-missing')).toBe(true)
    expect(seen.every(({ error, firstError }) => error?.since === firstError?.since)).toBe(true)
    expect(seen.map(({ error }) => error!.severity)).toEqual([
      ...Array(10).fill('notice'),
      ...Array(10).fill('warning'),
      ...Array(2).fill('error'),
    ])
    await rig.reach('a', isDownloaded)
    expect(rig.status('a')).not.toHaveProperty('firstError')
    expect(rig.status('a')).not.toHaveProperty('error')
  })

  it('leaves a busy host alone for all downloads as long as it asked, at most an hour', async () => {
    const origins = fakeOrigins({
      '/a': [fails('busy', 7_200_000), serve(small)],
      '/b': [serve(small)],
      '/c': [serve(small)],
    })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: small }))
    expect((await rig.reach('a', hasError)).error?.retryAt).toBe('2026-01-01T01:00:00.000Z')
    rig.want('b', configFor({ base, content: small, urls: ['http://one/b'] }))
    rig.want('c', configFor({ base, content: small, urls: ['http://two/c'] }))
    await rig.reach('c', isDownloaded)
    expect((await rig.reach('b', hasError)).error).toMatchObject({
      code: 'content.host-busy',
      retryAt: '2026-01-01T01:00:00.000Z',
    })
    await rig.clock.step(3_599_999)
    expect(origins.requests).toHaveLength(2)
    await rig.clock.step(1)
    await rig.reach('a', isDownloaded)
    await rig.reach('b', isDownloaded)
  })

  it('never takes a failure that nobody foresaw for the end of the process', async () => {
    const origins = fakeOrigins({
      '/a': [
        () => {
          throw new TypeError('x is not a function, token=abcdef')
        },
      ],
    })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: small }))
    await sleepOut(rig, () => rig.status('a')?.error !== undefined)
    expect(rig.status('a')?.error).toMatchObject({ code: 'content.fetch-failed' })
    expect(rig.status('a')?.error?.text).not.toContain('abcdef')
  })
})

describe('sources', () => {
  it('are tried in order, mirrors before their host, with the errors of all told', async () => {
    const origins = fakeOrigins({ '/a': [fails('missing'), fails('denied'), fails('missing')] })
    origins.mirrors = { one: ['mirror'] }
    const rig = run(origins)
    rig.want('a', configFor({ base, content: small, urls: ['http://one/a', 'http://two/a'] }))
    const { error } = await rig.reach('a', hasError)
    expect(origins.requests.map(({ source }) => source)).toEqual(
      ['mirror', 'one', 'two'].map(host => url(`http://${host}/a`)),
    )
    expect(error).toMatchObject({ code: 'content.test-missing', text: 'the test says missing; the test says denied' })
  })

  it('give the rest of a blob that another began', async () => {
    const origins = fakeOrigins({ '/a': [cutAfter(MiB, large)], '/b': [serve(large)] })
    const rig = run(origins)
    const config = configFor({ base, content: large, urls: ['http://one/a', 'http://two/b'] })
    rig.want('a', config)
    await rig.reach('a', isDownloaded)
    expect(origins.requests.map(({ from }) => from)).toEqual([0, MiB])
    expect(digestOf(config.target)).toBe(sha256Hex(large))
  })

  it('that gave wrong bytes come last in the next attempt, which begins from nothing', async () => {
    const origins = fakeOrigins({ '/a': [serve(Buffer.alloc(large.length))], '/b': [serve(large)] })
    const rig = run(origins)
    const config = configFor({ base, content: large, urls: ['http://one/a', 'http://two/b'] })
    rig.want('a', config)
    await rig.reach('a', isDownloaded)
    rig.want('a', { ...config, attempt: 1 })
    await rig.reach('a', status => isDownloaded(status) && status.attempt === 1)
    expect(origins.requests.map(({ from, source }) => [from, source])).toEqual([
      [0, url('http://one/a')],
      [0, url('http://two/b')],
    ])
    expect(digestOf(config.target)).toBe(sha256Hex(large))
    const attempt = rig.peer.history('downloadStatus', 'a').filter(status => status?.attempt === 1)
    expect(attempt[0]).toMatchObject({ state: 'initial', currentSize: 0 })
  })
})

describe('caps', () => {
  it('hold: four at once, three at one host, and all come to their end', async () => {
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins)
    const keys = Array.from({ length: 12 }, (_, n) => `${n}`)
    let most = 0
    for (const key of keys) {
      const host = Number(key) % 3 === 0 ? 'two' : 'one'
      rig.want(key, configFor({ base, content: large, urls: [`http://${host}/a?${key}`] }))
    }
    await until(() => {
      most = Math.max(
        most,
        [...origins.openNow.values()].reduce((sum, open) => sum + open, 0),
      )
      return keys.every(key => rig.status(key)?.state === 'downloaded')
    })
    expect(origins.mostOpen).toEqual(
      new Map([
        ['one', 3],
        ['two', expect.any(Number)],
      ]),
    )
    expect(most).toBe(4)
  })

  it('hold for a download that goes to another host in the middle', async () => {
    const origins = fakeOrigins({ '/a': [fails('missing')], '/b': [serve(large)] })
    const rig = run(origins, { settings: { perHost: 1 } })
    const keys = ['1', '2', '3', '4']
    for (const key of keys)
      rig.want(key, configFor({ base, content: large, urls: [`http://h${key}/a`, `http://two/b?${key}`] }))
    await until(() => keys.every(key => rig.status(key)?.state === 'downloaded'))
    expect(origins.mostOpen.get('two')).toBe(1)
  })

  it('keep all downloads together at the bandwidth', async () => {
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins, { settings: { bandwidth: MiB } })
    const keys = ['1', '2']
    for (const key of keys) rig.want(key, configFor({ base, content: large, urls: [`http://one/a?${key}`] }))
    await sleepOut(rig, () => keys.every(key => rig.status(key)?.state === 'downloaded'), 1000)
    expect(rig.clock.monotonicMs()).toBeGreaterThan(5500)
    expect(rig.clock.monotonicMs()).toBeLessThan(12_000)
  })

  it('make a download wait, with a notice, while the link costs too much; what came is kept', async () => {
    const origins = fakeOrigins({ '/a': [stopsAt(MiB, large, never), serve(large)] })
    const rig = run(origins)
    rig.want('a', configFor({ base, content: large }))
    await until(() => origins.bytes === MiB)
    rig.peer.set('downloadSettings', '', settingsOf({ linkCost: 5, maxCost: 1 }))
    const { error, state } = await rig.reach('a', hasError)
    expect(error).toMatchObject({ code: 'content.link-too-costly', severity: 'notice' })
    expect(state).toBe('downloading')
    rig.peer.set('downloadSettings', '', settingsOf({ linkCost: 5, maxCost: 5 }))
    await rig.reach('a', isDownloaded)
    expect(origins.requests.map(({ from }) => from)).toEqual([0, MiB])
    expect(rig.status('a')).not.toHaveProperty('error')
  })
})

describe('progress', () => {
  it('is told at most four times a second and never goes back within an attempt', async () => {
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins, { settings: { bandwidth: MiB } })
    rig.want('a', configFor({ base, content: large }))
    await sleepOut(rig, () => rig.status('a')?.state === 'downloaded', 1000)
    const told = rig.peer.history('downloadStatus', 'a').filter(status => status?.state === 'downloading')
    expect(told.length).toBeGreaterThan(5)
    expect(told.length).toBeLessThanOrEqual(Math.ceil((rig.clock.monotonicMs() / 1000) * 4) + 2)
  })
})

describe('the disk', () => {
  /** Its target is a file to which nothing can be written, for the first `times` opens. */
  const fullFor = (times: number): Files => {
    let left = times
    return {
      ...realFiles,
      open(path, flags, mode) {
        if (!path.includes('/content/pending/') || left-- <= 0) return realFiles.open(path, flags, mode)
        closeSync(realFiles.open(path, flags, mode))
        return openSync('/dev/full', 'r+')
      },
    }
  }

  it('when full keeps the downloader alive, says so, and the download is tried by time and when told anew', async () => {
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins, { files: fullFor(2) })
    const config = configFor({ base, content: large })
    rig.want('a', config)
    const { error } = await rig.reach('a', hasError)
    expect(error).toMatchObject({ code: 'content.no-space', retryAt: '2026-01-01T00:01:00.000Z' })
    await rig.clock.step(60_000)
    await rig.reach('a', ({ retryCount }) => retryCount === 2)
    rig.want('a', { ...config, refs: 2 })
    await rig.reach('a', isDownloaded)
    expect(digestOf(config.target)).toBe(sha256Hex(large))
  })

  it('that cannot be synced is told, and what was safe before is gone on with', async () => {
    const blob = randomBytes(20 * MiB)
    let syncs = 0
    const durability = {
      async sync() {
        if (++syncs === 3) throw new Error('EIO: input/output error')
      },
    }
    const origins = fakeOrigins({ '/a': [serve(blob)] })
    const rig = run(origins, { durability })
    const config = configFor({ base, content: blob })
    rig.want('a', config)
    expect((await rig.reach('a', hasError)).error?.code).toBe('content.write-failed')
    await rig.clock.step(60_000)
    await rig.reach('a', isDownloaded)
    expect(origins.requests[1]!.from).toBeGreaterThan(0)
    expect(digestOf(config.target)).toBe(sha256Hex(blob))
  })

  it('syncs nothing of a blob that fits into what may be lost', async () => {
    const rig = run(fakeOrigins({ '/a': [serve(large)] }))
    rig.want('a', configFor({ base, content: large }))
    await rig.reach('a', isDownloaded)
    expect(rig.synced).toEqual([])
  })

  it('is never written through a link that lies in the place of the target', async () => {
    const rig = run(fakeOrigins({ '/a': [serve(small)] }))
    const config = configFor({ base, content: small })
    const victim = join(base, 'victim')
    writeFileSync(victim, 'untouched')
    symlinkSync(victim, config.target)
    rig.want('a', config)
    await rig.reach('a', isDownloaded)
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    expect(digestOf(config.target)).toBe(sha256Hex(small))
  })
})

describe('a restart', () => {
  const stopInTheMiddle = async (config: ReturnType<typeof configFor>) => {
    const origins = fakeOrigins({ '/a': [stopsAt(MiB, large, never)] })
    const rig = run(origins)
    rig.want('a', config)
    await until(() => origins.bytes === MiB)
    await rig.stop()
    rigs.pop()
  }

  it('goes on where a stopped downloader ended', async () => {
    const config = configFor({ base, content: large })
    await stopInTheMiddle(config)
    expect(recordOf(config.target)).toMatchObject({ offset: MiB, size: large.length, complete: false })
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins, { configs: { a: config } })
    await rig.reach('a', isDownloaded)
    expect(origins.requests.map(({ from }) => from)).toEqual([MiB])
    expect(digestOf(config.target)).toBe(sha256Hex(large))
  })

  it('goes on with a validator and the digest of all of it when the config has none', async () => {
    const config = configFor({ base, content: large, sha256: undefined, size: 0 })
    await stopInTheMiddle(config)
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins, { configs: { a: config } })
    expect((await rig.reach('a', isDownloaded)).sha256).toBe(sha256Hex(large))
    expect(origins.requests[0]).toMatchObject({ from: MiB, validator: '"1"' })
  })

  it('says again what is downloaded, without a request, also when nothing may start', async () => {
    for (const sha256 of [configFor({ base, content: large }).sha256, undefined]) {
      const config = configFor({ base, content: large, sha256 })
      const first = run(fakeOrigins({ '/a': [serve(large)] }))
      first.want('a', config)
      const before = await first.reach('a', isDownloaded)
      await first.stop()
      const origins = fakeOrigins({})
      const rig = run(origins, { configs: { a: config }, settings: { linkCost: 9 } })
      expect(await rig.reach('a', isDownloaded)).toEqual(before)
      expect(origins.requests).toEqual([])
      rig.peer.remove('downloadConfig', 'a')
      await until(() => !existsSync(config.target))
    }
  })

  it.each<[string, (target: string) => void]>([
    ['the record is torn', target => truncateSync(`${target}.progress`, 20)],
    [
      'the record was edited',
      target => {
        const path = `${target}.progress`
        writeFileSync(path, readFileSync(path, 'utf8').replace(`"offset":${MiB}`, '"offset":12345'))
      },
    ],
    ['the file is shorter than recorded', target => truncateSync(target, 1000)],
  ])('begins anew when %s', async (_, harm) => {
    const config = configFor({ base, content: large })
    await stopInTheMiddle(config)
    harm(config.target)
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins, { configs: { a: config } })
    await rig.reach('a', isDownloaded)
    expect(origins.requests.map(({ from }) => from)).toEqual([0])
    expect(digestOf(config.target)).toBe(sha256Hex(large))
  })

  it('does not go on with bytes of an earlier attempt', async () => {
    const config = configFor({ base, content: large })
    await stopInTheMiddle(config)
    const origins = fakeOrigins({ '/a': [serve(large)] })
    const rig = run(origins, { configs: { a: { ...config, attempt: 1 } } })
    await rig.reach('a', isDownloaded)
    expect(origins.requests.map(({ from }) => from)).toEqual([0])
  })

  it('drops what is half-made at once and orphans when all configs are known; what is not ours stays', async () => {
    const config = configFor({ base, content: large })
    await stopInTheMiddle(config)
    const orphan = `${'0'.repeat(64)}.${'1'.repeat(64)}`
    const pending = join(base, 'content/pending')
    for (const name of [orphan, `${orphan}.progress`, `.${orphan}.progress.tmp-0a1b2c`, 'notes.txt'])
      writeFileSync(join(pending, name), 'x')
    const rig = run(fakeOrigins({ '/a': [stopsAt(0, large, never)] }), { incomplete: true })
    rig.want('a', config)
    await until(() => rig.status('a') !== undefined)
    const kept = [config.target, `${config.target}.progress`].map(path => path.slice(pending.length + 1))
    expect(readdirSync(pending).sort()).toEqual([...kept, orphan, `${orphan}.progress`, 'notes.txt'].sort())
    rig.peer.setComplete('downloadConfig')
    expect(readdirSync(pending).sort()).toEqual([...kept, 'notes.txt'].sort())
    writeFileSync(join(pending, orphan), 'x')
    await rig.clock.step(300_000)
    expect(readdirSync(pending).sort()).toEqual([...kept, 'notes.txt'].sort())
    expect(rig.log.filter(line => line.includes('notes.txt'))).toHaveLength(1)
  })
})
