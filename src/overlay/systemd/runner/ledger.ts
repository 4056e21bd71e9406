// Which invocations are under way, on disk before their first process starts, so that a runner that was killed leaves
// nothing running for good: the next one for the same root ends what is still there.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../lib/clock.ts'
import { writeDurably } from '../../../lib/durable.ts'
import type { Files } from '../../../lib/files.ts'
import { isAlive, type ProcessIdentity, startTimeOf } from '../../../lib/process-identity.ts'
import type { UnitName } from '../../names.ts'
import { endAll, type Invocation, isRunning } from './invocation.ts'

export interface Ledger {
  /** Its leaders are added while it is open. */
  open(unit: UnitName): Invocation
  /** A process was just started for it: told before anything else happens. */
  began(invocation: Invocation, pid: number): void
  /** Nothing of it runs any more. */
  close(invocation: Invocation): void
  all(): readonly Invocation[]
}

interface Entry extends Invocation {
  leaders: readonly ProcessIdentity[]
}

export function openLedger(files: Files, path: string, clock: Clock): Ledger {
  const entries = new Map<string, Entry>()
  const bootId = clock.bootId()
  const write = () => writeDurably(files, path, JSON.stringify([...entries.values()]), { mode: 0o600 })
  /** What is on disk then knows too much, or no pid: neither can mislead, because an id is never used twice. */
  const tryToWrite = () => {
    try {
      write()
    } catch {}
  }
  write()
  return {
    open(unit) {
      const entry: Entry = { unit, id: randomBytes(16).toString('hex'), leaders: [] }
      entries.set(entry.id, entry)
      try {
        write()
      } catch (error) {
        entries.delete(entry.id)
        throw error
      }
      return entry
    },
    began({ id }, pid) {
      const entry = entries.get(id)
      const startTime = startTimeOf(pid)
      if (!entry || startTime === null) return
      entry.leaders = [...entry.leaders.filter(leader => isAlive(leader, clock)), { pid, startTime, bootId }]
      tryToWrite()
    },
    close({ id }) {
      entries.delete(id)
      tryToWrite()
    },
    all: () => [...entries.values()],
  }
}

/** Ends what a runner that is no more has left running; answers whose it was. Only for who has the root to itself. */
export async function endLeftovers(files: Files, path: string, clock: Clock): Promise<UnitName[]> {
  const bootId = clock.bootId()
  const left = readLedger(files, path)
    .filter(({ leaders }) => leaders.every(leader => leader.bootId === bootId))
    .filter(isRunning)
  await Promise.all(left.map(invocation => endAll(invocation, { signal: 'SIGTERM', timeoutMs: 2_000 })))
  return left.map(({ unit }) => unit)
}

function readLedger(files: Files, path: string): Invocation[] {
  if (!files.lstat(path)) return []
  return JSON.parse(files.readFile(path).toString('utf8')) as Invocation[]
}
