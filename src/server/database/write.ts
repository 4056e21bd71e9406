// Writes of the shared platform, many at once. The order of the writes is kept where it can matter: a run of one sort goes
// down as a few statements, which take the rows in their order.
// Holds: who reads a revision and writes on it finds out when another wrote in between; a write that changes nothing of an
// association or a secret leaves no trace.
import { sql } from 'kysely'
import type { LiveId, Write } from '../../bundles/platform.ts'
import { WriteConflict } from '../../bundles/store.ts'
import { unreachable } from '../../lib/errors.ts'
import type { Columns } from './dialect.ts'
import type { Draft } from './draft.ts'
import { chunkSize, insertQuery } from './insert.ts'
import { putResources } from './put-resources.ts'
import type { AssociationRow } from './tables.ts'
import { putSecret, restoreSecret } from './write-secret.ts'

export async function writeAll(draft: Draft, writes: readonly Write[]): Promise<void> {
  for (let next = 0; next < writes.length; ) {
    const run = runAt(writes, next)
    next += run.length
    await writeRun(draft, run)
  }
}

type Put = Extract<Write, { do: 'create' | 'update' | 'restore' }>
type Remove = Extract<Write, { do: 'remove' }>
type Associate = Extract<Write, { do: 'associate' | 'dissociate' }>

const isPut = (write: Write): write is Put => write.do === 'create' || write.do === 'update' || write.do === 'restore'

/** As many of one sort as follow each other; nothing twice in one run. */
function runAt(writes: readonly Write[], from: number): readonly Write[] {
  const first = writes[from] as Write
  const seen = new Set<string>()
  let end = from
  for (; end < writes.length && end - from < chunkSize; end++) {
    const write = writes[end] as Write
    if (isPut(first) ? !isPut(write) : write.do !== first.do) break
    const about = 'id' in write ? write.id : 'from' in write ? `${write.from.id} ${write.to.id}` : write.key
    if (seen.has(about)) break
    seen.add(about)
  }
  return writes.slice(from, end)
}

async function writeRun(draft: Draft, run: readonly Write[]): Promise<void> {
  const first = run[0] as Write
  switch (first.do) {
    case 'create':
    case 'update':
    case 'restore':
      return putResources(draft, run as readonly Put[])
    case 'remove':
      return remove(draft, run as readonly Remove[])
    case 'associate':
      return associate(draft, run as readonly Associate[])
    case 'dissociate':
      return dissociate(draft, run as readonly Associate[])
    case 'put-secret':
      for (const write of run) if (write.do === 'put-secret') await putSecret(draft, write)
      return
    case 'restore-secret':
      for (const write of run) if (write.do === 'restore-secret') await restoreSecret(draft, write)
      return
    default:
      return unreachable(first)
  }
}

/** What is gone already is as it should be. Associations at either end and references go along. */
async function remove({ tx, connections: { dialect }, at, news, removed }: Draft, writes: readonly Remove[]) {
  const ids = writes.map(({ id }) => id)
  const rows = await tx
    .selectFrom('resources')
    .select(['id', 'kind', 'display_name', 'revision'])
    .where(dialect.oneOf(sql.ref('id'), ids))
    .execute()
  const there = new Map(rows.map(row => [row.id, row]))
  for (const { kind, id, ifRevision } of writes) {
    const row = there.get(id)
    if (!row) continue
    if (ifRevision !== undefined && row.revision !== ifRevision) throw new WriteConflict('revision', { kind, id })
    removed.add(id)
    news.push({ at, what: 'deleted', kind: row.kind, id, name: row.display_name, revision: row.revision })
  }
  await tx
    .deleteFrom('resources')
    .where(dialect.oneOf(sql.ref('id'), [...there.keys()]))
    .execute()
}

const associationColumns: Columns<AssociationRow> = { from_id: 'text', to_id: 'text', to_kind: 'text' }

const associationRow = ({ from, to }: Associate): AssociationRow => ({
  from_id: from.id,
  to_id: to.id,
  to_kind: to.kind,
})

async function associate(draft: Draft, writes: readonly Associate[]) {
  const { tx, connections } = draft
  const ends = new Map<string, LiveId>(writes.flatMap(({ from, to }) => [from, to].map(end => [end.id, end] as const)))
  const there = await tx
    .selectFrom('resources')
    .select('id')
    .where(connections.dialect.oneOf(sql.ref('id'), [...ends.keys()]))
    .execute()
  for (const { id } of there) ends.delete(id)
  for (const { kind, id } of ends.values()) throw new WriteConflict('gone', { kind, id })
  const added = await insertQuery({
    tx,
    dialect: connections.dialect,
    table: 'associations',
    columns: associationColumns,
    rows: writes.map(associationRow),
  })
    .onConflict(conflict => conflict.doNothing())
    .returning(sql<string>`from_id`.as('id'))
    .execute()
  await tellUpdated(
    draft,
    added.map(({ id }) => id),
  )
}

async function dissociate(draft: Draft, writes: readonly Associate[]) {
  const { tx, connections } = draft
  const { rows } = await sql<{ id: string }>`
    delete from associations where (from_id, to_id) in
      (select from_id, to_id from ${connections.dialect.rows(associationColumns, writes.map(associationRow))})
    returning from_id as id`.execute(tx)
  await tellUpdated(
    draft,
    rows.map(({ id }) => id),
  )
}

/** Their revision stays: it is of the spec, and a plan that rests on it is not stale. */
export async function tellUpdated(
  { tx, connections: { dialect }, at, news }: Pick<Draft, 'tx' | 'connections' | 'at' | 'news'>,
  ids: readonly string[],
): Promise<void> {
  const told = new Set(news.map(({ id }) => id))
  const untold = [...new Set(ids)].filter(id => !told.has(id))
  if (untold.length === 0) return
  const rows = await tx
    .selectFrom('resources')
    .select(['id', 'kind', 'display_name', 'revision'])
    .where(dialect.oneOf(sql.ref('id'), untold))
    .orderBy('id')
    .execute()
  for (const { id, kind, display_name: name, revision } of rows)
    news.push({ at, what: 'updated', kind, id, name, revision })
}
