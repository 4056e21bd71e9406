// What was let go takes a few messages between the processes until its files are gone. They are given that time before they
// are ended, so that a command leaves nothing behind that only a later one would find.
import type { Clock } from '../../lib/clock.ts'
import type { Hub } from '../pubsub/hub.ts'

const patienceMs = 3000
const pauseMs = 20

/** A process that is stuck or dead does not hold up the end for long: what it leaves is swept at the next start. */
export async function letSettle(hub: Pick<Hub, 'read'>, clock: Clock): Promise<void> {
  const started = clock.monotonicMs()
  // Messages that belong together may arrive apart: it has to hold twice.
  for (let held = 0; held < 2 && clock.monotonicMs() - started < patienceMs; await clock.sleep(pauseMs))
    held = isSettled(hub) ? held + 1 : 0
}

/** Nothing is said of what nobody asks for any more, and no file is between its last reference and its end. */
export function isSettled({ read }: Pick<Hub, 'read'>): boolean {
  const contentConfigs = read('contentConfig')
  const downloadConfigs = read('downloadConfig')
  return (
    [...read('contentStatus').keys()].every(key => contentConfigs.has(key)) &&
    [...downloadConfigs.values()].every(({ refs }) => refs > 0) &&
    [...read('downloadStatus').keys()].every(key => downloadConfigs.has(key)) &&
    [...read('verifyConfig').values()].every(({ refs, expired }) => refs > 0 || !expired) &&
    [...read('verifyStatus').values()].every(({ expired }) => !expired)
  )
}
