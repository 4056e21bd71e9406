// Carries out what plan-downloads.ts decides: keeps an entry for each download, runs its job, publishes its status.
// Only this file changes entries, and only here and in the jobs is anything below pending/ touched.
import { basename } from 'node:path'
import { messageOf, unreachable } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import { contentError, type Failure } from '../content-error.ts'
import type { DownloadConfig, DownloadStatus } from '../messages.ts'
import type { ProcessContext } from '../process/context.ts'
import { outerDelayMs } from './backoff.ts'
import { type DownloadEnd, type DownloadTools, download } from './download.ts'
import { findPending, removePending } from './found-pending.ts'
import {
  type DownloadAction,
  type DownloadEntry,
  type Hold,
  planDownloads,
  type RunningJob,
  type Wait,
} from './plan-downloads.ts'
import { progressPace } from './progress-pace.ts'
import type { Settings } from './settings.ts'
import { sourcesInOrder } from './source-order.ts'

export interface Downloads {
  /** Brings what is going on in line with what is wanted. Returns when to look again, on the monotonic clock. */
  look(): number | null
  /** Files that a config asks for or a job still writes. */
  targets(): string[]
  /** Cancels all and waits for their end; what came is kept. */
  stop(): Promise<void>
}

interface Job extends RunningJob {
  host: string | null
  isPausing: boolean
  isCancelled: boolean
  readonly abort: AbortController
  ended: Promise<void>
  /** Published when it began. */
  readonly sizeBefore: number
  /** Of what it has now; changed at every chunk. */
  size: number
  total: number | null
}

interface Entry extends DownloadEntry {
  config: DownloadConfig
  is: DownloadEntry['is']
  status: DownloadStatus
  expired: boolean
  held: Hold | null
  job: Job | null
  wait: Wait | null
  /** In a row and without a new byte. */
  fails: number
}

export function createDownloads(
  context: ProcessContext & DownloadTools,
  settings: Settings,
  changed: () => void,
): Downloads {
  const { peer, files, layout, clock, random, log, origins, hosts, signal } = context
  const configs = peer.all('downloadConfig')
  const entries = new Map<string, Entry>()

  const publish = (key: string, entry: Entry, change: Partial<DownloadStatus>) => {
    entry.status = withoutUndefined({ ...entry.status, ...change })
    peer.publish('downloadStatus', key, entry.status)
  }
  const publishSoon = progressPace(clock, signal, key => {
    const entry = entries.get(key)
    if (entry?.job) publish(key, entry, progressOf(entry, entry.job))
  })

  const take = (key: string, config: DownloadConfig, why: Extract<DownloadAction, { do: 'take' }>['why']) => {
    const before = entries.get(key)
    if (before && before.is !== 'refused' && (why === 'new attempt' || why === 'other target'))
      discard(before.config.target)
    const { offset, total, complete, sha256 } = findPending(files, config)
    const known = before && before.is !== 'refused' ? before.status : null
    const goesOn = known && why === 'changed' && !complete
    const currentSize = goesOn ? Math.max(known.currentSize, offset) : offset
    const entry = entryFor(config, {
      state: complete ? 'downloaded' : currentSize > 0 ? 'downloading' : 'initial',
      currentSize,
      totalSize: config.size || total || 0,
      ...(complete && sha256 && !config.sha256 && { sha256 }),
      ...(known && !complete && errorsOf(known)),
    })
    entry.is = complete ? 'done' : 'open'
    entries.set(key, entry)
    publish(key, entry, {})
  }

  const refuse = (key: string, config: DownloadConfig, why: Extract<DownloadAction, { do: 'refuse' }>['why']) => {
    const before = entries.get(key)
    if (before && before.is !== 'refused') discard(before.config.target)
    const text = why === 'target is taken' ? 'another download has this target' : 'the target is no name in pending/'
    const now = clock.now()
    const error = contentError('downloader', { code: 'content.target-invalid', text }, { since: now, now })
    const entry = entryFor(config, { state: 'initial', currentSize: 0, totalSize: config.size, error })
    entry.is = 'refused'
    entries.set(key, entry)
    publish(key, entry, {})
  }

  const start = (key: string, entry: Entry, host: string | null) => {
    const abort = new AbortController()
    const job: Job = {
      host,
      isPausing: false,
      isCancelled: false,
      credentials: settings.credentials,
      abort,
      ended: Promise.resolve(),
      sizeBefore: entry.status.currentSize,
      size: 0,
      total: null,
    }
    entry.job = job
    entry.wait = null
    publish(key, entry, { state: 'downloading' })
    const run = download(context, {
      config: entry.config,
      signal: abort.signal,
      onHost: at => {
        job.host = at
      },
      onPause: isPausing => {
        job.isPausing = isPausing
        // It may have credentials to try by now that it did not begin with.
        if (isPausing) changed()
      },
      onOpened: ({ contentType }) => {
        if (contentType) entry.status = { ...entry.status, contentType: redact(contentType).slice(0, 300) }
      },
      onProgress: (size, total) => {
        job.size = size
        job.total = total
        publishSoon(key)
      },
    })
    job.ended = run.then(
      end => finish(key, entry, job, end),
      error => finish(key, entry, job, unexpected(error)),
    )
  }

  const finish = (key: string, entry: Entry, job: Job, end: DownloadEnd) => {
    entry.status = withoutUndefined({ ...entry.status, ...progressOf(entry, job) })
    entry.job = null
    if (end.is === 'done') {
      entry.is = 'done'
      const { size, sha256 } = end
      publish(key, entry, {
        state: 'downloaded',
        currentSize: size,
        totalSize: size,
        sha256,
        error: undefined,
        firstError: undefined,
        retryCount: 0,
      })
    } else if (end.is === 'failed') {
      entry.fails = job.size > job.sizeBefore ? 1 : entry.fails + 1
      const now = clock.monotonicMs()
      const delay = outerDelayMs(entry.fails, settings.now().retrySeconds * 1000, random)
      const until = end.passes ? Math.max(now + delay, end.notBefore) : null
      entry.wait = { until, credentials: job.credentials }
      fail(key, entry, end.failure, until === null ? null : until - now)
    }
    changed()
  }

  const fail = (key: string, entry: Entry, failure: Failure, retryInMs: number | null) => {
    const now = clock.now()
    const { firstError, retryCount } = entry.status
    const error = contentError('downloader', failure, {
      since: firstError ? new Date(firstError.since) : now,
      now,
      tries: retryCount + 1,
      ...(retryInMs !== null && { retryAt: new Date(now.getTime() + retryInMs) }),
    })
    log(`download of ${entry.config.name} failed: ${failure.text}`)
    publish(key, entry, { error, firstError: firstError ?? error, retryCount: retryCount + 1 })
  }

  const unexpected = (error: unknown): DownloadEnd => ({
    is: 'failed',
    failure: { code: 'content.download-failed', text: redact(messageOf(error)) },
    passes: true,
    notBefore: 0,
  })

  const hold = (key: string, entry: Entry, held: Hold) => {
    const now = clock.now()
    const retryAt = held.until !== null && new Date(now.getTime() + held.until - clock.monotonicMs())
    const times = { since: now, now, ...(retryAt && { retryAt }) }
    entry.held = held
    publish(key, entry, {
      error: { ...contentError('downloader', whyHeld(held, entry.config), times), severity: 'notice' },
    })
  }

  const whyHeld = ({ why }: Hold, config: DownloadConfig): Failure => {
    const { linkCost, maxCost } = settings.now()
    if (why === 'link too costly')
      return {
        code: 'content.link-too-costly',
        text: `the link costs ${linkCost}, and at most ${maxCost} may be spent`,
      }
    const busy = new Set(sourcesInOrder(origins, config).map(source => origins.hostOf(source)))
    return { code: 'content.host-busy', text: `${[...busy].join(', ')} asked to be left alone for a while` }
  }

  const forget = (key: string, { config, is }: Entry) => {
    if (is !== 'refused') discard(config.target)
    entries.delete(key)
    peer.retract('downloadStatus', key)
  }

  /** What cannot be removed now is left to the sweep; a job never goes on with it by mistake. */
  const discard = (target: string) => {
    try {
      removePending(files, target)
    } catch (error) {
      log(`${basename(target)} cannot be removed: ${redact(messageOf(error))}`)
    }
  }

  const perform = (action: DownloadAction) => {
    const { key } = action
    const config = configs.get(key)
    const entry = entries.get(key)
    if (action.do === 'take') return take(key, config!, action.why)
    if (action.do === 'refuse') return refuse(key, config!, action.why)
    if (!entry) return
    switch (action.do) {
      case 'note':
        entry.config = config!
        return publish(key, entry, { attempt: entry.config.attempt })
      case 'cancel':
        if (!entry.job) return
        entry.job.isCancelled = true
        return entry.job.abort.abort()
      case 'expire':
        entry.expired = true
        return publish(key, entry, { expired: true })
      case 'forget':
        return forget(key, entry)
      case 'hold':
        return hold(key, entry, action.hold)
      case 'release':
        entry.held = null
        return publish(key, entry, { error: undefined })
      case 'start':
        return start(key, entry, action.host)
      default:
        unreachable(action)
    }
  }

  return {
    look() {
      for (;;) {
        const { actions, askAgainAt } = planDownloads({
          pending: layout.pending,
          configs,
          complete: peer.isComplete('downloadConfig'),
          entries,
          settings: settings.now(),
          credentials: settings.credentials,
          hostsOf: config => sourcesInOrder(origins, config).map(source => origins.hostOf(source)),
          heldUntil: hosts.heldUntil,
          now: clock.monotonicMs(),
        })
        if (actions.length === 0) return askAgainAt
        for (const action of actions) perform(action)
      }
    },

    targets: () =>
      [...configs.values(), ...[...entries.values()].map(({ config }) => config)].map(({ target }) => target),

    async stop() {
      const jobs = [...entries.values()].flatMap(({ job }) => job ?? [])
      for (const job of jobs) job.abort.abort()
      await Promise.all(jobs.map(({ ended }) => ended))
    },
  }
}

/** Never less than was told before, though a source may make it begin anew. New bytes clear the error of the last try. */
function progressOf({ config, status }: Entry, { size, sizeBefore, total }: Job): Partial<DownloadStatus> {
  return {
    currentSize: Math.max(status.currentSize, size),
    totalSize: config.size || (total ?? status.totalSize),
    ...(size > sizeBefore && { error: undefined }),
  }
}

function entryFor(
  config: DownloadConfig,
  facts: Pick<DownloadStatus, 'state' | 'currentSize' | 'totalSize'> & Partial<DownloadStatus>,
): Entry {
  const status: DownloadStatus = { retryCount: 0, ...facts, attempt: config.attempt, expired: false }
  return {
    config,
    is: 'open',
    expired: false,
    status,
    held: null,
    job: null,
    wait: null,
    fails: 0,
  }
}

const errorsOf = ({ error, firstError, retryCount }: DownloadStatus): Partial<DownloadStatus> =>
  withoutUndefined({ error, firstError, retryCount })

/** The messages know absent fields, not undefined ones. */
const withoutUndefined = <Value extends object>(value: { [K in keyof Value]: Value[K] | undefined }): Value =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Value
