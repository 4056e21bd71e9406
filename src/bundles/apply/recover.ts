// Settles journals without an end, under the lock of their stack: what was committed is closed, the rest is undone, where a
// write without an answer is looked up first. Two servers may start at once: the lock lets one of them do it.
import { messageOf, RefusedError } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { EnginePorts } from '../engine.ts'
import type { OpenJournal } from '../store.ts'
import { type Held, withLock } from './lock.ts'
import { undoAndRecord } from './settle.ts'

/** What an apply without a stack locks, so that nobody recovers it while it goes on. */
export const lockKeyOf = ({ id, stackId }: { readonly id: string; readonly stackId: string | null }): string =>
  stackId ?? `journal:${id}`

/** Before any use of a stack, by whoever has its lock. */
export async function recoverStack(ports: EnginePorts, stackId: string, held: Held): Promise<void> {
  for (const journal of await ports.store.journals.open(stackId)) await settle(ports, journal, held)
}

/** At start. One that another server is still working on is left to it. */
export async function recoverAll(ports: EnginePorts): Promise<void> {
  const keys = new Set((await ports.store.journals.open()).map(lockKeyOf))
  for (const key of keys)
    try {
      await underAbandonedLock(ports, key, async held => {
        for (const journal of await ports.store.journals.open())
          if (lockKeyOf(journal) === key) await settle(ports, journal, held)
      })
    } catch (error) {
      ports.log(`an unfinished apply (${key}) is not settled yet: ${redact(messageOf(error))}`)
    }
}

/** Who died holds its lock until it runs out; who still renews it then is alive. */
async function underAbandonedLock(ports: EnginePorts, key: string, work: (held: Held) => Promise<void>): Promise<void> {
  const wish = { key, name: key, holder: 'recovery', operation: 'recover', waitMs: 0 }
  try {
    return await withLock(ports, wish, work)
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
  }
  const lease = await ports.store.leases.holder(key)
  const restMs = lease ? new Date(lease.expiresAt).getTime() - ports.clock.now().getTime() : 0
  if (restMs > 0) await ports.clock.sleep(restMs)
  await withLock(ports, wish, work)
}

async function settle(ports: EnginePorts, journal: OpenJournal, held: Held): Promise<void> {
  if (journal.committed) return ports.store.journals.end(journal.id)
  const { leftovers } = await undoAndRecord(ports, held, {
    journalId: journal.id,
    stackId: journal.stackId,
    planId: journal.planId,
    by: journal.by,
    steps: journal.steps,
    failures: [{ code: 'apply.interrupted', path: '', reason: 'the server ended in the middle of it' }],
  })
  for (const { path, reason } of leftovers) ports.log(`left behind by an unfinished apply: ${path}: ${reason}`)
}
