// The store of bundles over the tables.
import type { SavedPlan } from '../../bundles/request.ts'
import type { Store } from '../../bundles/store.ts'
import { journalsIn } from './journals.ts'
import { leasesIn } from './leases.ts'
import { stackReads } from './stacks.ts'
import { storeTransactions, type TransactionParts } from './transaction.ts'

export function storeIn(parts: TransactionParts): Store {
  const { connections, clock } = parts
  return {
    ...stackReads(connections),
    transaction: storeTransactions(parts),
    savePlan: saved =>
      connections.write(async tx => {
        const kept = { expires_at: saved.plan.expiresAt, body: JSON.stringify(saved) }
        await tx
          .insertInto('plans')
          .values({ id: saved.plan.id, ...kept })
          .onConflict(conflict => conflict.column('id').doUpdateSet(kept))
          .execute()
      }),
    savedPlan: async id => {
      const row = await connections.db
        .selectFrom('plans')
        .select('body')
        .where('id', '=', id)
        .where('expires_at', '>', clock.now().toISOString())
        .executeTakeFirst()
      return row ? (JSON.parse(row.body) as SavedPlan) : null
    },
    leases: leasesIn(connections, clock),
    journals: journalsIn(connections),
  }
}
