// Bad downloads are kept for a look, the newest few of them; what else lies in quarantine/ is left alone.
import { join } from 'node:path'
import { byName } from '../../lib/by-name.ts'
import { removeIfThere } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import type { Sha256 } from '../messages.ts'
import { quarantinedAt, quarantineNameOf } from './names.ts'

export interface BadCopy {
  readonly path: string
  /** The digest that it should have had. */
  readonly sha256: Sha256
  readonly time: Date
}

/** The copy is gone from where it was, kept or not. */
export function putAway(files: Files, directory: string, keep: number, { path, sha256, time }: BadCopy) {
  if (keep === 0) return removeIfThere(files, path)
  files.rename(path, join(directory, quarantineNameOf(sha256, time)))
  const kept = files.readdir(directory).filter(name => quarantinedAt(name) !== null)
  kept.sort((a, b) => byName(quarantinedAt(b)!, quarantinedAt(a)!) || byName(a, b))
  for (const name of kept.slice(keep)) removeIfThere(files, join(directory, name))
}
