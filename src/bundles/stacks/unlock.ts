// Takes the lock of a stack away from whoever has it, and says so in the history.
import type { EnginePorts } from '../engine.ts'
import type { Lease } from '../model/stack.ts'
import { findStack } from './find.ts'

/** Who had it; null when nobody did, which is no event. */
export async function unlockStack({ store, clock }: EnginePorts, idOrName: string, by: string): Promise<Lease | null> {
  const { id } = await findStack(store, idOrName)
  const lease = await store.leases.force(id)
  if (!lease) return null
  const outcome = `taken away from ${lease.holder} (${lease.operation}, since ${lease.since})`
  await store.transaction(tx =>
    tx.addEvent(id, { type: 'unlock', at: clock.now().toISOString(), by, sources: [], changes: [], outcome }),
  )
  return lease
}
