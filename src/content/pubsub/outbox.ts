// What is still to be said on a channel. Each thing waits at most once and is put into words only when it is sent, so that a
// slow reader costs memory for its keys, not for their history, and hears the latest of each.
import type { Link } from './link.ts'

export interface Outbox {
  /** What waits already keeps its place; `frame` then is the newer way to say it. */
  add(item: string, frame: () => Uint8Array): void
  remove(item: string): void
  clear(): void
  /** Says all that waits, and ends the link. */
  end(): void
  /** There is room on the link again. */
  drain(): void
}

export function openOutbox(link: Link): Outbox {
  const waiting = new Map<string, () => Uint8Array>()
  let room = true
  let scheduled = false

  const flush = () => {
    scheduled = false
    for (const [item, frame] of waiting) {
      if (!room) return
      waiting.delete(item)
      room = link.send(frame())
    }
  }
  const flushSoon = () => {
    if (scheduled || !room) return
    scheduled = true
    queueMicrotask(flush)
  }

  return {
    add: (item, frame) => {
      waiting.set(item, frame)
      flushSoon()
    },
    remove: item => void waiting.delete(item),
    clear: () => waiting.clear(),
    end: () => {
      for (const frame of waiting.values()) link.send(frame())
      waiting.clear()
      link.end()
    },
    drain: () => {
      room = true
      flushSoon()
    },
  }
}
