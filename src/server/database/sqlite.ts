// The embedded database: node:sqlite behind kysely. One connection writes, one reads, so that nobody sees half a transaction.
// Holds: a commit is in the log on disk, synced, before it is acknowledged (WAL with synchronous=FULL), so neither kill -9
// nor a power cut takes it back. Each sync blocks this process; docs/decisions/0018-node-sqlite.md says why that is fine.
import { closeSync, constants, openSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely'
import { CairnError, isErrno, messageOf } from '../../lib/errors.ts'
import type { Connections } from './connections.ts'
import { sqliteDialect } from './dialect.ts'
import { makeListeners } from './listeners.ts'
import type { Db, Tables } from './tables.ts'
import { makeTurns } from './turns.ts'

export function openSqlite(file: string): Connections {
  const [writer, closeWriter] = open(file, 'begin immediate')
  const [reader, closeReader] = open(file, 'begin')
  const listeners = makeListeners()
  const turns = makeTurns(listeners)
  const write: Connections['write'] = work => turns.take(run => writer.transaction().execute(run), work)
  return {
    dialect: sqliteDialect,
    db: reader,
    read: work => reader.transaction().execute(work),
    write,
    migrate: write,
    lockFeed: async tx => {
      turns.announce(tx)
    },
    onFeed: listeners.add,
    ping: async () => {
      await reader.selectFrom('meta').select('key').limit(1).execute()
    },
    close: async () => {
      closeReader()
      closeWriter()
    },
  }
}

/** `begin immediate` takes its turn at once, so that no transaction finds out at its first write that it came too late. */
function open(file: string, begin: 'begin' | 'begin immediate'): [Db, close: () => void] {
  try {
    // Private from the first moment; SQLite gives its side files the mode of this one.
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600))
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 10_000 })
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -16000')
    const db = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new Driver(database, begin),
        createIntrospector: of => new SqliteIntrospector(of),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    })
    return [db, () => database.isOpen && database.close()]
  } catch (cause) {
    const reason = isErrno(cause, 'EACCES', 'EPERM') ? 'this user may not write it' : messageOf(cause)
    throw new CairnError('database.unreadable', `the database ${file} cannot be opened: ${reason}`, {
      hint: 'cairn restore puts a backup in its place and keeps what is there.',
      cause,
    })
  }
}

class Driver extends SqliteDriver {
  readonly #database: DatabaseSync
  readonly #begin: string

  constructor(database: DatabaseSync, begin: string) {
    super({ database: { prepare: cachedStatements(database), close: () => database.close() } })
    this.#database = database
    this.#begin = begin
  }

  override async beginTransaction(): Promise<void> {
    this.#database.exec(this.#begin)
  }

  /** A full disk ends a transaction by itself; undoing it once more would hide why. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection)
  }
}

const keptStatements = 500

function cachedStatements(database: DatabaseSync): (text: string) => SqliteStatement {
  const statements = new Map<string, SqliteStatement>()
  return text => {
    const known = statements.get(text)
    if (known) return known
    const prepared = forKysely(database.prepare(text))
    if (statements.size >= keptStatements) statements.clear()
    statements.set(text, prepared)
    return prepared
  }
}

function forKysely(statement: StatementSync): SqliteStatement {
  const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: parameters => statement.all(...values(parameters)),
    run: parameters => statement.run(...values(parameters)),
    iterate: parameters => statement.iterate(...values(parameters)),
  }
}
