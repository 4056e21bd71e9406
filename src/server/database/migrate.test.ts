import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Connections } from './connections.ts'
import { type Migration, migrate, migrations } from './migrate.ts'
import { openSqlite } from './sqlite.ts'
import { temporaryDirectory } from './temporary.fake.ts'

let directory: string
let connections: Connections
beforeEach(() => {
  directory = temporaryDirectory()
  connections = openSqlite(join(directory, 'cairn.db'))
})
afterEach(async () => {
  await connections.close()
  rmSync(directory, { recursive: true })
})

const addColour: Migration = ({ text }) => [
  `alter table stacks add column colour ${text} not null default 'grey'`,
  `update stacks set colour = 'green' where name = 'web'`,
]
const colours = async () =>
  (await sql<{ colour: string }>`select colour from stacks order by id`.execute(connections.db)).rows

const insertStacks = () =>
  connections.write(async tx => {
    for (const name of ['web', 'mail'])
      await tx
        .insertInto('stacks')
        .values({
          id: name,
          name,
          description: '',
          created_at: '',
          updated_at: '',
          revision: 1,
          state: 'active',
          config: '{}',
          reconciled: 0,
          sources: '[]',
          leftovers: null,
        })
        .execute()
  })

it('brings an empty database to the newest version, and finds nothing to do the second time', async () => {
  expect(await migrate(connections)).toBe(migrations.length)
  await insertStacks()
  expect(await migrate(connections)).toBe(migrations.length)
  expect(await connections.db.selectFrom('stacks').select('id').execute()).toHaveLength(2)
})

it('goes on from version 1 and keeps what is there', async () => {
  expect(await migrate(connections, migrations.slice(0, 1))).toBe(1)
  await insertStacks()
  expect(await migrate(connections, [...migrations.slice(0, 1), addColour])).toBe(2)
  expect(await colours()).toEqual([{ colour: 'grey' }, { colour: 'green' }])
})

it('does a step as a whole or not at all', async () => {
  await migrate(connections)
  await insertStacks()
  const broken: Migration = types => [...addColour(types), 'update stacks set unheard_of = 1']
  await expect(migrate(connections, [...migrations, broken])).rejects.toThrow('no such column')
  await expect(colours()).rejects.toThrow('no such column: colour')
  expect(await migrate(connections, [...migrations, addColour])).toBe(migrations.length + 1)
})
