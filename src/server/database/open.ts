// Opens the database of a server: SQLite in its data directory, or PostgreSQL behind a URL. Everything that could make it the
// wrong one (another server in it, a newer version, another key) is refused here, before anything is written.
import { sql } from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import { syncDirectory } from '../../lib/durable.ts'
import { realFiles } from '../../lib/files.ts'
import type { Kind } from '../../resources/kind.ts'
import type { Database } from '../ports.ts'
import { openVault, type Vault, wrongKey } from '../vault.ts'
import { auditIn } from './audit.ts'
import type { Connections } from './connections.ts'
import { databaseFileIn, keyFileIn, lockDataDirectory, makeDataDirectory, removeLitter } from './data-directory.ts'
import { feedIn } from './feed.ts'
import { alwaysLeader, type ClosableLeadership, electedLeader, type LeaderTimes } from './leadership.ts'
import { freeLeases } from './leases.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import { resourcePlatform } from './resources.ts'
import { finishRestore } from './restore-switch.ts'
import { secretsIn } from './secrets.ts'
import { openSqlite } from './sqlite.ts'
import { setStatus } from './status.ts'
import { storeIn } from './store.ts'
import { tidy } from './tidy.ts'
import { tokensIn } from './tokens.ts'

export interface DatabaseOptions {
  /** `postgres://…`; absent: SQLite. */
  readonly url?: string
  /** Of SQLite; default `cairn.db` in the data directory. */
  readonly file?: string
  /** Made when it is not there. Holds the key of the vault, and the embedded database. */
  readonly dataDirectory: string
  /** Default `vault.key` in the data directory. */
  readonly keyFile?: string
  readonly kinds: readonly Kind[]
  readonly clock: Clock
  log(line: string): void
  /** What this process is, for whoever is refused the data directory; default `cairn up`. */
  readonly command?: string
  readonly leaderTimes?: LeaderTimes
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  makeDataDirectory(options.dataDirectory)
  return options.url === undefined ? openEmbedded(options) : openServer(options, options.url)
}

async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const { dataDirectory, clock, log, command = 'cairn up' } = options
  const lock = await lockDataDirectory(dataDirectory, command, clock)
  try {
    finishRestore(dataDirectory)
    removeLitter(dataDirectory, clock)
    const connections = openSqlite(options.file ?? databaseFileIn(dataDirectory))
    const released = { ...connections, close: () => connections.close().finally(lock.release) }
    return await databaseOver(options, released, async () => {
      syncDirectory(realFiles, dataDirectory)
      await freeLeases(connections)
      return alwaysLeader({ clock, log })
    })
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openServer(options: DatabaseOptions, url: string): Promise<Database> {
  const { clock, log, leaderTimes: times } = options
  const connections = await openPostgres({ url, clock, log })
  return databaseOver(options, connections, async () =>
    electedLeader(connections, { clock, log, ...(times && { times }) }),
  )
}

/** Closes the connections when it fails. */
async function databaseOver(
  options: DatabaseOptions,
  connections: Connections,
  makeLeadership: () => Promise<ClosableLeadership>,
): Promise<Database> {
  try {
    await migrate(connections)
    const vault = await vaultOf(options, connections)
    return assemble(options, { connections, vault, leadership: await makeLeadership() })
  } catch (error) {
    await connections.close()
    throw error
  }
}

/** The first server writes down whom it seals to; each later one has to have the same key. */
async function vaultOf({ dataDirectory, keyFile, clock }: DatabaseOptions, { write, db }: Connections): Promise<Vault> {
  const path = keyFile ?? keyFileIn(dataDirectory)
  const noted = () => db.selectFrom('meta').select('value').where('key', '=', 'recipient').executeTakeFirst()
  const vault = await openVault({ keyFile: path, sealedTo: (await noted())?.value ?? null, clock })
  const { recipient } = vault
  const sealedTo = await write(async tx => {
    const row = await tx.selectFrom('meta').select('value').where('key', '=', 'recipient').executeTakeFirst()
    if (!row) await tx.insertInto('meta').values({ key: 'recipient', value: recipient }).execute()
    return row?.value ?? recipient
  })
  if (sealedTo !== recipient) throw wrongKey({ keyFile: path, recipient, sealedTo })
  return vault
}

interface Parts {
  readonly connections: Connections
  readonly vault: Vault
  readonly leadership: ClosableLeadership
}

function assemble({ kinds, clock }: DatabaseOptions, { connections, vault, leadership }: Parts): Database {
  return {
    kind: connections.dialect.kind,
    store: storeIn({ connections, kinds, vault, clock }),
    platform: resourcePlatform({ connections, kinds, vault }),
    tokens: tokensIn(connections),
    secrets: secretsIn(connections, vault),
    audit: auditIn(connections),
    feed: feedIn(connections),
    leadership,
    setStatus: (id, status) => setStatus(connections, clock, { id, status }),
    counts: () =>
      connections.read(async tx => {
        const kinds = await tx
          .selectFrom('resources')
          .select(['kind', sql<number>`count(*)`.as('count')])
          .groupBy('kind')
          .orderBy('kind')
          .execute()
        const stacks = await tx.selectFrom('stacks').select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()
        return {
          resources: Object.fromEntries(kinds.map(({ kind, count }) => [kind, count])),
          stacks: stacks.count,
        }
      }),
    ping: connections.ping,
    tidy: () => tidy(connections, clock),
    close: async () => {
      await leadership.close()
      await connections.close()
    },
  }
}
