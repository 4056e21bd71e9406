// The control plane as a platform: its live resources. They are written in transactions of the store only.
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Live, LiveId, Platform } from '../../bundles/platform.ts'
import type { Kind } from '../../resources/kind.ts'
import type { Vault } from '../vault.ts'
import type { Connections } from './connections.ts'
import { cursorOf, placeAt } from './cursor.ts'
import type { Columns } from './dialect.ts'
import type { ResourceRow, Tables, Tx } from './tables.ts'

interface PlatformParts {
  readonly connections: Connections
  readonly kinds: readonly Kind[]
  readonly vault: Vault
}

const wantedColumns: Columns<{ kind: string; name: string }> = { kind: 'text', name: 'text' }

export function resourcePlatform({ connections, kinds, vault }: PlatformParts): Platform {
  const { db, read, dialect } = connections

  const livesOf = async (tx: Tx, rows: readonly ResourceRow[]): Promise<Live[]> => {
    const associations = await readAssociations(
      tx,
      rows.map(({ id }) => id),
    )
    return rows.map(row =>
      liveOf(
        row,
        (associations.get(row.id) ?? []).map(({ kind, id }) => ({ kind, id })),
      ),
    )
  }
  const readAssociations = async (tx: Tx, ids: readonly string[]) => {
    if (ids.length === 0) return new Map<string, never>()
    const rows = await tx
      .selectFrom('associations')
      .select(['from_id', 'to_id as id', 'to_kind as kind'])
      .where(dialect.oneOf(sql.ref('from_id'), ids))
      .orderBy('to_id')
      .execute()
    return Map.groupBy(rows, ({ from_id }) => from_id)
  }

  return {
    name: '',
    kinds,
    transaction: 'shared',
    clientIds: true,

    read: ids =>
      read(async tx => {
        const wanted = new Map(ids.map(({ kind, id }) => [id, kind]))
        const rows = await tx
          .selectFrom('resources')
          .selectAll()
          .where(dialect.oneOf(sql.ref('id'), [...wanted.keys()]))
          .execute()
        const lives = await livesOf(
          tx,
          rows.filter(({ id, kind }) => wanted.get(id) === kind),
        )
        return new Map(lives.map(live => [live.id, live]))
      }),

    find: wanted =>
      read(async tx => {
        const names = wanted.map(({ kind, displayName }) => ({ kind, name: displayName }))
        const rows = await tx
          .selectFrom('resources as resource')
          .selectAll('resource')
          .where(
            sql<boolean>`(resource.kind, resource.display_name) in
              (select kind, name from ${dialect.rows(wantedColumns, names)})`,
          )
          .orderBy('resource.id')
          .execute()
        return livesOf(tx, rows)
      }),

    list: (filter, { limit, cursor }) =>
      read(async tx => {
        let query = tx.selectFrom('resources').selectAll().orderBy('id')
        if (filter.kinds) query = query.where(dialect.oneOf(sql.ref('kind'), filter.kinds))
        if (filter.displayNames) query = query.where(dialect.oneOf(sql.ref('display_name'), filter.displayNames))
        if (filter.labels) query = carriesOneOf(query, filter.labels)
        if (cursor !== undefined) query = query.where('id', '>', placeAt(cursor, 1)[0] ?? '')
        const rows = await query.limit(limit + 1).execute()
        const resources = await livesOf(tx, rows.slice(0, limit))
        const last = resources.at(-1)
        return rows.length > limit && last ? { resources, next: cursorOf(last.id) } : { resources }
      }),

    referrers: async ids => {
      const rows = await db
        .selectFrom('resource_references as reference')
        .innerJoin('resources as referrer', 'referrer.id', 'reference.from_id')
        .select(['referrer.kind', 'referrer.id', 'referrer.display_name', 'reference.to_id'])
        .where(dialect.oneOf(sql.ref('reference.to_id'), ids))
        .orderBy('referrer.id')
        .orderBy('reference.to_id')
        .execute()
      return rows.map(({ kind, id, display_name: displayName, to_id: to }) => ({ from: { kind, id, displayName }, to }))
    },

    secrets: {
      fingerprints: async keys => {
        const rows = await db
          .selectFrom('secrets')
          .select(['key', 'fingerprint'])
          .where(dialect.oneOf(sql.ref('key'), keys))
          .execute()
        return new Map(rows.map(({ key, fingerprint }) => [key, fingerprint]))
      },
      fingerprint: vault.fingerprint,
      sealed: async key => {
        const row = await db.selectFrom('secrets').select('sealed').where('key', '=', key).executeTakeFirst()
        return row?.sealed ?? null
      },
    },
  }

  function carriesOneOf<Output>(query: SelectQueryBuilder<Tables, 'resources', Output>, labels: readonly string[]) {
    return query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('associations')
          .innerJoin('resources as label', 'label.id', 'associations.to_id')
          .select('associations.to_id')
          .whereRef('associations.from_id', '=', 'resources.id')
          .where(dialect.oneOf(sql.ref('label.display_name'), labels)),
      ),
    )
  }
}

const liveOf = (row: ResourceRow, associations: readonly LiveId[]): Live => ({
  kind: row.kind,
  id: row.id,
  apiVersion: row.api_version,
  displayName: row.display_name,
  spec: JSON.parse(row.spec),
  associations,
  revision: row.revision,
  status: row.status === null ? null : JSON.parse(row.status),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...(row.controller_kind !== null &&
    row.controller_id !== null && { controlledBy: { kind: row.controller_kind, id: row.controller_id } }),
})
