// One write on another platform, given up when there is no answer in time. It may have taken effect all the same.
import type { Clock } from '../../lib/clock.ts'
import { printDuration } from '../../lib/duration.ts'
import { CairnError } from '../../lib/errors.ts'
import type { Platform, Write, Written } from '../platform.ts'

export interface Patience {
  readonly clock: Clock
  readonly timeoutMs: number
}

export async function writeWithin({ clock, timeoutMs }: Patience, platform: Platform, write: Write): Promise<Written> {
  const givenUp = new AbortController()
  const answered = new AbortController()
  const timeout = clock.sleep(timeoutMs, answered.signal).then(
    () => {
      const error = new CairnError('apply.timeout', `no answer within ${printDuration(timeoutMs)}`)
      givenUp.abort(error)
      throw error
    },
    // The answer came first; this settles nothing any more.
    () => new Promise<never>(() => {}),
  )
  try {
    return await Promise.race([platform.write!(write, givenUp.signal), timeout])
  } finally {
    answered.abort(noReason)
  }
}

/** Without one, every abort makes an error with a stack. */
const noReason = 'answered'
