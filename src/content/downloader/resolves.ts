// Carries out what plan-resolves.ts decides: asks the sources and publishes what they say.
import { messageOf, unreachable } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import { contentError, type Failure } from '../content-error.ts'
import type { ResolveConfig, ResolveStatus } from '../messages.ts'
import type { ProcessContext } from '../process/context.ts'
import { innerDelayMs, innerTries, longestInnerMs, outerDelayMs } from './backoff.ts'
import type { DownloadTools } from './download.ts'
import { OriginFailure } from './origin.ts'
import type { Wait } from './plan-downloads.ts'
import { planResolves, type ResolveAction, type ResolveEntry } from './plan-resolves.ts'
import type { Settings } from './settings.ts'

export interface Resolves {
  /** As of Downloads. */
  look(): number | null
  stop(): Promise<void>
}

interface Job {
  isCancelled: boolean
  readonly abort: AbortController
  ended: Promise<void>
}

interface Entry extends ResolveEntry {
  job: Job | null
  wait: Wait | null
  heldUntil: number
  isAnswered: boolean
  fails: number
  failingSince: Date | null
}

type Found = NonNullable<ResolveStatus['found']>

export function createResolves(
  context: ProcessContext & DownloadTools,
  settings: Settings,
  changed: () => void,
): Resolves {
  const { peer, origins, hosts, clock, random } = context
  const configs = peer.all('resolveConfig')
  const entries = new Map<string, Entry>()

  const start = (key: string, config: ResolveConfig, entry: Entry) => {
    const { credentials } = settings
    const job: Job = { isCancelled: false, abort: new AbortController(), ended: Promise.resolve() }
    entry.job = job
    job.ended = ask(context, config, job.abort.signal).then(
      found => {
        entry.job = null
        if (job.isCancelled) return changed()
        entry.isAnswered = true
        peer.publish('resolveStatus', key, { counter: entry.counter, found })
        changed()
      },
      error => {
        entry.job = null
        if (!job.abort.signal.aborted) fail(key, config, entry, failureOf(error), credentials)
        changed()
      },
    )
  }

  const fail = (key: string, config: ResolveConfig, entry: Entry, failure: OriginFailure, credentials: number) => {
    const now = clock.now()
    const monotonic = clock.monotonicMs()
    entry.fails++
    entry.failingSince ??= now
    const delay = outerDelayMs(entry.fails, settings.now().retrySeconds * 1000, random)
    const until =
      failure.kind === 'refused' ? null : Math.max(monotonic + delay, hosts.heldUntil(origins.hostOf(config.source)))
    entry.wait = { until, credentials }
    const error = contentError(
      'downloader',
      { code: failure.code, text: failure.message },
      {
        since: entry.failingSince,
        now,
        tries: entry.fails,
        ...(until !== null && { retryAt: new Date(now.getTime() + until - monotonic) }),
      },
    )
    peer.publish('resolveStatus', key, { counter: entry.counter, found: null, error })
  }

  const hold = (key: string, config: ResolveConfig, entry: Entry, until: number) => {
    const now = clock.now()
    entry.heldUntil = until
    const isBusy = Number.isFinite(until)
    const failure: Failure = isBusy
      ? { code: 'content.host-busy', text: `${origins.hostOf(config.source)} asked to be left alone for a while` }
      : { code: 'content.link-too-costly', text: 'the link costs more than may be spent' }
    const retryAt = isBusy && { retryAt: new Date(now.getTime() + until - clock.monotonicMs()) }
    const error = contentError('downloader', failure, { since: now, now, ...retryAt })
    peer.publish('resolveStatus', key, { counter: entry.counter, found: null, error: { ...error, severity: 'notice' } })
  }

  const perform = (action: ResolveAction) => {
    const { key } = action
    const entry = entries.get(key)
    switch (action.do) {
      case 'take': {
        const { counter } = configs.get(key)!
        entries.set(key, {
          counter,
          isAnswered: false,
          job: null,
          wait: null,
          heldUntil: 0,
          fails: 0,
          failingSince: null,
        })
        return peer.publish('resolveStatus', key, { counter, found: null })
      }
      case 'cancel':
        if (!entry?.job) return
        entry.job.isCancelled = true
        return entry.job.abort.abort()
      case 'forget':
        entries.delete(key)
        return peer.retract('resolveStatus', key)
      case 'hold':
        return hold(key, configs.get(key)!, entry!, action.until)
      case 'start':
        return start(key, configs.get(key)!, entry!)
      default:
        unreachable(action)
    }
  }

  const heldUntil = ({ source }: ResolveConfig): number => {
    const host = origins.hostOf(source)
    const { linkCost, maxCost } = settings.now()
    return host !== null && linkCost > maxCost ? Number.POSITIVE_INFINITY : hosts.heldUntil(host)
  }

  return {
    look() {
      for (;;) {
        const { actions, askAgainAt } = planResolves({
          configs,
          complete: peer.isComplete('resolveConfig'),
          entries,
          credentials: settings.credentials,
          heldUntil,
          now: clock.monotonicMs(),
        })
        if (actions.length === 0) return askAgainAt
        for (const action of actions) perform(action)
      }
    },
    async stop() {
      const jobs = [...entries.values()].flatMap(({ job }) => job ?? [])
      for (const job of jobs) {
        job.isCancelled = true
        job.abort.abort()
      }
      await Promise.all(jobs.map(({ ended }) => ended))
    },
  }
}

/** No mirrors: what a tag means is for its own registry to say. */
async function ask(tools: DownloadTools, { source, what }: ResolveConfig, signal: AbortSignal): Promise<Found> {
  const { origins, hosts, clock, random } = tools
  const host = origins.hostOf(source)
  for (let tries = 1; ; tries++) {
    try {
      const found = await origins.resolve(source, what, signal)
      hosts.fine(host)
      return found.slice(0, 64)
    } catch (error) {
      signal.throwIfAborted()
      const failure = failureOf(error)
      if (failure.kind === 'busy') hosts.slow(host, failure.retryAfterMs)
      const pause = Math.max(innerDelayMs(tries, random), hosts.heldUntil(host) - clock.monotonicMs())
      const passes = failure.kind === 'passing' || failure.kind === 'busy'
      if (!passes || tries >= innerTries || pause > longestInnerMs) throw failure
      await clock.sleep(pause, signal)
    }
  }
}

const failureOf = (error: unknown): OriginFailure =>
  error instanceof OriginFailure
    ? error
    : new OriginFailure('content.resolve-failed', 'passing', redact(messageOf(error)))
