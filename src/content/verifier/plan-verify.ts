// Decides for one blob what is done next and what is said of it. Touches nothing; a second look at the same view decides the
// same, and nothing is started twice.
// Holds: a file is removed only after the manager was told that it may let go, did so, and asked for nothing since; a status
// says `verified` only with a file that is known to be right; one job a blob at any time.
import type { ContentError, VerifyConfig, VerifyStatus } from '../messages.ts'
import type { VerifiedFile } from './verified-file.ts'

export interface BlobView {
  readonly config?: VerifyConfig | undefined
  /** Its names in verified/; the bytes are known to be right. One for each media type that it was asked for as. */
  readonly files: readonly VerifiedFile[]
  /** Names found at start that were not hashed yet. */
  readonly unchecked: readonly VerifiedFile[]
  /** The files are to be hashed again: somebody asked for all of them, or it is long ago. */
  readonly stale: 'asked' | 'old' | null
  readonly job?: (Job & { readonly done: number }) | undefined
  readonly failure?: BlobFailure | undefined
  /** The verifier died on it too often: nothing is started for it until a higher attempt asks. */
  readonly parked?: ContentError | undefined
  /** The attempt that was answered last; none before the first config. */
  readonly answered?: number | undefined
  /** The last status that was published. */
  readonly status?: VerifyStatus | undefined
}

export type Job =
  /** Copy from pending/ while hashing. */
  | {
      readonly do: 'copy'
      readonly path: string
      readonly mediaType: string
      readonly size: number
      readonly attempt: number
    }
  /** Hash what is in verified/. */
  | { readonly do: 'check'; readonly why: 'found' | 'old' | 'asked'; readonly attempt: number }
  /** One more name for the same bytes. */
  | { readonly do: 'label'; readonly mediaType: string; readonly attempt: number }

export interface BlobFailure {
  /** What failed; null when no job is to blame, as for bytes that rotted. */
  readonly job: Job | null
  readonly error: ContentError
  /** The time to try again has come. */
  readonly due: boolean
}

export type BlobAction =
  | { readonly do: 'start'; readonly job: Job }
  | { readonly do: 'cancel' }
  /** All its names in verified/, and everything that is remembered of it. */
  | { readonly do: 'forget' }

export interface BlobPlan {
  readonly action: BlobAction | null
  /** Null: nothing is said of it. */
  readonly status: VerifyStatus | null
}

export function planBlob(view: BlobView): BlobPlan {
  const { config } = view
  if (!config) return planUnasked(view)
  if (config.refs === 0 && config.expired) return planLettingGo(view, config)
  if (view.unchecked.length > 0) return planFound(view)
  if (view.files.length > 0) return planVerified(view, config)
  return planUnverified(view, config)
}

/** Before its config comes, after it went, or when the manager began anew: only a finished handshake removes a file. */
function planUnasked(view: BlobView): BlobPlan {
  const { job, files, unchecked, failure, status } = view
  if (status?.expired) return job ? { action: { do: 'cancel' }, status } : { action: { do: 'forget' }, status: null }
  if (job && job.do !== 'check') return { action: { do: 'cancel' }, status: status ?? null }
  if (unchecked.length > 0) return planFound(view)
  if (files[0]) {
    const job = staleCheck(view)
    return {
      action: startUnlessBusy(view, job),
      status: verified(files[0], { attempt: 0, error: standing(view, job) }),
    }
  }
  if (failure && !failure.job) return { action: null, status: unverified({ attempt: 0, error: failure.error }) }
  return { action: { do: 'forget' }, status: null }
}

function planLettingGo({ job, files }: BlobView, { attempt, mediaType }: VerifyConfig): BlobPlan {
  const file = files.find(file => file.mediaType === mediaType) ?? files[0]
  const status = file ? verified(file, { attempt }) : unverified({ attempt })
  return { action: job ? { do: 'cancel' } : null, status: { ...status, expired: true } }
}

/** Nothing is said of a file before it was looked at, so that nobody uses it, and nobody fetches it again. */
function planFound(view: BlobView): BlobPlan {
  const attempt = view.config?.attempt ?? 0
  const job: Job = { do: 'check', why: 'found', attempt: 0 }
  const error = standing(view, job)
  return { action: startUnlessBusy(view, job), status: error ? unverified({ attempt, error }) : null }
}

function planVerified(view: BlobView, config: VerifyConfig): BlobPlan {
  const { mediaType, path, attempt } = config
  const file = view.files.find(file => file.mediaType === mediaType)
  if (!file) return planLabel(view, config)
  // A new download of what is there already is no reason to look at it again.
  const answered = view.answered ?? attempt
  const asked: Job | null = attempt > answered && path === undefined ? { do: 'check', why: 'asked', attempt } : null
  const job = asked ?? staleCheck(view)
  return {
    action: startUnlessBusy(view, job),
    status: verified(file, { attempt: asked ? answered : attempt, error: standing(view, job) }),
  }
}

function planLabel(view: BlobView, config: VerifyConfig): BlobPlan {
  const { mediaType, attempt } = config
  const job: Job = { do: 'label', mediaType, attempt }
  const error = standing(view, job)
  return { action: startUnlessBusy(view, job), status: error ? unverified({ attempt, error }) : verifying(config, 0) }
}

function planUnverified(view: BlobView, config: VerifyConfig): BlobPlan {
  const { path, mediaType, size, attempt } = config
  const { job, failure } = view
  const wanted: Job | null = path === undefined ? null : { do: 'copy', path, mediaType, size, attempt }
  if (job && wanted && sameJob(job, wanted)) return { action: null, status: verifying(config, job.done) }
  if (job) return { action: { do: 'cancel' }, status: verifying(config, 0) }
  if (!wanted || config.refs === 0) return { action: null, status: unverified({ attempt, error: failure?.error }) }
  const error = standing(view, wanted)
  if (error) return { action: null, status: unverified({ attempt, error }) }
  return { action: { do: 'start', job: wanted }, status: verifying(config, 0) }
}

const staleCheck = ({ stale }: BlobView): Job | null => (stale ? { do: 'check', why: stale, attempt: 0 } : null)

/** A job that failed is not started again before its time, or before something else is asked for. */
function standing({ failure, parked, config, answered }: BlobView, job: Job | null): ContentError | undefined {
  if (!job) return undefined
  const askedAnew = config !== undefined && answered !== undefined && config.attempt > answered
  if (parked && !askedAnew) return parked
  return failure?.job && !failure.due && sameJob(failure.job, job) ? failure.error : undefined
}

function startUnlessBusy(view: BlobView, job: Job | null): BlobAction | null {
  if (view.job) return job && !sameJob(view.job, job) && view.job.do !== 'check' ? { do: 'cancel' } : null
  return job && !standing(view, job) ? { do: 'start', job } : null
}

const sameJob = (a: Job, b: Job): boolean => {
  if (a.attempt !== b.attempt) return false
  if (a.do === 'copy') return b.do === 'copy' && a.path === b.path && a.mediaType === b.mediaType && a.size === b.size
  if (a.do === 'label') return b.do === 'label' && a.mediaType === b.mediaType
  return b.do === 'check' && a.why === b.why
}

interface Remark {
  readonly attempt: number
  readonly error?: ContentError | undefined
}

const verified = ({ path, mediaType, mark, checkedAt }: VerifiedFile, { attempt, error }: Remark): VerifyStatus => ({
  state: 'verified',
  path,
  mediaType,
  size: mark.size,
  currentSize: mark.size,
  attempt,
  expired: false,
  ...(checkedAt !== undefined && { checkedAt }),
  ...(error && { error }),
})

const verifying = ({ size, attempt }: VerifyConfig, currentSize: number): VerifyStatus => ({
  state: 'verifying',
  size,
  currentSize,
  attempt,
  expired: false,
})

const unverified = ({ attempt, error }: Remark): VerifyStatus => ({
  state: 'initial',
  size: 0,
  currentSize: 0,
  attempt,
  expired: false,
  ...(error && { error }),
})
