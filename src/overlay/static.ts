// The link etc/static: one rename of it switches the whole of /etc from one generation to the next.
import { basename, dirname } from 'node:path'
import type { Files } from '../lib/files.ts'
import type { Layout } from './layout.ts'
import { isStateName, type StateName } from './names.ts'

/** The etc state that /etc shows now; null when nothing is activated. */
export function staticState(files: Files, layout: Layout): StateName | null {
  if (!files.lstat(layout.static)?.isSymbolicLink()) return null
  const state = basename(dirname(files.readlink(layout.static)))
  return isStateName(state) ? state : null
}
