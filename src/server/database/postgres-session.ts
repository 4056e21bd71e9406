// One connection to PostgreSQL that is used for itself: what it holds (a LISTEN, an advisory lock) goes with it.
import { Client, type ClientConfig } from 'pg'
import type { Clock } from '../../lib/clock.ts'

export interface SessionOptions {
  readonly settings: ClientConfig
  readonly clock: Clock
  /** Ends it. */
  readonly signal: AbortSignal
}

/**
 * Waits, then asks the server for a sign of life; answers with when it asked, on the monotonic clock. Rejects as soon as the
 * connection is lost or the session is ended.
 */
export type Alive = (waitMs: number) => Promise<number>

const answerMs = 3_000

/** Rejects when the connection cannot be had or is lost, and with what `use` rejects. */
export async function inSession<Result>(
  { settings, clock, signal }: SessionOptions,
  use: (client: Client, alive: Alive) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  const client = new Client({ ...settings, query_timeout: answerMs })
  const lost = new AbortController()
  const onAbort = () => lost.abort(signal.reason)
  signal.addEventListener('abort', onAbort)
  client.on('error', error => lost.abort(error))
  client.on('end', () => lost.abort(new Error('the connection was closed')))
  try {
    await client.connect()
    return await use(client, async waitMs => {
      await clock.sleep(waitMs, lost.signal).catch(() => {})
      lost.signal.throwIfAborted()
      const askedAt = clock.monotonicMs()
      await client.query('select 1')
      return askedAt
    })
  } finally {
    signal.removeEventListener('abort', onAbort)
    // A connection into nowhere does not say goodbye; nobody waits for it longer than a moment.
    const gone = new AbortController()
    const ended = client.end().catch(() => {})
    await Promise.race([ended.finally(() => gone.abort()), clock.sleep(1_000, gone.signal).catch(() => {})])
  }
}
