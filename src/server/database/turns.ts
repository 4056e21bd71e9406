// What both databases do around a transaction: none inside another, and whoever listens is called after the commit.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Listeners } from './listeners.ts'
import type { Tx } from './tables.ts'

type Work<Result> = (tx: Tx) => Promise<Result>

export interface Turns {
  /** `execute` begins a transaction, runs what it is given in it, and commits. */
  take<Result>(execute: (work: Work<Result>) => Promise<Result>, work: Work<Result>): Promise<Result>
  /** The listeners are called when this one has committed. */
  announce(tx: Tx): void
}

export function makeTurns(listeners: Listeners): Turns {
  const around = new AsyncLocalStorage<{ open: boolean }>()
  const announced = new WeakSet<Tx>()
  return {
    take: async (execute, work) => {
      // With one writer it would wait for itself.
      if (around.getStore()?.open) throw new Error('a transaction was begun inside another')
      const mine = { open: true }
      let used: Tx | undefined
      const noting: typeof work = tx => {
        used = tx
        return work(tx)
      }
      try {
        const result = await around.run(mine, () => execute(noting))
        if (used && announced.has(used)) listeners.call()
        return result
      } finally {
        mine.open = false
      }
    },
    announce: tx => announced.add(tx),
  }
}
