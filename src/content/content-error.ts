// An error as a status carries it. Times and severity are told once here, so that all processes speak alike.
import type { ContentError } from './messages.ts'

export interface Failure {
  readonly code: ContentError['code']
  /** Has passed safeUrl and redact. */
  readonly text: string
}

export interface FailureTimes {
  readonly since: Date
  readonly retryAt?: Date
  /** Tries so far, this one included. */
  readonly tries?: number
  readonly now: Date
}

const hour = 3_600_000

/** With a time to try again it grows from notice to error as tries and hours add up; without one it is an error at once. */
export function contentError(source: ContentError['source'], failure: Failure, times: FailureTimes): ContentError {
  const { since, retryAt } = times
  return {
    code: failure.code,
    text: failure.text.slice(0, 4000),
    severity: severityOf(times),
    since: since.toISOString(),
    ...(retryAt && { retryAt: retryAt.toISOString() }),
    source,
  }
}

function severityOf({ since, retryAt, tries = 1, now }: FailureTimes): ContentError['severity'] {
  if (!retryAt) return 'error'
  const age = now.getTime() - since.getTime()
  if (tries > 20 || age > 10 * hour) return 'error'
  return tries > 10 || age > hour ? 'warning' : 'notice'
}
