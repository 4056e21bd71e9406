// A downloader in this process, on a directory of its own, with everything around it in the hands of the test.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import { contentLayoutOf } from '../layout.ts'
import type { DownloadConfig, DownloadSettings, DownloadStatus, Sha256 } from '../messages.ts'
import type { Durability } from '../process/context.ts'
import { startDownloader } from './downloader.ts'
import { type FakeOrigins, url } from './origins.fake.ts'
import { type FakePeer, fakePeer, until } from './peer.fake.ts'
import { type SteppedClock, steppedClock } from './stepped-clock.fake.ts'

export interface Rig<C extends Clock = SteppedClock> {
  readonly peer: FakePeer
  readonly clock: C
  readonly pending: string
  readonly log: string[]
  /** What was synced, as `name` or `name+name`. */
  readonly synced: string[]
  want(key: string, config: DownloadConfig): void
  status(key: string): DownloadStatus | undefined
  reach(key: string, condition: (status: DownloadStatus) => boolean): Promise<DownloadStatus>
  stop(): Promise<void>
}

export interface RigOptions {
  readonly base: string
  readonly origins: FakeOrigins
  readonly files?: Files
  readonly durability?: Durability
  readonly settings?: Partial<DownloadSettings>
  readonly random?: () => number
  /** Wanted before it starts. */
  readonly configs?: Readonly<Record<string, DownloadConfig>>
  /** Not yet: the test says when. */
  readonly incomplete?: boolean
}

export const settingsOf = (settings: Partial<DownloadSettings> = {}): DownloadSettings => ({
  datastores: [],
  atOnce: 4,
  perHost: 3,
  linkCost: 0,
  maxCost: 0,
  stallSeconds: 60,
  retrySeconds: 600,
  ...settings,
})

export function runDownloader(options: RigOptions): Rig {
  const { base, origins, settings, incomplete } = options
  const peer = fakePeer()
  const clock = steppedClock()
  const layout = contentLayoutOf({ base, run: join(base, 'run') })
  mkdirSync(layout.pending, { recursive: true })
  const log: string[] = []
  const synced: string[] = []
  const durability: Durability = options.durability ?? {
    sync: async (_, names) => void synced.push(names.join('+')),
  }
  const end = new AbortController()
  peer.set('downloadSettings', '', settingsOf(settings))
  for (const [key, config] of Object.entries(options.configs ?? {})) peer.set('downloadConfig', key, config)
  if (!incomplete) for (const topic of ['downloadConfig', 'resolveConfig'] as const) peer.setComplete(topic)
  const ended = startDownloader(
    {
      peer,
      layout,
      files: options.files ?? realFiles,
      durability,
      clock,
      random: options.random ?? (() => 1),
      log: line => void log.push(line),
      signal: end.signal,
    },
    origins,
  )
  const status = (key: string) => peer.said('downloadStatus', key)
  return {
    peer,
    clock,
    pending: layout.pending,
    log,
    synced,
    want: (key, config) => peer.set('downloadConfig', key, config),
    status,
    async reach(key, condition) {
      await until(
        () => {
          const now = status(key)
          return now !== undefined && condition(now)
        },
        () => `${key}, which is ${JSON.stringify(status(key))}`,
      )
      return status(key)!
    },
    async stop() {
      end.abort()
      await ended
    },
  }
}

export const isDownloaded = ({ state }: DownloadStatus) => state === 'downloaded'
export const hasError = ({ error }: DownloadStatus) => error !== undefined

export interface Wanted extends Partial<DownloadConfig> {
  readonly base: string
  readonly content?: Buffer
  readonly urls?: readonly string[]
}

/** By default with a digest and a size; `sha256: undefined` leaves it out. */
export function configFor({
  base,
  content = Buffer.alloc(0),
  urls = ['http://one/a'],
  ...rest
}: Wanted): DownloadConfig {
  const sha256 = sha256Hex(content) as Sha256
  const config: DownloadConfig = {
    name: 'a test',
    sha256,
    as: 'blob',
    sources: urls.map(url),
    target: join(base, 'content/pending', `${sha256Hex(urls.join())}.${sha256}`),
    size: content.length,
    limit: 2 ** 40,
    refs: 1,
    attempt: 0,
    ...rest,
  }
  if ('sha256' in rest && rest.sha256 === undefined) delete config.sha256
  return config
}

export const temporaryBase = () => mkdtempSync(join(tmpdir(), 'cairn-downloader-'))
export const removeBase = (base: string) => rmSync(base, { recursive: true, force: true })

/** Of a disk that is slow and loses power: the files as they were when they were last synced, in a directory beside. */
export function shadowOf(directory: string): Durability & { readonly directory: string } {
  const shadow = mkdtempSync(join(tmpdir(), 'cairn-shadow-'))
  mkdirSync(join(shadow, 'content/pending'), { recursive: true })
  return {
    directory: shadow,
    async sync(_, names) {
      for (const name of names) copyFileSync(join(directory, name), join(shadow, 'content/pending', name))
      for (let turns = 0; turns < 60; turns++) await turn()
    },
  }
}
