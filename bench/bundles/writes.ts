// Which tables of the database were written to, by what the tables themselves show: read beside the server, before and after.
import { sha256Hex } from '../../src/lib/json.ts'
import type { TestServer } from '../../test/bundles/server.ts'

/** Table to something that is another after every insert, update and delete. */
export type TableMarks = ReadonlyMap<string, string>

/** Who may work on a stack, and who asked for what: every apply writes a row of each, whether it finds something to do or not. */
export const bookkeeping: readonly string[] = ['audit', 'leases']

export const tableMarks = (server: TestServer): Promise<TableMarks> =>
  server.database === undefined ? sqliteMarks(server) : postgresMarks(server)

export const changedTables = (before: TableMarks, after: TableMarks): string[] =>
  [...after.keys()].filter(table => after.get(table) !== before.get(table)).sort()

async function sqliteMarks({ query }: TestServer): Promise<TableMarks> {
  const tables = await query(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
  const marks = new Map<string, string>()
  for (const { name } of tables)
    marks.set(String(name), sha256Hex(JSON.stringify(await query(`select * from ${name}`))))
  return marks
}

/** Each version of a row has the number of the transaction that wrote it. */
async function postgresMarks({ query }: TestServer): Promise<TableMarks> {
  const tables = await query(`select relname as name from pg_stat_user_tables`)
  const marks = new Map<string, string>()
  for (const { name } of tables) {
    const [row] = await query(`select count(*) as rows, max(xmin::text::bigint) as last from ${name}`)
    marks.set(String(name), JSON.stringify(row))
  }
  return marks
}
