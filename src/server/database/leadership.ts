// Who of several servers leads. On SQLite there is one server, and it does. On PostgreSQL whoever holds an advisory lock on a
// connection of its own.
// Holds: never two at once. The server drops the lock with the connection, perhaps before its holder notices; so a leader that
// has not heard from the server for `validMs` stops by itself, and a successor of one that did not resign waits longer than that.
import type { Client } from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { Leadership } from '../ports.ts'
import { type LeaderWorks, makeLeaderWorks } from './leader-works.ts'
import { advisoryLocks, type PostgresConnections } from './postgres.ts'
import { type Alive, inSession } from './postgres-session.ts'

export interface LeaderTimes {
  /** Between two signs of life, and between two tries to become leader. */
  readonly renewMs: number
  /** How long a sign of life counts. */
  readonly validMs: number
  /** How long the successor of a leader that did not resign waits. */
  readonly graceMs: number
}

const defaultTimes: LeaderTimes = { renewMs: 2_000, validMs: 7_000, graceMs: 9_000 }

interface Options {
  readonly clock: Clock
  log(line: string): void
}

export type ClosableLeadership = Leadership & { close(): Promise<void> }

export function alwaysLeader(options: Options): ClosableLeadership {
  const works = makeLeaderWorks(options)
  works.begin()
  return { isLeader: () => true, lead: works.lead, close: works.end }
}

/** Stands for election from the first `lead` on. */
export function electedLeader(
  connections: Pick<PostgresConnections, 'settings'>,
  { clock, log, times = defaultTimes }: Options & { readonly times?: LeaderTimes },
): ClosableLeadership {
  if (!(times.renewMs < times.validMs && times.validMs < times.graceMs))
    throw new Error('a leader must renew sooner than it expires, and expire sooner than its successor begins')
  const works = makeLeaderWorks({ clock, log })
  const closing = new AbortController()
  const term: Term = { validUntil: 0 }
  let standing: Promise<void> | undefined

  const stand = async () => {
    const { signal } = closing
    let silent = false
    while (!signal.aborted) {
      try {
        await inSession({ settings: connections.settings, clock, signal }, async (client, alive) => {
          silent = false
          while (!(await tryLock(client))) await alive(times.renewMs)
          await holdOffice({ client, alive, works, term, times, clock, log, signal })
        })
      } catch (error) {
        if (signal.aborted) return
        if (!silent) log(`leadership: no connection to the database: ${redact(messageOf(error))}`)
        silent = true
        await clock.sleep(times.renewMs, signal).catch(() => {})
      }
    }
  }
  return {
    isLeader: () => clock.monotonicMs() < term.validUntil,
    lead: work => {
      standing ??= stand()
      return works.lead(work)
    },
    close: async () => {
      closing.abort()
      await standing
      await works.end()
    },
  }
}

interface Term {
  validUntil: number
}

interface Office extends Options {
  readonly client: Client
  readonly alive: Alive
  readonly works: LeaderWorks
  readonly term: Term
  readonly times: LeaderTimes
  readonly signal: AbortSignal
}

/** Returns or rejects when this process no longer leads and its works have ended. */
async function holdOffice({ client, alive, works, term, times, clock, log, signal }: Office) {
  if (await someoneLeads(client))
    for (const since = clock.monotonicMs(); clock.monotonicMs() - since < times.graceMs; ) await alive(times.renewMs)
  const notedAt = clock.monotonicMs()
  await noteLeader(client, true)

  const expired = new AbortController()
  let expiry: NodeJS.Timeout | undefined
  // The lock was ours when the server answered, so it was when we asked.
  const renewed = (askedAt: number) => {
    clearTimeout(expiry)
    term.validUntil = askedAt + times.validMs
    expiry = setTimeout(() => expired.abort(), term.validUntil - clock.monotonicMs())
  }
  renewed(notedAt)
  const ended = Promise.withResolvers<void>()
  const resign = () => {
    term.validUntil = 0
    works.end().then(ended.resolve, ended.reject)
  }
  expired.signal.addEventListener('abort', resign, { once: true })
  works.begin()
  log('leadership: this server leads')
  try {
    for (;;) {
      const askedAt = await alive(times.renewMs)
      if (expired.signal.aborted) return
      renewed(askedAt)
    }
  } finally {
    clearTimeout(expiry)
    expired.abort()
    await ended.promise
    log('leadership: this server no longer leads')
    if (signal.aborted) await noteLeader(client, false).catch(() => {})
  }
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ had: boolean }>(
    `select pg_try_advisory_lock(${advisoryLocks.leadership}) as had`,
  )
  return rows[0]?.had === true
}

const noteKey = 'leader'

async function someoneLeads(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ value: string }>('select value from meta where key = $1', [noteKey])
  return rows[0]?.value === 'leads'
}

async function noteLeader(client: Client, leads: boolean) {
  await client.query('insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = $2', [
    noteKey,
    leads ? 'leads' : 'resigned',
  ])
}
