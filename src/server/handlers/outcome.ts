// How an operation ended, as a status: what was undone is a failure, and the body says of what.
import type { Outcome } from '../../bundles/request.ts'
import { HttpFailure } from '../failure.ts'

/** Throws 500, or 502 when another platform failed, with the whole answer beside the failures. */
export function assertOutcome(outcome: Outcome, answer: object) {
  if (outcome.did !== 'rolled back' && outcome.did !== 'rollback incomplete') return
  const { failures } = outcome
  const problems = outcome.did === 'rollback incomplete' ? [...failures, ...outcome.leftovers] : failures
  const status = failures.length > 0 && failures.every(({ code }) => code.startsWith('platform.')) ? 502 : 500
  throw new HttpFailure({ status, problems, more: { ...answer } })
}
