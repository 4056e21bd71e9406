// Leases with fences. A row stays when its lease is free; a fence never comes twice, also when an old row was tidied away,
// because a new row begins with the time.
import type { Lease } from '../../bundles/model/stack.ts'
import type { HeldLease, Leases } from '../../bundles/store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Connections } from './connections.ts'
import type { Tables, Tx } from './tables.ts'

const leaseMs = 30_000

type Row = Tables['leases']

export function leasesIn({ db, write, dialect }: Connections, clock: Clock): Leases {
  const rowOf = (tx: Tx, key: string): Promise<Row | undefined> =>
    tx.selectFrom('leases').selectAll().where('key', '=', key).modifyEnd(dialect.forUpdate).executeTakeFirst()
  const holderOf = async (key: string): Promise<Lease | null> =>
    liveLease(await db.selectFrom('leases').selectAll().where('key', '=', key).executeTakeFirst(), clock.now())
  const expiry = (now: Date) => new Date(now.getTime() + leaseMs).toISOString()
  const free = (tx: Tx, key: string) => tx.updateTable('leases').set({ holder: null }).where('key', '=', key).execute()

  return {
    acquire: async (key, { holder, operation }) => {
      // The holder's transaction locks the row; who is only to be told of it does not wait for that.
      const taken = await holderOf(key)
      if (taken) return taken
      return write<HeldLease | Lease>(async tx => {
        const now = clock.now()
        const row = await rowOf(tx, key)
        const current = liveLease(row, now)
        if (current) return current
        const fence = Math.max((row?.fence ?? 0) + 1, now.getTime())
        const lease = { fence, holder, operation, since: now.toISOString(), expires_at: expiry(now) }
        await tx
          .insertInto('leases')
          .values({ key, ...lease })
          .onConflict(conflict => conflict.column('key').doUpdateSet(lease))
          .execute()
        return { key, fence }
      })
    },

    renew: lease =>
      write(async tx => {
        if (!isHeld(await rowOf(tx, lease.key), lease)) return false
        await tx
          .updateTable('leases')
          .set({ expires_at: expiry(clock.now()) })
          .where('key', '=', lease.key)
          .execute()
        return true
      }),

    release: lease =>
      write(async tx => {
        if (isHeld(await rowOf(tx, lease.key), lease)) await free(tx, lease.key)
      }),

    holder: holderOf,

    force: key =>
      write(async tx => {
        const current = liveLease(await rowOf(tx, key), clock.now())
        await free(tx, key)
        return current
      }),
  }
}

/** For a database that one process has at a time: whoever held a lease before this one began is dead. */
export async function freeLeases({ write }: Pick<Connections, 'write'>): Promise<void> {
  await write(tx => tx.updateTable('leases').set({ holder: null }).where('holder', 'is not', null).execute())
}

const isHeld = (row: Row | undefined, { fence }: HeldLease): boolean => row?.fence === fence && row.holder !== null

function liveLease(row: Row | undefined, now: Date): Lease | null {
  if (!row || row.holder === null || row.expires_at <= now.toISOString()) return null
  const { holder, operation, since, expires_at: expiresAt } = row
  return { holder, operation, since, expiresAt }
}
