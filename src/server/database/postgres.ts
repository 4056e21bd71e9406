// PostgreSQL behind kysely: a pool for the queries, and one connection of its own that hears when others commit.
// Holds: transactions are serializable, and run again when they met another; a commit is on the server's disk before it is
// acknowledged; a connection that is lost is an error of whoever used it and of nobody else, and the next one is new.
// Does not hold: that a commit whose answer was lost did not happen. Whoever gets `database.unavailable` looks again.
import { CompiledQuery, Kysely, PostgresDialect, type PostgresPoolClient, sql } from 'kysely'
import { type ClientConfig, Pool, types } from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { CairnError, messageOf, RefusedError } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { Connections } from './connections.ts'
import { postgresDialect } from './dialect.ts'
import { makeGate } from './gate.ts'
import { makeListeners } from './listeners.ts'
import { metAnother, rethrow } from './postgres-errors.ts'
import { inSession } from './postgres-session.ts'
import type { Db, Tables, Tx } from './tables.ts'
import { makeTurns } from './turns.ts'

export interface PostgresOptions {
  readonly url: string
  readonly clock: Clock
  log(line: string): void
}

export interface PostgresConnections extends Connections {
  readonly settings: ClientConfig
}

/** Advisory locks are pairs of numbers; ours are of the schema that has the tables. */
const advisoryLock = (what: number) => `${what}, hashtext(current_schema())`
export const advisoryLocks = {
  migrations: advisoryLock(517431),
  feed: advisoryLock(517432),
  leadership: advisoryLock(517433),
}

const poolSize = 10
const tries = 12
const channel = 'cairn_feed'

export async function openPostgres({ url, clock, log }: PostgresOptions): Promise<PostgresConnections> {
  const settings: ClientConfig = {
    connectionString: url,
    application_name: 'cairn',
    connectionTimeoutMillis: 10_000,
    query_timeout: 120_000,
    keepAlive: true,
    types: { getTypeParser: (oid, format) => (oid === int8 ? Number : types.getTypeParser(oid, format)) },
  }
  const pool = makePool(settings)
  pool.on('error', error => log(`database: an idle connection was lost: ${redact(error.message)}`))
  const db = kyselyOver(pool)
  try {
    await refuseForgetful(db)
  } catch (error) {
    await pool.end()
    throw error
  }

  const listeners = makeListeners()
  const turns = makeTurns(listeners)
  const gate = makeGate(clock)
  const closing = new AbortController()
  const hearing = hear({ settings, clock, log, signal: closing.signal, heard: listeners.call })

  const write = async <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const transaction = () =>
          turns.take(run => db.transaction().setIsolationLevel('serializable').execute(run), work)
        // A long one would meet short ones again and again, so it does not try beside them twice.
        return await (attempt === 1 ? gate.together(transaction) : gate.alone(transaction))
      } catch (error) {
        if (!metAnother(error)) throw error
        if (attempt === tries) throw metTooMany(error)
      }
      await clock.sleep(attempt * 5)
    }
  }
  return {
    settings,
    dialect: postgresDialect,
    db,
    read: work => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    write,
    migrate: work =>
      db.transaction().execute(async tx => {
        await sql`select pg_advisory_xact_lock(${sql.raw(advisoryLocks.migrations)})`.execute(tx)
        return work(tx)
      }),
    lockFeed: async tx => {
      await sql`select pg_advisory_xact_lock(${sql.raw(advisoryLocks.feed)}), pg_notify(${channel}, '')`.execute(tx)
      turns.announce(tx)
    },
    onFeed: listeners.add,
    ping: async () => {
      await pool.query({ text: 'select 1', query_timeout: 5_000 } as { text: string }).catch(rethrow)
    },
    close: async () => {
      closing.abort()
      await hearing
      await pool.end()
    },
  }
}

const int8 = 20

/** The text of the URL must not get into an error. */
function makePool(settings: ClientConfig): Pool {
  try {
    return new Pool({ ...settings, max: poolSize })
  } catch {
    throw new RefusedError('database.url-invalid', 'the URL of the database cannot be read', {
      hint: 'It looks like postgres://user:password@host:5432/database.',
    })
  }
}

function kyselyOver(pool: Pool): Db {
  const clients = new WeakMap<object, PostgresPoolClient>()
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect().catch(rethrow)
    const known = clients.get(client)
    if (known) return known
    // Without a listener, losing it between two statements of a transaction would end the process.
    client.on('error', () => {})
    const query = (text: string, values: readonly unknown[]) => client.query(text, values as unknown[]).catch(rethrow)
    const told = { query, release: (destroy?: boolean) => client.release(destroy) } as unknown as PostgresPoolClient
    clients.set(client, told)
    return told
  }
  return new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: { connect, end: () => pool.end(), options: pool.options },
      onCreateConnection: async connection => {
        await connection.executeQuery(CompiledQuery.raw(sessionSettings))
      },
    }),
  })
}

/** Commits wait for the disk, whatever the server's default; a process that hangs does not keep its locks. */
const sessionSettings = `
  select set_config('idle_in_transaction_session_timeout', '60s', false),
    case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
      then set_config('synchronous_commit', 'on', false) end`

async function refuseForgetful(db: Db) {
  const { rows } = await sql<{ name: string }>`
    select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off'`.execute(db)
  if (rows.length === 0) return
  throw new RefusedError(
    'database.not-durable',
    `this PostgreSQL may lose what it acknowledged: ${rows.map(({ name }) => name).join(' and ')} is off`,
    { hint: 'Turn it on in postgresql.conf and restart the server.' },
  )
}

const metTooMany = (cause: unknown): CairnError =>
  new CairnError('database.busy', `the transaction met others ${tries} times and was given up`, {
    hint: 'Nothing was changed. Try again.',
    cause,
  })

interface Hearing {
  readonly settings: ClientConfig
  readonly clock: Clock
  readonly signal: AbortSignal
  log(line: string): void
  heard(): void
}

/** After a gap somebody may have committed unheard, so a new connection counts as news. */
async function hear({ settings, clock, signal, log, heard }: Hearing) {
  let deaf = false
  while (!signal.aborted) {
    try {
      await inSession({ settings, clock, signal }, async (client, alive) => {
        client.on('notification', heard)
        await client.query(`listen ${channel}`)
        if (deaf) log('database: hears of commits again')
        deaf = false
        heard()
        for (;;) await alive(15_000)
      })
    } catch (error) {
      if (signal.aborted) return
      if (!deaf) log(`database: does not hear of commits of others: ${redact(messageOf(error))}`)
      deaf = true
      await clock.sleep(1_000, signal).catch(() => {})
    }
  }
}
