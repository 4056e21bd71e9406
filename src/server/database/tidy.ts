// What nobody needs any more goes. The newest entry of the feed always stays, so that its numbers are known.
import type { Clock } from '../../lib/clock.ts'
import type { Connections } from './connections.ts'

const keptFeed = 100_000
const day = 24 * 60 * 60 * 1000
const keptAuditMs = 400 * day
/** A holder that sleeps longer than this and comes back finds its lease gone all the same: fences do not come twice. */
const keptLeasesMs = 7 * day

/** Each in a transaction of its own, so that whoever writes meanwhile meets none for long. */
export async function tidy({ db, write }: Connections, clock: Clock): Promise<void> {
  const ago = (ms: number) => new Date(clock.now().getTime() - ms).toISOString()
  const newest = await db
    .selectFrom('feed')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .executeTakeFirst()
  await write(tx => tx.deleteFrom('plans').where('expires_at', '<=', ago(0)).execute())
  await write(tx => tx.deleteFrom('audit').where('at', '<', ago(keptAuditMs)).execute())
  await write(tx => tx.deleteFrom('leases').where('expires_at', '<', ago(keptLeasesMs)).execute())
  await write(tx =>
    tx
      .deleteFrom('feed')
      .where('seq', '<=', (newest?.seq ?? 0) - keptFeed)
      .execute(),
  )
}
