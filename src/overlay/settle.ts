// Says which units did not come up, from what is observed and not from what was asked: after the jobs are done, the units
// are watched for a moment, because a simple service counts as started the instant it is forked.

import type { NodeContext } from './context.ts'
import type { UnitName } from './names.ts'
import type { UnitStatus } from './systemd/systemd.ts'

export interface FailedUnit {
  readonly name: UnitName
  readonly reason: string
}

const watchMs = 1_000
const pollMs = 100

/** Answers at once when one has failed; else when all have been up (or done) for the watch time. */
export async function settle({ systemd, clock }: NodeContext, units: readonly UnitName[]): Promise<FailedUnit[]> {
  if (units.length === 0 || systemd.kind === 'offline') return []
  const until = clock.monotonicMs() + watchMs
  for (;;) {
    const failed = [...(await systemd.show(units)).values()].flatMap(failureOf)
    if (failed.length > 0 || clock.monotonicMs() >= until) return failed
    await clock.sleep(pollMs)
  }
}

function failureOf(status: UnitStatus): FailedUnit[] {
  const { unit, active, sub, mainStatus, result } = status
  if (active === 'failed') return [{ name: unit, reason: mainStatus ? `${result}, exit status ${mainStatus}` : result }]
  if (sub === 'auto-restart' && mainStatus !== 0)
    return [{ name: unit, reason: `exits with status ${mainStatus} and is restarted over and over` }]
  return []
}
