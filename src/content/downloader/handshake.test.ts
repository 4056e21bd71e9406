import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../lib/json.ts'
import type { DownloadConfig } from '../messages.ts'
import { type FakeOrigins, fails, fakeOrigins, serve, stopsAt } from './origins.fake.ts'
import { until } from './peer.fake.ts'
import { configFor, isDownloaded, type Rig, removeBase, runDownloader, temporaryBase } from './run-downloader.fake.ts'

const MiB = 2 ** 20
const content = randomBytes(2 * MiB)
const never = new Promise<void>(() => {})

let base: string
let rig: Rig
let origins: FakeOrigins
let config: DownloadConfig
const start = (scripts: Parameters<typeof fakeOrigins>[0]) => {
  origins = fakeOrigins(scripts)
  rig = runDownloader({ base, origins })
  config = configFor({ base, content })
  rig.want('a', config)
}
const letGo = () => rig.want('a', { ...config, refs: 0 })
const isExpired = ({ expired }: { expired: boolean }) => expired
const filesOfA = () => [config.target, `${config.target}.progress`].map(existsSync)

beforeEach(() => {
  base = temporaryBase()
})
afterEach(async () => {
  await rig.stop()
  removeBase(base)
})

describe('letting go of a download', () => {
  it('cancels, says expired, keeps the file until the config goes, and then removes all of it', async () => {
    start({ '/a': [stopsAt(MiB, content, never)] })
    await until(() => origins.bytes === MiB)
    letGo()
    await rig.reach('a', isExpired)
    expect(origins.openNow.get('one')).toBe(0)
    expect(filesOfA()).toEqual([true, true])
    rig.peer.remove('downloadConfig', 'a')
    await until(() => rig.status('a') === undefined)
    expect(filesOfA()).toEqual([false, false])
    expect(rig.peer.history('downloadStatus', 'a').at(-1)).toBeUndefined()
  })

  it('says expired of one that is downloaded, waits, or never began', async () => {
    start({ '/a': [serve(content)], '/b': [fails('missing')], '/c': [] })
    await rig.reach('a', isDownloaded)
    const waits = configFor({ base, content, urls: ['http://one/b'] })
    rig.want('b', waits)
    await rig.reach('b', ({ error }) => error !== undefined)
    rig.want('c', configFor({ base, content, urls: ['http://one/c'], refs: 0 }))
    rig.want('b', { ...waits, refs: 0 })
    letGo()
    for (const key of ['a', 'b', 'c']) await rig.reach(key, isExpired)
    expect(origins.requests).toHaveLength(2)
  })

  it('removes a download whose config goes without a word', async () => {
    start({ '/a': [stopsAt(MiB, content, never)] })
    await until(() => origins.bytes === MiB)
    rig.peer.remove('downloadConfig', 'a')
    await until(() => rig.status('a') === undefined)
    expect(filesOfA()).toEqual([false, false])
  })
})

describe('wanting it again', () => {
  it.each<[string, () => Promise<void> | void]>([
    ['before the cancelled job has ended', () => {}],
    ['after it is expired', () => rig.reach('a', isExpired).then(() => {})],
  ])('%s goes on where it was', async (_, step) => {
    start({ '/a': [stopsAt(MiB, content, never), serve(content)] })
    await until(() => origins.bytes === MiB)
    letGo()
    await Promise.resolve()
    await step()
    rig.want('a', config)
    expect(await rig.reach('a', isDownloaded)).toMatchObject({ expired: false, currentSize: content.length })
    expect(origins.requests.map(({ from }) => from)).toEqual([0, MiB])
    expect(sha256Hex(readFileSync(config.target))).toBe(config.sha256)
  })

  it('after it was downloaded costs no request', async () => {
    start({ '/a': [serve(content)] })
    await rig.reach('a', isDownloaded)
    letGo()
    await rig.reach('a', isExpired)
    rig.want('a', config)
    expect(await rig.reach('a', status => !status.expired)).toMatchObject({ state: 'downloaded' })
    expect(origins.requests).toHaveLength(1)
  })

  it('after the file went downloads it anew', async () => {
    start({ '/a': [serve(content)] })
    await rig.reach('a', isDownloaded)
    letGo()
    await rig.reach('a', isExpired)
    rmSync(config.target)
    rig.want('a', config)
    await rig.reach('a', status => !status.expired && isDownloaded(status))
    expect(origins.requests.map(({ from }) => from)).toEqual([0, 0])
    expect(sha256Hex(readFileSync(config.target))).toBe(config.sha256)
  })

  it('after the config went begins anew', async () => {
    start({ '/a': [serve(content)] })
    await rig.reach('a', isDownloaded)
    letGo()
    await rig.reach('a', isExpired)
    rig.peer.remove('downloadConfig', 'a')
    rig.want('a', config)
    await rig.reach('a', status => !status.expired && isDownloaded(status))
    expect(sha256Hex(readFileSync(config.target))).toBe(config.sha256)
    rig.peer.remove('downloadConfig', 'a')
    await until(() => rig.status('a') === undefined)
    rig.want('a', config)
    await rig.reach('a', isDownloaded)
    expect(sha256Hex(readFileSync(config.target))).toBe(config.sha256)
  })

  it('with a higher attempt, while it runs, leaves nothing of the earlier one', async () => {
    const wrong = Buffer.alloc(content.length)
    start({ '/a': [stopsAt(MiB, wrong, never), serve(content)] })
    await until(() => origins.bytes === MiB)
    rig.want('a', { ...config, attempt: 1 })
    await rig.reach('a', isDownloaded)
    expect(origins.requests.map(({ from }) => from)).toEqual([0, 0])
    expect(sha256Hex(readFileSync(config.target))).toBe(config.sha256)
  })

  it('with another target takes the file there and removes the other one', async () => {
    start({ '/a': [stopsAt(MiB, content, never), serve(content)] })
    await until(() => origins.bytes === MiB)
    const other = { ...config, target: `${config.target}-2` }
    rig.want('a', other)
    await rig.reach('a', isDownloaded)
    expect(filesOfA()).toEqual([false, false])
    expect(sha256Hex(readFileSync(other.target))).toBe(config.sha256)
  })
})
