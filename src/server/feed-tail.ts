// The newest events, read once for all who watch: a thousand streams cost one query per commit, not a thousand.
import type { Feed, FeedEvent } from './ports.ts'

export interface FeedTail {
  /** As Feed.since, from memory where that reaches. */
  since(seq: number, limit: number): Promise<readonly FeedEvent[]>
  onChange(listener: () => void): () => void
  close(): void
}

const kept = 1_000
const pageSize = 500

export function createFeedTail(feed: Feed): FeedTail {
  const listeners = new Set<() => void>()
  let events: FeedEvent[] = []
  /** Everything after this is in `events`. */
  let from: number | null = null
  let reading: Promise<void> | null = null
  let again = false

  async function readOn() {
    do {
      again = false
      from ??= await feed.last()
      for (;;) {
        const page = await feed.since(events.at(-1)?.seq ?? from, pageSize)
        events.push(...page)
        if (events.length > kept) {
          events = events.slice(-kept)
          from = events[0]!.seq - 1
        }
        if (page.length < pageSize) break
      }
    } while (again)
    for (const listener of listeners) listener()
  }
  const wake = () => {
    if (reading) {
      again = true
      return
    }
    // A database that fails now is asked again at the next change; streams ask it themselves as well.
    reading = readOn()
      .catch(() => {})
      .finally(() => {
        reading = null
        if (again) wake()
      })
  }
  const stop = feed.onChange(wake)
  wake()

  return {
    since: async (seq, limit) => {
      await reading
      if (from === null || seq < from) return feed.since(seq, limit)
      const start = events.findIndex(event => event.seq > seq)
      return start < 0 ? [] : events.slice(start, start + limit)
    },
    onChange: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: stop,
  }
}
