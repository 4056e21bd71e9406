// Create, update and restore of many resources: checks as if one were written after the other, then a few statements.
import { sql } from 'kysely'
import type { Write } from '../../bundles/platform.ts'
import { WriteConflict } from '../../bundles/store.ts'
import { unreachable } from '../../lib/errors.ts'
import { markedFields, secretKeyOf } from '../../resources/fields.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { Columns } from './dialect.ts'
import type { Draft } from './draft.ts'
import { insertQuery, insertRows } from './insert.ts'
import type { ReferenceRow, ResourceRow, SecretUseRow } from './tables.ts'

type Put = Extract<Write, { do: 'create' | 'update' | 'restore' }>
type Current = Pick<ResourceRow, 'id' | 'family' | 'unique_name' | 'revision' | 'created_at'>
/** What a write sets; the rest of a row belongs to controllers. */
type PutRow = Omit<ResourceRow, 'status' | 'controller_kind' | 'controller_id'>

/** No id twice. */
export async function putResources(draft: Draft, writes: readonly Put[]): Promise<void> {
  const { kinds, at, news, referred } = draft
  const current = await readCurrent(draft, writes)
  for (const write of writes) refuseOutdated(write, current.get(write.id))

  const rows: PutRow[] = []
  const references: ReferenceRow[] = []
  const secretUses: SecretUseRow[] = []
  for (const write of writes) {
    const kind = kinds.get(write.kind)
    if (!kind) throw new Error(`the platform has no kind ${write.kind}`)
    const before = current.get(write.id)
    const row = rowOf({ write, kind, before, at })
    rows.push(row)
    const targets = new Map(write.refersTo.map(({ kind, id }) => [id, { kind, id }]))
    for (const [id, target] of targets) {
      references.push({ from_id: write.id, to_id: id })
      referred.set(id, target)
    }
    for (const key of secretKeys(kind, write.spec)) secretUses.push({ resource_id: write.id, key })
    news.push({
      at,
      what: before ? 'updated' : 'created',
      kind: write.kind,
      id: write.id,
      name: write.displayName,
      revision: row.revision,
    })
  }
  await refuseTakenNames(draft, rows, current)
  await upsert(draft, rows)
  await replaceBeside(draft, [...current.keys()], { references, secretUses })
}

async function readCurrent({ tx, connections: { dialect } }: Draft, writes: readonly Put[]) {
  const ids = writes.map(({ id }) => id)
  const rows: Current[] = await tx
    .selectFrom('resources')
    .select(['id', 'family', 'unique_name', 'revision', 'created_at'])
    .where(dialect.oneOf(sql.ref('id'), ids))
    .execute()
  return new Map(rows.map(row => [row.id, row]))
}

function refuseOutdated(write: Put, current: Current | undefined) {
  const about = { kind: write.kind, id: write.id }
  switch (write.do) {
    case 'create':
      if (current) throw new WriteConflict('revision', about)
      return
    case 'update':
      if (!current) throw new WriteConflict('gone', about)
      if (current.revision !== write.ifRevision) throw new WriteConflict('revision', about)
      return
    case 'restore':
      if (current && write.ifRevision !== undefined && current.revision !== write.ifRevision)
        throw new WriteConflict('revision', about)
      return
    default:
      return unreachable(write)
  }
}

interface RowParts {
  readonly write: Put
  readonly kind: Kind
  readonly before: Current | undefined
  readonly at: string
}

const rowOf = ({ write, kind, before, at }: RowParts): PutRow => ({
  id: write.id,
  kind: write.kind,
  family: kind.family,
  api_version: write.apiVersion,
  display_name: write.displayName,
  unique_name: kind.displayName.unique ? write.displayName : null,
  spec: JSON.stringify(write.spec),
  revision: (before?.revision ?? 0) + 1,
  created_at: before?.created_at ?? at,
  updated_at: at,
})

function secretKeys(kind: Kind, spec: Spec): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const { mark, value } of markedFields(kind.spec, spec)) {
    const key = mark.secret && secretKeyOf(value)
    if (key !== undefined) keys.add(key)
  }
  return keys
}

/** Each row in turn lets go of its old name and takes its new one; the index would refuse the same, but not say which. */
async function refuseTakenNames(draft: Draft, rows: readonly PutRow[], current: ReadonlyMap<string, Current>) {
  const renamed = rows.filter(row => row.unique_name !== null && current.get(row.id)?.unique_name !== row.unique_name)
  const holders = await readHolders(draft, renamed)
  const place = ({ family, unique_name }: Pick<PutRow, 'family' | 'unique_name'>) => `${family}/${unique_name}`
  for (const row of renamed) {
    const before = current.get(row.id)
    if (before && holders.get(place(before)) === row.id) holders.delete(place(before))
    if (holders.has(place(row))) throw new WriteConflict('display-name', { kind: row.kind, id: row.id })
    holders.set(place(row), row.id)
  }
}

async function readHolders({ tx, connections: { dialect } }: Draft, rows: readonly PutRow[]) {
  const holders = new Map<string, string>()
  for (const [family, members] of Map.groupBy(rows, row => row.family)) {
    const names = members.map(row => row.display_name)
    const found = await tx
      .selectFrom('resources')
      .select(['id', 'unique_name'])
      .where('family', '=', family)
      .where(dialect.oneOf(sql.ref('unique_name'), names))
      .execute()
    for (const { id, unique_name } of found) holders.set(`${family}/${unique_name}`, id)
  }
  return holders
}

const putColumns: Columns<PutRow> = {
  id: 'text',
  kind: 'text',
  family: 'text',
  api_version: 'text',
  display_name: 'text',
  unique_name: 'text',
  spec: 'text',
  revision: 'integer',
  created_at: 'text',
  updated_at: 'text',
}

async function upsert({ tx, connections: { dialect } }: Draft, rows: readonly PutRow[]) {
  await insertQuery({ tx, dialect, table: 'resources', columns: putColumns, rows })
    .onConflict(conflict =>
      conflict.column('id').doUpdateSet({
        kind: sql`excluded.kind`,
        family: sql`excluded.family`,
        api_version: sql`excluded.api_version`,
        display_name: sql`excluded.display_name`,
        unique_name: sql`excluded.unique_name`,
        spec: sql`excluded.spec`,
        revision: sql`excluded.revision`,
        updated_at: sql`excluded.updated_at`,
      }),
    )
    .execute()
}

const referenceColumns: Columns<ReferenceRow> = { from_id: 'text', to_id: 'text' }
const secretUseColumns: Columns<SecretUseRow> = { resource_id: 'text', key: 'text' }

interface Beside {
  readonly references: readonly ReferenceRow[]
  readonly secretUses: readonly SecretUseRow[]
}

async function replaceBeside(draft: Draft, oldIds: readonly string[], { references, secretUses }: Beside) {
  const { tx, connections } = draft
  const { dialect } = connections
  if (oldIds.length > 0) {
    await tx
      .deleteFrom('resource_references')
      .where(dialect.oneOf(sql.ref('from_id'), oldIds))
      .execute()
    await tx
      .deleteFrom('secret_uses')
      .where(dialect.oneOf(sql.ref('resource_id'), oldIds))
      .execute()
  }
  await insertRows({ tx, dialect, table: 'resource_references', columns: referenceColumns, rows: references })
  await insertRows({ tx, dialect, table: 'secret_uses', columns: secretUseColumns, rows: secretUses })
}
