// Turns declared owners and groups (names, or +id) into numbers, by the machine's own passwd and group. An unknown name
// is a Problem, never a fallback to root.
import { join } from 'node:path'
import type { Files } from '../../lib/files.ts'
import type { Problem } from '../../lib/problem.ts'
import { findProgram, run } from '../../lib/run.ts'
import type { Layout } from '../layout.ts'
import type { CopyEntry, EtcEntry } from './entry.ts'
import { ownerNotPermitted, unknownOwner } from './problems.ts'

/** Declared name or +id -> number. */
export interface OwnerIds {
  readonly users: ReadonlyMap<string, number>
  readonly groups: ReadonlyMap<string, number>
  /** For copies that declare none. Null: as whoever applies. */
  readonly uid: number | null
  readonly gid: number | null
}

/** Who applies, and how names are found that are not in the files. */
export interface Applier {
  readonly uid: number
  readonly groups: readonly number[]
  /** Null when nobody knows the name. */
  readonly lookUp: (database: Database, name: string) => Promise<number | null>
}

export type Database = 'passwd' | 'group'

/**
 * Problems are about `wanted` only: an owned entry whose user is gone since is still looked at and removed.
 * On the machine itself a copy without an owner belongs to root; below --root, to whoever applies.
 */
export async function resolveOwners(
  { files, layout, applier }: { files: Files; layout: Layout; applier: Applier },
  { wanted, owned }: { wanted: readonly EtcEntry[]; owned: readonly EtcEntry[] },
): Promise<{ ids: OwnerIds; problems: Problem[] }> {
  const copies = [...wanted, ...owned].filter((entry): entry is CopyEntry => entry.kind === 'copy')
  const isLive = layout.prefix === ''
  const resolveAll = async (database: Database, declared: Iterable<string>) => {
    const ids = new Map<string, number>()
    const known = memo(() => readDatabase(files, layout, database))
    for (const name of new Set(declared)) {
      const id = numberOf(name) ?? known().get(name) ?? (isLive ? await lookUpName(applier, database, name) : null)
      if (id !== null) ids.set(name, id)
    }
    return ids
  }
  const declared = (field: 'owner' | 'group') => copies.flatMap(copy => copy[field] ?? [])
  const users = await resolveAll('passwd', declared('owner'))
  const groups = await resolveAll('group', declared('group'))
  return {
    ids: { users, groups, uid: isLive ? 0 : null, gid: isLive ? 0 : null },
    problems: wanted.flatMap(entry => (entry.kind === 'copy' ? problemsOf(entry, users, groups, applier) : [])),
  }
}

/** The process itself; directory services are asked through getent, where the machine has it. */
export function thisProcess(): Applier {
  return {
    uid: process.geteuid?.() ?? 0,
    groups: [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])],
    lookUp: async (database, name) => {
      const getent = findProgram('getent')
      if (!getent) return null
      const { code, stdout } = await run(getent, ['--', database, name], { timeoutMs: 30_000 })
      return code === 0 ? idOfLine(stdout.split('\n')[0] ?? '') : null
    },
  }
}

function problemsOf(
  entry: CopyEntry,
  users: ReadonlyMap<string, number>,
  groups: ReadonlyMap<string, number>,
  { uid, groups: ownGroups }: Applier,
): Problem[] {
  const check = (field: 'owner' | 'group', ids: ReadonlyMap<string, number>, allowed: (id: number) => boolean) => {
    const name = entry[field]
    if (name === undefined) return []
    const id = ids.get(name)
    if (id === undefined) return [unknownOwner(entry, field, name)]
    return uid === 0 || allowed(id) ? [] : [ownerNotPermitted(entry, field, name)]
  }
  return [...check('owner', users, id => id === uid), ...check('group', groups, id => ownGroups.includes(id))]
}

/** The largest id is the kernel's "no id". */
function numberOf(declared: string): number | null {
  if (!/^\+\d{1,10}$/.test(declared)) return null
  const id = Number(declared.slice(1))
  return id < 0xffff_ffff ? id : null
}

/** getent takes a name of digits for an id. */
const lookUpName = (applier: Applier, database: Database, name: string) =>
  /^[+\d]*$/.test(name) ? null : applier.lookUp(database, name)

function readDatabase(files: Files, layout: Layout, database: Database): Map<string, number> {
  const ofRoot = join(layout.etc, database)
  const path = files.lstat(ofRoot) ? ofRoot : `/etc/${database}`
  const ids = new Map<string, number>()
  if (!files.lstat(path)) return ids
  for (const line of files.readFile(path).toString('utf8').split('\n')) {
    const name = line.slice(0, line.indexOf(':'))
    const id = idOfLine(line)
    if (name !== '' && id !== null && !ids.has(name)) ids.set(name, id)
  }
  return ids
}

/** Both files have the number in the third field. */
function idOfLine(line: string): number | null {
  const field = line.split(':')[2]
  return field !== undefined && /^\d+$/.test(field) ? Number(field) : null
}

function memo<T>(make: () => T): () => T {
  let value: { of: T } | undefined
  return () => {
    value ??= { of: make() }
    return value.of
  }
}
