// Who watches reads from here. Numbers are in the order of commits: what is seen once is never followed by a smaller one.
import type { Feed, FeedEvent } from '../ports.ts'
import type { Connections } from './connections.ts'

export function feedIn({ db, onFeed }: Connections): Feed {
  return {
    last: async () => {
      const row = await db
        .selectFrom('feed')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .executeTakeFirst()
      return row?.seq ?? 0
    },
    first: async () => {
      const row = await db
        .selectFrom('feed')
        .select(({ fn }) => fn.min('seq').as('seq'))
        .executeTakeFirst()
      return row?.seq ?? 1
    },
    since: async (seq, limit) => {
      const rows = await db.selectFrom('feed').selectAll().where('seq', '>', seq).orderBy('seq').limit(limit).execute()
      return rows.map(row => ({ ...row, what: row.what as FeedEvent['what'] }))
    },
    onChange: onFeed,
  }
}
