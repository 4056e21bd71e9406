// Keeps verified/ as the manager's configs say: runs what planBlob decides, remembers how it went, and publishes what is.
import { basename } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import { messageOf, unreachable } from '../../lib/errors.ts'
import { contentError } from '../content-error.ts'
import type { ContentError, Sha256, VerifyStatus } from '../messages.ts'
import { type Deaths, deadly } from './deaths.ts'
import { type BlobFiles, doJob, type JobOutcome } from './do-job.ts'
import type { Ledger } from './ledger.ts'
import { type BlobAction, type BlobFailure, type Job, planBlob } from './plan-verify.ts'
import { pool, type Work } from './pool.ts'
import { type Setback, sinceOf, systemSetback, verifyCrash } from './setback.ts'
import { stalenessOf } from './staleness.ts'
import type { VerifiedFile } from './verified-file.ts'
import type { VerifyTools } from './verify-file.ts'

export interface Blobs {
  /** Something about this blob may have changed. */
  look(sha256: Sha256): void
  /** A good file of it; undefined when there is none. */
  fileOf(sha256: Sha256): VerifiedFile | undefined
  /** Takes in what was found at start. */
  adopt(sha256: Sha256, found: BlobFiles): void
  /** The settings or the time have changed: some may be due to be hashed again. */
  lookForStale(): void
  /** Resolves when every file that was adopted unchecked was looked at, or cannot be. */
  swept(): Promise<void>
  /** After the signal: resolves when all work has ended. */
  ended(): Promise<void>
}

export interface BlobsTools extends VerifyTools {
  readonly ledger: Ledger
  readonly deaths: Deaths
  readonly signal: AbortSignal
  /** The good files of a blob are others than before. */
  readonly onFiles: (sha256: Sha256) => void
}

interface Entry extends BlobFiles {
  files: readonly VerifiedFile[]
  unchecked: readonly VerifiedFile[]
  /** The `checkedSince` that was satisfied last. */
  checkedFor?: string | undefined
  running?: Running | undefined
  failure?: (BlobFailure & { readonly tries: number }) | undefined
  parked?: ContentError | undefined
  answered?: number | undefined
  status?: VerifyStatus | undefined
}

interface Running {
  readonly job: Job
  readonly controller: AbortController
  readonly work: Work
  /** Asked for although it was left alone: it gets all its chances again. */
  readonly anew: boolean
  /** Bytes, as they were last told. */
  done: number
}

const atOnce = 2
/** Progress is told four times a second. */
const tellEvery = 250
const parkedFor = 3_600_000
const firstRetry = 15_000
const longestRetry = 600_000

export function keepBlobs(tools: BlobsTools): Blobs {
  const { peer, files, ledger, deaths, clock, log, signal } = tools
  const entries = new Map<Sha256, Entry>()
  const sweeping = new Set<Sha256>()
  const sweepers: (() => void)[] = []
  const jobs = pool(atOnce)

  const entryOf = (sha256: Sha256): Entry => {
    const known = entries.get(sha256)
    if (known) return known
    const entry: Entry = { files: [], unchecked: [] }
    entries.set(sha256, entry)
    if (deaths.of(sha256) >= deadly) park(sha256, entry)
    return entry
  }

  const look = (sha256: Sha256) => {
    if (signal.aborted) return
    const entry = entryOf(sha256)
    const config = peer.all('verifyConfig').get(sha256)
    const job = entry.running && { ...entry.running.job, done: entry.running.done }
    const { action, status } = planBlob({
      ...entry,
      job,
      config,
      stale: stalenessOf(entry, tools.settings(), clock.now()),
    })
    if (action && !perform(sha256, entry, action)) return
    if (status) peer.publish('verifyStatus', sha256, status)
    else if (entry.status) peer.retract('verifyStatus', sha256)
    entry.status = status ?? undefined
    if (config && status) entry.answered = status.attempt
  }

  /** False when it could not be done; then all stays as it is. */
  const perform = (sha256: Sha256, entry: Entry, action: BlobAction): boolean => {
    switch (action.do) {
      case 'start':
        start(sha256, entry, action.job)
        return true
      case 'cancel':
        cancel(sha256, entry)
        return true
      case 'forget':
        return forget(sha256, entry)
      default:
        return unreachable(action)
    }
  }

  const start = (sha256: Sha256, entry: Entry, job: Job) => {
    const running: Running = {
      job,
      controller: new AbortController(),
      work: {
        urgent: job.do !== 'check' || job.why === 'asked',
        alone: deaths.of(sha256) > 0,
        run: () => run(sha256, entry, running),
      },
      anew: entry.parked !== undefined,
      done: 0,
    }
    entry.parked = undefined
    entry.running = running
    jobs.add(running.work)
  }

  const run = async (sha256: Sha256, entry: Entry, { job, ...running }: Running) => {
    const until = AbortSignal.any([signal, running.controller.signal])
    const since = tools.settings().checkedSince
    let outcome: JobOutcome = { files: entry.files, unchecked: entry.unchecked }
    try {
      until.throwIfAborted()
      if (running.anew) deaths.end(sha256)
      deaths.begin(sha256)
      try {
        const watch = { signal: until, onProgress: tellProgress(sha256, entry) }
        outcome = await doJob(tools, { sha256, job, have: entry, ...watch })
      } finally {
        deaths.end(sha256)
      }
      if (job.do === 'check' && job.why === 'asked') entry.answered = Math.max(job.attempt, entry.answered ?? 0)
      if (job.do === 'check') entry.checkedFor = since
    } catch (error) {
      if (!until.aborted) outcome = { ...outcome, setback: systemSetback(error) }
    }
    entry.running = undefined
    if (outcome.setback) fail(sha256, entry, { job, setback: outcome.setback })
    else if (!until.aborted) entry.failure = undefined
    setFiles(sha256, entry, outcome)
    look(sha256)
    leaveSweep(sha256)
  }

  const tellProgress = (sha256: Sha256, entry: Entry) => {
    let quiet = false
    return (bytes: number) => {
      if (quiet || !entry.running) return
      quiet = true
      entry.running.done = bytes
      look(sha256)
      later(tellEvery, () => {
        quiet = false
      })
    }
  }

  const setFiles = (sha256: Sha256, entry: Entry, { files, unchecked }: BlobFiles) => {
    if (files === entry.files && unchecked === entry.unchecked) return
    for (const { path } of [...entry.files, ...entry.unchecked]) ledger.delete(basename(path))
    for (const { path, mark, checkedAt } of files)
      if (checkedAt !== undefined) ledger.set(basename(path), { ...mark, checkedAt })
    entry.files = files
    entry.unchecked = unchecked
    tools.onFiles(sha256)
  }

  const fail = (sha256: Sha256, entry: Entry, { job, setback }: { job: Job; setback: Setback }) => {
    const now = clock.now()
    const previous = entry.failure
    const tries = previous?.error.code === setback.code ? previous.tries + 1 : 1
    const delay = setback.passes
      ? Math.min(firstRetry * 2 ** (tries - 1), longestRetry) * (0.5 + tools.random() / 2)
      : 0
    const error = contentError('verifier', setback, {
      since: sinceOf(previous?.error, setback.code, now),
      ...(delay > 0 && { retryAt: new Date(now.getTime() + delay) }),
      tries,
      now,
    })
    if (tries === 1) log(`verifier: ${sha256}: ${setback.text}`)
    const rotted = setback.code === 'content.bit-rot'
    // That the download is gone too is no news beside the loss of the file.
    const known = setback.code === 'content.pending-missing' && previous?.job === null ? previous.error : error
    const failure = { job: rotted ? null : job, error: known, due: false, tries }
    entry.failure = failure
    if (delay > 0)
      later(delay, () => {
        if (entry.failure !== failure) return
        entry.failure = { ...failure, due: true }
        lookIfKnown(sha256, entry)
      })
  }

  const cancel = (sha256: Sha256, entry: Entry) => {
    const { running } = entry
    if (!running || running.controller.signal.aborted) return
    running.controller.abort()
    if (!jobs.withdraw(running.work)) return
    entry.running = undefined
    leaveSweep(sha256)
    // Not at once: this is in the middle of a look.
    queueMicrotask(() => look(sha256))
  }

  const forget = (sha256: Sha256, entry: Entry): boolean => {
    try {
      for (const { path } of [...entry.files, ...entry.unchecked]) removeIfThere(files, path)
      deaths.end(sha256)
    } catch (error) {
      log(`verifier: ${sha256} cannot be removed: ${messageOf(error)}`)
      later(firstRetry, () => lookIfKnown(sha256, entry))
      return false
    }
    entries.delete(sha256)
    if (entry.files.length > 0) queueMicrotask(tryForSpace)
    setFiles(sha256, entry, { files: [], unchecked: [] })
    leaveSweep(sha256)
    return true
  }

  /** Something went: what found no room is tried now. */
  const tryForSpace = () => {
    for (const [sha256, entry] of entries) {
      if (entry.failure?.error.code !== 'content.no-space') continue
      entry.failure = { ...entry.failure, due: true }
      look(sha256)
    }
  }

  const park = (sha256: Sha256, entry: Entry) => {
    const now = clock.now()
    const setback = verifyCrash(deaths.of(sha256))
    const retryAt = new Date(now.getTime() + parkedFor)
    entry.parked = { ...contentError('verifier', setback, { since: now, retryAt, now }), severity: 'error' }
    log(`verifier: ${sha256}: ${setback.text}`)
    later(parkedFor, () => {
      entry.parked = undefined
      lookIfKnown(sha256, entry)
    })
  }

  const later = (ms: number, act: () => void) => {
    clock.sleep(ms, signal).then(act, () => {})
  }
  const lookIfKnown = (sha256: Sha256, entry: Entry) => {
    if (entries.get(sha256) === entry) look(sha256)
  }
  const leaveSweep = (sha256: Sha256) => {
    sweeping.delete(sha256)
    if (sweeping.size === 0) for (const tell of sweepers.splice(0)) tell()
  }

  return {
    look,
    fileOf: sha256 => entries.get(sha256)?.files[0],
    adopt(sha256, found) {
      const entry = entryOf(sha256)
      entry.files = found.files
      entry.unchecked = found.unchecked
      sweeping.add(sha256)
      look(sha256)
      if (found.unchecked.length === 0 || !entry.running) leaveSweep(sha256)
    },
    lookForStale() {
      for (const [sha256, entry] of entries) if (stalenessOf(entry, tools.settings(), clock.now())) look(sha256)
    },
    swept: () =>
      new Promise(resolve => {
        if (sweeping.size === 0) resolve()
        else sweepers.push(resolve)
      }),
    ended: () => jobs.idle(),
  }
}
