// One transaction of the store while it is being made: what it has done so far, and what has to hold when it ends.
import { sql } from 'kysely'
import type { LiveId } from '../../bundles/platform.ts'
import { WriteConflict } from '../../bundles/store.ts'
import type { Kind } from '../../resources/kind.ts'
import type { Vault } from '../vault.ts'
import type { Connections } from './connections.ts'
import type { Columns } from './dialect.ts'
import { insertRows } from './insert.ts'
import type { FeedRow, Tx } from './tables.ts'

export interface Draft {
  readonly tx: Tx
  readonly connections: Connections
  readonly kinds: ReadonlyMap<string, Kind>
  readonly vault: Vault
  /** One time for everything in it. */
  readonly at: string
  /** Told to those who watch, when it commits. */
  readonly news: FeedRow[]
  readonly removed: Set<string>
  readonly referred: Map<string, LiveId>
}

/** Called last: nothing refers to what is gone, and the feed tells the rest. */
export async function finish(draft: Draft): Promise<void> {
  await refuseDangling(draft)
  await appendFeed(draft)
}

/** Somebody may have begun to refer to what this transaction removes, or removed what it refers to, since it was planned. */
async function refuseDangling({ tx, connections: { dialect }, removed, referred }: Draft) {
  const ids = new Set([...removed, ...referred.keys()])
  if (ids.size === 0) return
  const there = await tx
    .selectFrom('resources')
    .select('id')
    .where(dialect.oneOf(sql.ref('id'), [...ids]))
    .execute()
  for (const { id } of there) ids.delete(id)
  if (ids.size === 0) return
  const dangling = await tx
    .selectFrom('resource_references')
    .innerJoin('resources', 'resources.id', 'resource_references.from_id')
    .select(['resources.kind', 'resources.id', 'resource_references.to_id'])
    .where(dialect.oneOf(sql.ref('resource_references.to_id'), [...ids]))
    .orderBy('resources.id')
    .executeTakeFirst()
  if (!dangling) return
  const { kind, id, to_id } = dangling
  const target = referred.get(to_id)
  throw target ? new WriteConflict('gone', target) : new WriteConflict('revision', { kind, id })
}

const feedColumns: Columns<FeedRow> = {
  at: 'text',
  what: 'text',
  kind: 'text',
  id: 'text',
  name: 'text',
  revision: 'integer',
}

export async function appendFeed({ tx, connections, news }: Pick<Draft, 'tx' | 'connections' | 'news'>): Promise<void> {
  if (news.length === 0) return
  await connections.lockFeed(tx)
  await insertRows({ tx, dialect: connections.dialect, table: 'feed', columns: feedColumns, rows: news })
}
