// Decides when a process that ended is started again: soon at first, then ever later, until it has lived for a minute.

export interface RestartRecord {
  /** Short lives one after the other. */
  readonly inARow: number
  /** When the last ones ended, newest last; no more than decide. */
  readonly ends: readonly number[]
  /** Five ends within a minute, and no long life since. */
  readonly degraded: boolean
}

export interface Life {
  /** Monotonic milliseconds. */
  readonly startedAt: number
  readonly endedAt: number
}

export const noRestarts: RestartRecord = { inARow: 0, ends: [], degraded: false }

const firstMs = 200
const longestMs = 30_000
const minuteMs = 60_000
const endsThatDegrade = 5

export function planRestart(before: RestartRecord, life: Life): { record: RestartRecord; afterMs: number } {
  const lived = life.endedAt - life.startedAt >= minuteMs
  const { inARow, ends, degraded } = lived ? noRestarts : before
  const lastEnds = [...ends, life.endedAt].slice(-endsThatDegrade)
  const many = lastEnds.length === endsThatDegrade && life.endedAt - lastEnds[0]! <= minuteMs
  return {
    record: { inARow: inARow + 1, ends: lastEnds, degraded: degraded || many },
    afterMs: Math.min(firstMs * 2 ** inARow, longestMs),
  }
}
