// What SQLite and PostgreSQL do each in its own way, and the queries build on.
import type { Dialect } from './dialect.ts'
import type { Db, Tx } from './tables.ts'

export interface Connections {
  readonly dialect: Dialect
  /** For single selects. Sees what was committed before it began. */
  readonly db: Db
  /** All selects of `work` see one moment. */
  read<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /**
   * All or nothing, as if no other transaction ran meanwhile; on stable storage when it resolves. `work` is run again when
   * the database asks for that. Must not be called inside another `write`.
   */
  write<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** In a transaction of its own that no second process can run at the same time, for changes of the tables. */
  migrate<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** The last thing in a transaction that adds to the feed: numbers are given in the order of commits, and others are told. */
  lockFeed(tx: Tx): Promise<void>
  /** After commits that added to the feed, of this process and of others. */
  onFeed(listener: () => void): () => void
  ping(): Promise<void>
  close(): Promise<void>
}
