// One stream of server-sent events. It reads the feed at the pace of its reader: nothing is buffered for a slow one, who
// falls behind and, once the feed no longer keeps what it missed, is told to read everything anew.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Auth } from './auth.ts'
import { maySeeEvent } from './authorize.ts'
import { refuse } from './failure.ts'
import type { FeedTail } from './feed-tail.ts'
import type { Feed, FeedEvent, Token } from './ports.ts'

export interface EventStreams {
  readonly open: number
  /** Runs until the reader goes, stalls, loses its right, or the server stops. Throws 503 when there are too many. */
  serve(stream: {
    readonly response: ServerResponse
    /** Called when nothing can refuse it any more. */
    begin(): void
    readonly headers: Readonly<Record<string, string | number | string[] | undefined>>
    readonly who: Token
    /** Absent: from now on. */
    readonly since: number | undefined
  }): Promise<void>
  /** Ends all; those who read connect again, to another server. */
  stop(): void
}

const pageSize = 200

export function createEventStreams({
  feed,
  tail,
  auth,
  limits,
}: {
  readonly feed: Feed
  readonly tail: FeedTail
  readonly auth: Auth
  readonly limits: { readonly streams: number; readonly stalledMs: number; readonly heartbeatMs: number }
}): EventStreams {
  const open = new Set<() => void>()

  return {
    get open() {
      return open.size
    },
    serve: async ({ response, begin, headers, who, since }) => {
      if (open.size >= limits.streams)
        throw refuse(
          503,
          { code: 'limit.streams', reason: 'there are as many event streams as this server takes' },
          {
            'retry-after': '10',
          },
        )
      let over = false
      let wake = () => {}
      const end = () => {
        over = true
        wake()
      }
      open.add(end)
      const stopWatching = tail.onChange(() => wake())
      response.once('close', end)
      try {
        let { at, missed } = await startOf(feed, since)
        begin()
        response.writeHead(200, {
          ...headers,
          'content-type': 'text/event-stream; charset=utf-8',
          'x-accel-buffering': 'no',
        })
        if (!(await written(response, missed ? `retry: 2000\n\n${resetAt(at)}` : 'retry: 2000\n\n', limits.stalledMs)))
          return
        while (!over) {
          // Taken before reading, so that a change in between is not slept over.
          const changed = new Promise<void>(resolve => {
            wake = resolve
          })
          if (!(await auth.isGood(who))) return
          const events = await tail.since(at, pageSize)
          const gap = events.length > 0 && events[0]!.seq > at + 1 && (await feed.first()) > at + 1
          const text = gap
            ? resetAt(events.at(-1)!.seq)
            : events
                .filter(event => maySeeEvent(who, event))
                .map(spelled)
                .join('')
          at = events.at(-1)?.seq ?? at
          if (text !== '' && !(await written(response, text, limits.stalledMs))) return
          if (events.length > 0) continue
          if (await isSilent(changed, limits.heartbeatMs))
            if (!over && !(await written(response, `: still here\nid: ${at}\n\n`, limits.stalledMs))) return
        }
      } finally {
        open.delete(end)
        stopWatching()
        if (response.headersSent) response.end()
        // What a stalled reader never took would keep the connection open.
        if (response.writableNeedDrain) response.destroy()
      }
    },
    stop: () => {
      for (const end of [...open]) end()
    },
  }
}

/** Missed: what came after `since` is no longer kept, or `since` is of another database. */
async function startOf(feed: Feed, since: number | undefined): Promise<{ at: number; missed: boolean }> {
  const last = await feed.last()
  if (since === undefined) return { at: last, missed: false }
  const missed = since > last || (since < last && (await feed.first()) > since + 1)
  return { at: missed ? last : since, missed }
}

const resetAt = (seq: number): string => `id: ${seq}\nevent: reset\ndata: {}\n\n`

const spelled = (event: FeedEvent): string =>
  `id: ${event.seq}\nevent: ${event.what}\ndata: ${JSON.stringify(event)}\n\n`

/** False when the reader is gone or takes nothing for too long. */
async function written(response: ServerResponse, text: string, stalledMs: number): Promise<boolean> {
  if (response.destroyed) return false
  if (response.write(text)) return true
  try {
    const signal = AbortSignal.timeout(stalledMs)
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
    return !response.destroyed
  } catch {
    return false
  }
}

/** True when nothing happened for this long. */
function isSilent(changed: Promise<void>, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(true), ms)
    changed.then(() => {
      clearTimeout(timer)
      resolve(false)
    })
  })
}
