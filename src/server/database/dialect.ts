// All that the queries have to know of the two databases: column types, how many values travel in one parameter, locks.
// One parameter for many values keeps the text of a statement the same for one row and for ten thousand.
import { type AliasedRawBuilder, type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'

export type ColumnType = 'text' | 'integer'

/** The type of each column, for rows that travel as JSON. */
export type Columns<Row> = { readonly [Name in keyof Row & string]: ColumnType }

export interface Dialect {
  readonly kind: 'sqlite' | 'postgres'
  /** Types in `create table`. */
  readonly types: { readonly text: string; readonly integer: string; readonly counter: string }
  oneOf(value: Expression<string | null>, values: readonly string[]): RawBuilder<SqlBool>
  /** Rows as a table `v`, in their order. */
  rows<Row>(columns: Columns<Row>, rows: readonly Row[]): AliasedRawBuilder<Row, 'v'>
  /** At the end of a select: nobody else changes these rows before this transaction ends. */
  readonly forUpdate: RawBuilder<unknown>
}

export const sqliteDialect: Dialect = {
  kind: 'sqlite',
  types: { text: 'text', integer: 'integer', counter: 'integer primary key autoincrement' },
  oneOf: (value, values) => sql<SqlBool>`${value} in (select value from json_each(${JSON.stringify(values)}))`,
  rows: <Row>(columns: Columns<Row>, rows: readonly Row[]) => {
    const fields = Object.keys(columns).map(name => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`)
    return sql<Row>`(select ${sql.join(fields)} from json_each(${JSON.stringify(rows)}))`.as('v')
  },
  // A transaction that writes is alone.
  forUpdate: sql``,
}

export const postgresDialect: Dialect = {
  kind: 'postgres',
  // Sorted by bytes, as SQLite does it, whatever the locale of the server.
  types: {
    text: 'text collate "C"',
    integer: 'bigint',
    counter: 'bigint generated always as identity primary key',
  },
  oneOf: (value, values) => sql<SqlBool>`${value} = any(${values}::text[])`,
  rows: <Row>(columns: Columns<Row>, rows: readonly Row[]) => {
    const fields = (Object.keys(columns) as (keyof Row & string)[]).map(
      name => sql`${sql.ref(name)} ${sql.raw(columns[name] === 'text' ? 'text' : 'bigint')}`,
    )
    return sql<Row>`(select * from json_to_recordset(${JSON.stringify(rows)}::json) as r(${sql.join(fields)}))`.as('v')
  },
  forUpdate: sql`for update`,
}
