// What controllers and machines report of a resource. It moves neither revision nor updated_at: a plan does not rest on it.
import type { Clock } from '../../lib/clock.ts'
import type { Spec } from '../../resources/kind.ts'
import type { Connections } from './connections.ts'
import { appendFeed } from './draft.ts'

export async function setStatus(
  connections: Connections,
  clock: Clock,
  { id, status }: { readonly id: string; readonly status: Spec },
): Promise<boolean> {
  const text = JSON.stringify(status)
  const before = await connections.db.selectFrom('resources').select('status').where('id', '=', id).executeTakeFirst()
  if (!before) return false
  if (before.status === text) return true
  return connections.write(async tx => {
    const row = await tx
      .updateTable('resources')
      .set({ status: text })
      .where('id', '=', id)
      .returning(['kind', 'display_name as name', 'revision'])
      .executeTakeFirst()
    if (!row) return false
    const news = [{ at: clock.now().toISOString(), what: 'status', id, ...row }]
    await appendFeed({ tx, connections, news })
    return true
  })
}
