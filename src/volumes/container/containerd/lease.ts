// While a lease is held, containerd's gc leaves alone what is made under it. Ours carry the store they are for: what is
// there when a runtime opens was left by a crash. It goes before anyone relies on it, since containerd does not flush what
// it unpacks, and a power cut may have taken the bytes.
import { randomBytes } from 'node:crypto'
import { type CallOptions, Code } from '@connectrpc/connect'
import type { Clock } from '../../../lib/clock.ts'
import { type Containerd, noTimeout, unless } from './connection.ts'

export interface LeaseKeeper {
  /** Calls that get `lease` as their options are under it. It ends when the work has ended, either way. */
  under<T>(containerd: Containerd, work: (lease: CallOptions) => Promise<T>): Promise<T>
  /** Ends the leases that are left of this store, and has containerd collect what only they held. */
  endStale(containerd: Containerd): Promise<void>
}

const storeLabel = 'cairn.dev/store'
/** A lease that nobody ends, ends by itself. */
const longestMs = 24 * 3_600_000

/** `store` is a path; only one runtime at a time is open for it. */
export function leaseKeeper(store: string, clock: Clock): LeaseKeeper {
  /** Whose end containerd could not be told. */
  const unended = new Set<string>()
  const end = async ({ leases }: Containerd, id: string, sync = false) => {
    await unless(Code.NotFound, leases.delete({ id, sync }, sync ? noTimeout : {}))
    unended.delete(id)
  }
  return {
    async under(containerd, work) {
      for (const id of unended) await end(containerd, id)
      const id = newId()
      const expires = new Date(clock.now().getTime() + longestMs).toISOString()
      const labels = { 'containerd.io/gc.expire': expires, [storeLabel]: store }
      await containerd.leases.create({ id, labels })
      try {
        return await work({ headers: { 'containerd-lease': id } })
      } finally {
        // A failure here must not hide that of the work.
        await end(containerd, id).catch(() => unended.add(id))
      }
    },
    async endStale(containerd) {
      const { leases } = await containerd.leases.list({})
      const stale = leases.filter(({ labels }) => labels[storeLabel] === store)
      for (const { id } of stale) await end(containerd, id, id === stale.at(-1)?.id)
    },
  }
}

/** Has containerd collect now what nothing holds any more: the end of a lease is where it waits for its gc. */
export async function collect({ leases }: Containerd): Promise<void> {
  const id = newId()
  await leases.create({ id })
  await leases.delete({ id, sync: true }, noTimeout)
}

const newId = () => `cairn-${randomBytes(8).toString('hex')}`
