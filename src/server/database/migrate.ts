// Brings the tables to what this program knows: each step once, as a whole, also when two servers start together.
import { sql } from 'kysely'
import { RefusedError } from '../../lib/errors.ts'
import type { Connections } from './connections.ts'
import type { Dialect } from './dialect.ts'
import { firstTables } from './migrations/0001-tables.ts'
import type { Tx } from './tables.ts'

/** The statements of one step. What a released version had is never changed here, only followed by a next step. */
export type Migration = (types: Dialect['types']) => readonly string[]

export const migrations: readonly Migration[] = [firstTables]

/** Answers with the version that the database has now. */
export async function migrate(
  connections: Pick<Connections, 'dialect' | 'migrate'>,
  steps: readonly Migration[] = migrations,
): Promise<number> {
  for (;;) {
    const version = await connections.migrate(tx => nextStep(tx, connections.dialect, steps))
    if (version === steps.length) return version
  }
}

async function nextStep(tx: Tx, { types }: Dialect, steps: readonly Migration[]): Promise<number> {
  const meta = `create table if not exists meta (key ${types.text} primary key, value ${types.text} not null)`
  await sql.raw(meta).execute(tx)
  const row = await tx.selectFrom('meta').select('value').where('key', '=', versionKey).executeTakeFirst()
  const version = Number(row?.value ?? 0)
  if (version > steps.length) throw newerTables(version, steps.length)
  const step = steps[version]
  if (!step) return version
  for (const statement of step(types)) await sql.raw(statement).execute(tx)
  const value = String(version + 1)
  await tx
    .insertInto('meta')
    .values({ key: versionKey, value })
    .onConflict(conflict => conflict.column('key').doUpdateSet({ value }))
    .execute()
  return version + 1
}

const versionKey = 'version'

export function newerTables(version: number, known: number): RefusedError {
  return new RefusedError(
    'database.newer',
    `the database has version ${version} of the tables, and this program knows them up to ${known}`,
    { hint: 'A newer Cairn has used it. Start that one, or restore a backup from before.' },
  )
}
