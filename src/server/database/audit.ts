import type { Audit, Role } from '../ports.ts'
import type { Connections } from './connections.ts'

export function auditIn({ db, write }: Connections): Audit {
  return {
    add: ({ at, who, role, action, target, status, detail }) =>
      write(async tx => {
        await tx
          .insertInto('audit')
          .values({ at, who, role, action, target, status, detail: JSON.stringify(detail) })
          .execute()
      }),
    list: async ({ limit, before }) => {
      let query = db.selectFrom('audit').selectAll().orderBy('seq', 'desc').limit(limit)
      if (before !== undefined) query = query.where('seq', '<', before)
      const rows = await query.execute()
      return rows.map(row => ({ ...row, role: row.role as Role, detail: JSON.parse(row.detail) }))
    },
  }
}
