// Who a process is, for longer than its pid lasts: pids are reused, the pair of pid and start time is not, within one boot.
import { readFileSync } from 'node:fs'
import type { Clock } from './clock.ts'
import { isErrno } from './errors.ts'

export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks since boot, as /proc/<pid>/stat says it. */
  readonly startTime: string
  readonly bootId: string
}

export function thisProcess(clock: Pick<Clock, 'bootId'>): ProcessIdentity {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? '0', bootId: clock.bootId() }
}

/** False for one that ended, also while nobody has waited for it, and for one of an earlier boot. */
export function isAlive({ pid, startTime, bootId }: ProcessIdentity, clock: Pick<Clock, 'bootId'>): boolean {
  return startTimeOf(pid) === startTime && bootId === clock.bootId()
}

/** Null when no such process runs. */
export function startTimeOf(pid: number): string | null {
  return statOf(pid)?.startTime ?? null
}

/** The number of its process group. Null when no such process runs. */
export function groupOf(pid: number): number | null {
  return statOf(pid)?.group ?? null
}

/** The process itself, its parent, and so on up. */
export function withAncestors(pid: number): number[] {
  const parent = statOf(pid)?.parent
  return parent ? [pid, ...withAncestors(parent)] : [pid]
}

/** The program's name stands in parentheses and may contain any character, so fields are counted from the last one. */
function statOf(pid: number): { parent: number; group: number; startTime: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return null
    return { parent: Number(fields[1]), group: Number(fields[2]), startTime: fields[19] ?? '' }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH')) return null
    throw error
  }
}
