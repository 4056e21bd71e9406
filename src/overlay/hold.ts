// Confirm-or-revert: after a switch with a window, a timer stands ready to take it back, and so does the next start of
// Cairn and the next boot. Time is measured on the clock that cannot be set back; another boot counts as expired.
import type { Clock } from '../lib/clock.ts'
import type { NodeContext } from './context.ts'
import type { Deadline, Hold, Journal } from './journal.ts'

export function confirmWithin(clock: Clock, windowMs: number): Hold {
  const deadline: Deadline = {
    at: new Date(clock.now().getTime() + windowMs).toISOString(),
    monotonicMs: clock.monotonicMs() + windowMs,
    bootId: clock.bootId(),
  }
  return { kind: 'confirm', windowMs, deadline }
}

export function isExpired(clock: Clock, hold: Hold): boolean {
  if (hold.kind === 'test') return clock.bootId() !== hold.bootId
  const { bootId, monotonicMs } = hold.deadline
  return clock.bootId() !== bootId || clock.monotonicMs() >= monotonicMs
}

/** The timer fires a little after the deadline, so that who it starts finds the window expired. */
export async function arm({ systemd, layout, clock, self }: NodeContext, { id, hold }: Journal) {
  if (hold?.kind !== 'confirm') return
  const afterMs = Math.max(0, hold.deadline.monotonicMs - clock.monotonicMs()) + 100
  const where = ['--root', layout.prefix || '/', '--store', layout.store]
  await systemd.runLater({ unit: timerOf(id), afterMs, command: [...self, 'node', 'recover', ...where] })
}

export async function disarm({ systemd }: NodeContext, id: string) {
  await systemd.cancelLater(timerOf(id))
}

const timerOf = (id: string) => `cairn-revert-${id}`
