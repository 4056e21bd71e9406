import type { Role, Token, Tokens } from '../ports.ts'
import type { Connections } from './connections.ts'
import type { Tables } from './tables.ts'

export function tokensIn({ db, write }: Connections): Tokens {
  return {
    add: ({ id, name, role, machine, createdAt, expiresAt, revokedAt }, hash) =>
      write(async tx => {
        await tx
          .insertInto('tokens')
          .values({
            id,
            name,
            role,
            machine: machine ?? null,
            hash,
            created_at: createdAt,
            expires_at: expiresAt ?? null,
            revoked_at: revokedAt ?? null,
          })
          .execute()
      }),
    find: async id => {
      const row = await db.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirst()
      return row ? { token: tokenOf(row), hash: row.hash } : null
    },
    list: async () => {
      const rows = await db.selectFrom('tokens').selectAll().orderBy('created_at').orderBy('id').execute()
      return rows.map(tokenOf)
    },
    revoke: (id, at) =>
      write(async tx => {
        const revoked = await tx
          .updateTable('tokens')
          .set({ revoked_at: at })
          .where('id', '=', id)
          .where('revoked_at', 'is', null)
          .returning('id')
          .execute()
        return revoked.length > 0
      }),
  }
}

const tokenOf = (row: Tables['tokens']): Token => ({
  id: row.id,
  name: row.name,
  role: row.role as Role,
  ...(row.machine !== null && { machine: row.machine }),
  createdAt: row.created_at,
  ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
})
