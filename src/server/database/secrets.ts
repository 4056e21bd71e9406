// Secrets that are put and removed apart from an apply.
import type { Secrets } from '../ports.ts'
import type { Vault } from '../vault.ts'
import type { Connections } from './connections.ts'
import { appendFeed } from './draft.ts'
import type { FeedRow, Tx } from './tables.ts'
import { tellUpdated } from './write.ts'
import { putSecret } from './write-secret.ts'

export function secretsIn(connections: Connections, vault: Vault): Secrets {
  const { db, read, write } = connections
  const usersOf = (tx: Tx, key: string) =>
    tx.selectFrom('secret_uses').select('resource_id as id').where('key', '=', key).execute()
  return {
    put: (key, value, at) =>
      write(async tx => {
        const changed = await putSecret({ tx, vault, at }, { key, value })
        if (!changed) return { changed }
        // Whoever acts on these resources has to act again.
        const news: FeedRow[] = []
        const users = await usersOf(tx, key)
        await tellUpdated(
          { tx, connections, at, news },
          users.map(({ id }) => id),
        )
        await appendFeed({ tx, connections, news })
        return { changed }
      }),
    list: () =>
      read(async tx => {
        const rows = await tx
          .selectFrom('secrets')
          .select(['key', 'created_at as createdAt', 'updated_at as updatedAt'])
          .orderBy('key')
          .execute()
        const uses = await tx
          .selectFrom('secret_uses')
          .innerJoin('resources', 'resources.id', 'secret_uses.resource_id')
          .select(['secret_uses.key', 'resources.kind', 'resources.display_name'])
          .orderBy('resources.kind')
          .orderBy('resources.display_name')
          .execute()
        const byKey = Map.groupBy(uses, ({ key }) => key)
        return rows.map(row => ({
          ...row,
          usedBy: (byKey.get(row.key) ?? []).map(({ kind, display_name }) => `${kind}/${display_name}`),
        }))
      }),
    remove: key =>
      write(async tx => {
        if ((await usersOf(tx, key)).length > 0) return 'used'
        const removed = await tx.deleteFrom('secrets').where('key', '=', key).returning('key').execute()
        return removed.length > 0 ? 'removed' : 'unknown'
      }),
    reveal: async key => {
      const row = await db.selectFrom('secrets').select('sealed').where('key', '=', key).executeTakeFirst()
      return row ? vault.open(row.sealed) : null
    },
  }
}
