// What is thrown away leaves its place in one rename and is deleted afterwards: nobody ever sees half of it there.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import { type Layout, statePath } from '../layout.ts'
import type { StateName } from '../names.ts'

/** Returns where it is now; the caller deletes it, or gc does. Not durable by itself. */
export function moveToTrash(files: Files, layout: Layout, state: StateName): string {
  const from = statePath(layout, state)
  const to = join(layout.trash, `${state}-${randomBytes(6).toString('hex')}`)
  makeDirectories(files, layout.trash)
  // A directory can change its parent only while its owner may write to it.
  if (files.lstat(from)?.isDirectory()) files.chmod(from, 0o755)
  files.rename(from, to)
  return to
}
