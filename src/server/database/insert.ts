// Many rows in few statements, each with one parameter.
import { type InsertQueryBuilder, type InsertResult, sql } from 'kysely'
import type { Columns, Dialect } from './dialect.ts'
import type { Tables, Tx } from './tables.ts'

/** So that the text of one parameter stays at a few megabytes. */
export const chunkSize = 2_000

interface Insert<Row> {
  readonly tx: Tx
  readonly dialect: Dialect
  readonly table: keyof Tables & string
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
}

export async function insertRows<Row>(insert: Insert<Row>): Promise<void> {
  for (let from = 0; from < insert.rows.length; from += chunkSize)
    await insertQuery({ ...insert, rows: insert.rows.slice(from, from + chunkSize) }).execute()
}

/** In the order of the rows. */
export function insertQuery<Row>({ tx, dialect, table, columns, rows }: Insert<Row>) {
  const names = Object.keys(columns)
  const selected = tx
    .selectFrom(dialect.rows(columns, rows))
    .select(names.map(name => sql.ref(name).as(name)))
    // Without it SQLite takes the `on` of a conflict for a join.
    .where(sql<boolean>`true`)
  return tx
    .insertInto(table)
    .columns(names as never)
    .expression(selected as never) as unknown as InsertQueryBuilder<Tables, keyof Tables, InsertResult>
}
