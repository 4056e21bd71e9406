// Makes what many installs have written durable together. Whoever asks while a flush is under way is served by the next one,
// which takes all that wait: a few small files are flushed one by one, anything more by one flush of the file system.
import { setImmediate as othersFirst } from 'node:timers/promises'
import { syncFileSystem } from '../../lib/sync-file-system.ts'

/** `oneByOne` flushes just what this caller wrote, `entries` says how many files and directories that are. */
export type Flush = (entries: number, oneByOne: () => void) => Promise<void>

interface Waiting {
  readonly entries: number
  readonly oneByOne: () => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Up to here each file is flushed by itself; beyond, flushing the whole file system once is faster. */
const fewEntries = 64

/** `directory` lies on the file system that is written to. */
export function flusher(directory: string): Flush {
  let waiting: Waiting[] = []
  let running = false

  const serve = async () => {
    running = true
    for (await othersFirst(); waiting.length > 0; ) {
      const group = waiting
      waiting = []
      await flushGroup(group)
    }
    running = false
  }
  const flushGroup = async (group: readonly Waiting[]) => {
    const entries = group.reduce((sum, each) => sum + each.entries, 0)
    const isFlushed = entries > fewEntries && (await syncFileSystem(directory))
    for (const { oneByOne, resolve, reject } of group) {
      try {
        if (!isFlushed) oneByOne()
        resolve()
      } catch (error) {
        reject(error)
      }
    }
  }
  return (entries, oneByOne) =>
    new Promise((resolve, reject) => {
      waiting.push({ entries, oneByOne, resolve, reject })
      if (!running) void serve()
    })
}
