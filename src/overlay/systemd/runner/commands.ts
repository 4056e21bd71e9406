// Runs commands one after the other. The time is for all of them; the one that exceeds it is killed with its group.
import { isErrno } from '../../../lib/errors.ts'
import type { CommandLine } from './command-line.ts'
import { inTime } from './patience.ts'
import type { Ended, Started } from './process.ts'

export interface CommandRun {
  readonly timeoutMs: number | null
  open(command: CommandLine): Started
  /** Whether no other command follows one that ended so. */
  stopsAt(how: Ended, command: CommandLine): boolean
}

export interface CommandsEnded {
  /** How the one that stopped it ended; well when all were run. */
  readonly how: Ended
  readonly timedOut: boolean
}

export async function runCommands(commands: readonly CommandLine[], run: CommandRun): Promise<CommandsEnded> {
  const { timeoutMs, open, stopsAt } = run
  const until = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY)
  for (const command of commands) {
    const { pid, ended } = open(command)
    const how = await inTime(ended, until - performance.now())
    if (how === 'late') {
      if (pid !== null) killGroup(pid)
      return { how: await ended, timedOut: true }
    }
    if (stopsAt(how, command)) return { how, timedOut: false }
  }
  return { how: { code: 0, signal: null }, timedOut: false }
}

function killGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}
