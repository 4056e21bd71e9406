// Transactions of the store: resources of the shared platform, the record of a stack, its event and the feed, together.
import { sql } from 'kysely'
import type { StackResource } from '../../bundles/model/stack.ts'
import { LostLease, type Store, type StoreTransaction, WriteConflict } from '../../bundles/store.ts'
import type { Clock } from '../../lib/clock.ts'
import { byKind, type Kind } from '../../resources/kind.ts'
import type { Vault } from '../vault.ts'
import type { Connections } from './connections.ts'
import type { Columns } from './dialect.ts'
import { type Draft, finish } from './draft.ts'
import { chunkSize, insertQuery } from './insert.ts'
import { flag, stackResourceColumns, stackResourceRow, stackRow } from './stack-rows.ts'
import { writeAll } from './write.ts'

export interface TransactionParts {
  readonly connections: Connections
  readonly kinds: readonly Kind[]
  readonly vault: Vault
  readonly clock: Clock
}

const keptEvents = 200

export function storeTransactions(parts: TransactionParts): Store['transaction'] {
  const { connections, vault, clock } = parts
  const kinds = byKind(parts.kinds)
  return work =>
    connections.write(async tx => {
      const at = clock.now().toISOString()
      const draft: Draft = { tx, connections, kinds, vault, at, news: [], removed: new Set(), referred: new Map() }
      const result = await work(transactionOver(draft))
      await finish(draft)
      return result
    })
}

function transactionOver(draft: Draft): StoreTransaction {
  const { tx, connections, at, news } = draft
  const tellStack = (id: string, name: string, revision: number) =>
    news.push({ at, what: 'stack', kind: 'Stack', id, name, revision })
  return {
    /** The row is locked: who would take the lease over waits for our commit. */
    assertLease: async ({ key, fence }) => {
      const row = await tx
        .selectFrom('leases')
        .select(['fence', 'holder'])
        .where('key', '=', key)
        .modifyEnd(connections.dialect.forUpdate)
        .executeTakeFirst()
      if (row?.fence !== fence || row.holder === null) throw new LostLease(key)
    },

    write: writes => writeAll(draft, writes),

    insertStack: async stack => {
      await tx.insertInto('stacks').values(stackRow(stack)).execute()
      await putStackResources(draft, stack.id, stack.resources)
      tellStack(stack.id, stack.name, stack.revision)
    },

    updateStack: async (id, ifRevision, { put = [], drop = [], updatedAt, ...change }) => {
      const before = await tx.selectFrom('stacks').select(['name', 'revision']).where('id', '=', id).executeTakeFirst()
      if (!before) throw new WriteConflict('gone', null)
      if (before.revision !== ifRevision) throw new WriteConflict('revision', null)
      await tx
        .updateTable('stacks')
        .set({
          revision: ifRevision + 1,
          ...(updatedAt !== undefined && { updated_at: updatedAt }),
          ...(change.name !== undefined && { name: change.name }),
          ...(change.description !== undefined && { description: change.description }),
          ...(change.state !== undefined && { state: change.state }),
          ...(change.config !== undefined && {
            config: JSON.stringify(change.config),
            reconciled: flag(change.config.reconcile !== undefined),
          }),
          ...(change.sources !== undefined && { sources: JSON.stringify(change.sources) }),
          ...(change.leftovers !== undefined && {
            leftovers: change.leftovers.length > 0 ? JSON.stringify(change.leftovers) : null,
          }),
        })
        .where('id', '=', id)
        .execute()
      await dropStackResources(draft, id, [...drop, ...put])
      await putStackResources(draft, id, put)
      tellStack(id, change.name ?? before.name, ifRevision + 1)
    },

    deleteStack: async id => {
      await tx.deleteFrom('stack_events').where('stack_id', '=', id).execute()
      const row = await tx.deleteFrom('stacks').where('id', '=', id).returning(['name', 'revision']).executeTakeFirst()
      if (row) tellStack(id, row.name, row.revision)
    },

    addEvent: async (stackId, event) => {
      const { first, last } = await tx
        .selectFrom('stack_events')
        .select(({ fn }) => [fn.min('seq').as('first'), fn.max('seq').as('last')])
        .where('stack_id', '=', stackId)
        .executeTakeFirstOrThrow()
      const seq = (last ?? 0) + 1
      await tx
        .insertInto('stack_events')
        .values({ stack_id: stackId, seq, event: JSON.stringify(event) })
        .execute()
      await tx
        .deleteFrom('stack_events')
        .where('stack_id', '=', stackId)
        .where('seq', '>', first ?? seq)
        .where('seq', '<=', seq - keptEvents)
        .execute()
    },

    commitJournal: async id => {
      await tx.updateTable('journals').set({ committed: 1 }).where('id', '=', id).execute()
    },
  }
}

interface Place {
  readonly kind: string
  readonly name: string
}

const placeColumns: Columns<Place> = { kind: 'text', name: 'text' }

async function dropStackResources({ tx, connections }: Draft, stackId: string, places: readonly Place[]) {
  for (let from = 0; from < places.length; from += chunkSize) {
    const chunk = places.slice(from, from + chunkSize).map(({ kind, name }) => ({ kind, name }))
    await sql`delete from stack_resources where stack_id = ${stackId} and (kind, name) in
      (select kind, name from ${connections.dialect.rows(placeColumns, chunk)})`.execute(tx)
  }
}

/** They are not there; what does not go in is owned by another stack. */
async function putStackResources(
  { tx, connections: { dialect } }: Draft,
  stackId: string,
  resources: readonly StackResource[],
) {
  for (let from = 0; from < resources.length; from += chunkSize) {
    const chunk = resources.slice(from, from + chunkSize)
    const rows = chunk.map(resource => stackResourceRow(stackId, resource))
    const put = await insertQuery({ tx, dialect, table: 'stack_resources', columns: stackResourceColumns, rows })
      .onConflict(conflict => conflict.column('resource_id').doNothing())
      .returning(sql<string>`resource_id`.as('id'))
      .execute()
    if (put.length === chunk.length) continue
    const owned = new Set(put.map(({ id }) => id))
    for (const { kind, id } of chunk) if (!owned.has(id)) throw new WriteConflict('owner', { kind, id })
  }
}
