// One start of a unit and all the processes it led to. A process belongs to it by its process group, or by INVOCATION_ID in
// its environment, which it inherits also when it leaves the group: that is what the runner has in place of a cgroup.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isErrno } from '../../../lib/errors.ts'
import { groupOf, type ProcessIdentity, startTimeOf } from '../../../lib/process-identity.ts'
import type { UnitName } from '../../names.ts'

export interface Invocation {
  readonly unit: UnitName
  /** 32 hex digits, as under systemd. */
  readonly id: string
  /** Started by the runner, each the leader of a process group of its own. */
  readonly leaders: readonly ProcessIdentity[]
}

const pollMs = 20
/** A process in the kernel's hands may not even die of SIGKILL; nobody waits for it for ever. */
const lastWaitMs = 10_000

/** Sends the signal to all, and SIGKILL to those that are left after the time. False when it came to that. */
export async function endAll(
  invocation: Invocation,
  { signal, timeoutMs }: { signal: NodeJS.Signals; timeoutMs: number | null },
): Promise<boolean> {
  if (await areGone(invocation, timeoutMs, signalOnce(signal))) return true
  const until = performance.now() + lastWaitMs
  // Again and again, because between a look and a signal a process can fork.
  do signalAll(invocation, 'SIGKILL')
  while (!(await areGone(invocation, pollMs * 5)) && performance.now() < until)
  return false
}

export const isRunning = (invocation: Invocation): boolean => targetsOf(invocation).length > 0

export function signalAll(invocation: Invocation, signal: NodeJS.Signals) {
  for (const target of targetsOf(invocation)) send(signal, target)
}

/** A process shows no environment while it becomes another program: who is first seen later is told later. */
function signalOnce(signal: NodeJS.Signals): (targets: readonly number[]) => void {
  const told = new Set<number>()
  return targets => {
    for (const target of targets) if (!told.has(target)) send(signal, target)
    for (const target of targets) told.add(target)
  }
}

function send(signal: NodeJS.Signals, target: number) {
  try {
    process.kill(target, signal)
  } catch (error) {
    // Gone in the meantime, or it has become somebody else (sudo).
    if (!isErrno(error, 'ESRCH', 'EPERM')) throw error
  }
}

async function areGone(
  invocation: Invocation,
  timeoutMs: number | null,
  see: (targets: readonly number[]) => void = () => {},
): Promise<boolean> {
  const until = timeoutMs === null ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs
  for (let left = targetsOf(invocation); left.length > 0; left = targetsOf(invocation)) {
    see(left)
    if (performance.now() >= until) return false
    await delay(pollMs)
  }
  return true
}

/** As kill(2) takes them: whole groups as negative numbers, and single processes that have left theirs. Zombies are gone. */
function targetsOf({ id, leaders }: Invocation): number[] {
  const groups = new Set(leaders.filter(isTheSame).map(({ pid }) => pid))
  const targets = new Set<number>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const group = Number.isInteger(pid) ? groupOf(pid) : null
    if (group === null) continue
    if (groups.has(group)) targets.add(-group)
    else if (environmentOf(pid).includes(`INVOCATION_ID=${id}`)) targets.add(pid)
  }
  return [...targets]
}

/** While its first process lives, a group's number is its own. */
const isTheSame = ({ pid, startTime }: ProcessIdentity) => startTimeOf(pid) === startTime

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  } catch (error) {
    // Gone, or somebody else's.
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return []
    throw error
  }
}
