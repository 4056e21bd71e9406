// One writer per stack. The lease is renewed while the work goes on; the number in it fences off whoever lost it without
// noticing: every transaction asserts it, and before every write to another platform `confirm` asks for it.
import type { Clock } from '../../lib/clock.ts'
import { messageOf, RefusedError } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { EnginePorts } from '../engine.ts'
import type { Lease } from '../model/stack.ts'
import { type HeldLease, type Leases, LostLease } from '../store.ts'

export interface Held {
  readonly lease: HeldLease
  /** Throws LostLease when another has it now. */
  confirm(): Promise<void>
}

export interface LockWish {
  /** Id of the stack. */
  readonly key: string
  /** For the refusal. */
  readonly name: string
  readonly holder: string
  readonly operation: string
  readonly waitMs: number
  readonly signal?: AbortSignal
}

/** Leases live for at least three times as long. */
const renewEveryMs = 5_000
const askEveryMs = 200

/** Throws RefusedError `stack.locked`, with the holder, when it is not free within `waitMs`. */
export async function withLock<Result>(
  ports: Pick<EnginePorts, 'store' | 'clock' | 'log'>,
  wish: LockWish,
  work: (held: Held) => Promise<Result>,
): Promise<Result> {
  const { leases } = ports.store
  const lease = await acquire(leases, ports.clock, wish)
  const finished = new AbortController()
  const renewing = keepRenewing({ leases, lease, clock: ports.clock, finished: finished.signal })
  const confirm = async () => {
    if (!(await leases.renew(lease))) throw new LostLease(lease.key)
  }
  try {
    return await work({ lease, confirm })
  } finally {
    finished.abort('finished')
    await renewing
    // One that cannot be given back runs out by itself; what was done stands.
    await leases
      .release(lease)
      .catch(error => ports.log(`the lock of stack ${wish.key} was not released: ${redact(messageOf(error))}`))
  }
}

async function acquire(leases: Leases, clock: Clock, wish: LockWish): Promise<HeldLease> {
  const until = clock.now().getTime() + wish.waitMs
  for (;;) {
    const answer = await leases.acquire(wish.key, { holder: wish.holder, operation: wish.operation })
    if ('fence' in answer) return answer
    const rest = until - clock.now().getTime()
    if (rest <= 0) throw locked(wish, answer)
    try {
      await clock.sleep(Math.min(rest, askEveryMs), wish.signal)
    } catch {
      throw new RefusedError('apply.cancelled', `stopped while waiting for the lock of stack ${wish.name}`)
    }
  }
}

function locked({ name }: LockWish, { holder, operation, since }: Lease): RefusedError {
  const reason = `stack ${name} is locked by ${holder} (${operation}, since ${since})`
  const hint = 'Wait for it, or allow waiting with --lock-wait; cairn stacks unlock --force takes the lock away.'
  return new RefusedError('stack.locked', reason, {
    hint,
    problems: [{ code: 'stack.locked', path: '', reason, hint }],
  })
}

interface Renewal {
  readonly leases: Leases
  readonly lease: HeldLease
  readonly clock: Clock
  readonly finished: AbortSignal
}

async function keepRenewing({ leases, lease, clock, finished }: Renewal): Promise<void> {
  for (;;) {
    try {
      await clock.sleep(renewEveryMs, finished)
    } catch {
      return
    }
    // A store that does not answer now may answer before the lease has run out.
    const renewed = await leases.renew(lease).catch(() => true)
    if (!renewed) return
  }
}
