// What stacks there are, what is in them, what happened to them.
import { sql } from 'kysely'
import type { Stack, StackResource } from '../../bundles/model/stack.ts'
import type { Owner, Store } from '../../bundles/store.ts'
import type { Connections } from './connections.ts'
import { cursorOf, placeAt } from './cursor.ts'
import { stackOf, stackResourceOf } from './stack-rows.ts'
import type { Tx } from './tables.ts'

type StackReads = Pick<Store, 'stack' | 'stacks' | 'events' | 'owners'>

export function stackReads({ db, read, dialect }: Connections): StackReads {
  return {
    stack: id => read(tx => readStack(tx, id)),

    stacks: ({ ids, names, reconciled }, { limit, cursor }) =>
      read(async tx => {
        let query = tx.selectFrom('stacks').selectAll().orderBy('created_at').orderBy('id')
        if (ids || names)
          query = query.where(eb =>
            eb.or([dialect.oneOf(sql.ref('id'), ids ?? []), dialect.oneOf(sql.ref('name'), names ?? [])]),
          )
        if (reconciled) query = query.where('reconciled', '=', 1)
        if (cursor !== undefined)
          query = query.where(sql<boolean>`(created_at, id) > (${sql.join(placeAt(cursor, 2))})`)
        const rows = await query.limit(limit + 1).execute()
        const page = rows.slice(0, limit)
        const resources = await resourcesOf(
          tx,
          page.map(({ id }) => id),
        )
        const stacks = page.map(row => stackOf(row, resources.get(row.id) ?? []))
        const last = page.at(-1)
        return rows.length > limit && last ? { stacks, next: cursorOf(last.created_at, last.id) } : { stacks }
      }),

    events: async (stackId, { limit, before }) => {
      let query = db.selectFrom('stack_events').select(['seq', 'event']).where('stack_id', '=', stackId)
      if (before !== undefined) query = query.where('seq', '<', before)
      const rows = await query.orderBy('seq', 'desc').limit(limit).execute()
      return rows.map(({ seq, event }) => ({ seq, ...JSON.parse(event) }))
    },

    owners: async resourceIds => {
      const rows = await db
        .selectFrom('stack_resources as resource')
        .innerJoin('stacks as stack', 'stack.id', 'resource.stack_id')
        .select(['resource.resource_id as id', 'resource.kind', 'resource.name'])
        .select(['stack.id as stackId', 'stack.name as stackName'])
        .where(dialect.oneOf(sql.ref('resource.resource_id'), resourceIds))
        .execute()
      return new Map<string, Owner>(rows.map(({ id, ...owner }) => [id, owner]))
    },
  }

  async function resourcesOf(tx: Tx, stackIds: readonly string[]): Promise<Map<string, StackResource[]>> {
    const rows = await tx
      .selectFrom('stack_resources')
      .select(['stack_id', 'kind', 'name', 'resource_id', 'api_version', 'associations', 'lifecycle', 'adopted'])
      .select(['env_refs', 'applied_at'])
      .where(dialect.oneOf(sql.ref('stack_id'), stackIds))
      .orderBy('kind')
      .orderBy('name')
      .execute()
    const byStack = Map.groupBy(rows, ({ stack_id }) => stack_id)
    return new Map([...byStack].map(([id, own]) => [id, own.map(stackResourceOf)]))
  }
}

async function readStack(tx: Tx, id: string): Promise<Stack | null> {
  const row = await tx.selectFrom('stacks').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) return null
  const resources = await tx
    .selectFrom('stack_resources')
    .selectAll()
    .where('stack_id', '=', id)
    .orderBy('kind')
    .orderBy('name')
    .execute()
  return stackOf(row, resources.map(stackResourceOf))
}
