// How a collection takes something away: out of its place in one rename, its bytes afterwards. What cannot be taken away
// (busy, immutable, a full disk) is noted and does not keep the rest.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { makeDirectories, removeIfThere, removeTree } from '../../../lib/durable.ts'
import { messageOf } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import { type Layout, statePath } from '../../layout.ts'
import type { StateName } from '../../names.ts'
import { listingPath } from '../listing.ts'
import { recordPath } from '../record.ts'
import { moveToTrash } from '../trash.ts'

export interface Retiring {
  readonly files: Files
  readonly layout: Layout
  readonly failed: { path: string; reason: string }[]
}

/** Removes what is left of a retired thing; null when it could not be retired. */
export type RemoveBytes = (() => void) | null

/** The record goes before the place, so that what is cut short here is no state any more. */
export function retireState(state: StateName, { files, layout, failed }: Retiring): RemoveBytes {
  const place = statePath(layout, state)
  const invalidate = () => {
    removeIfThere(files, listingPath(layout, state))
    removeIfThere(files, recordPath(layout, state))
  }
  return attempt(failed, place, invalidate)
    ? retire(place, () => moveToTrash(files, layout, state), { files, layout, failed })
    : null
}

export function retireGeneration(generation: number, retiring: Retiring): RemoveBytes {
  const { files, layout } = retiring
  const place = join(layout.generations, String(generation))
  const move = () => {
    const trash = join(layout.trash, `generation-${generation}-${randomBytes(6).toString('hex')}`)
    makeDirectories(files, layout.trash)
    files.rename(place, trash)
    return trash
  }
  return retire(place, move, retiring)
}

/** Without room for the trash the bytes go at once, still under the lock: after it, an install may use the same place. */
function retire(place: string, move: () => string, { files, failed }: Retiring): RemoveBytes {
  try {
    const trash = move()
    return () => removeTree(files, trash)
  } catch (error) {
    if (!isSystemError(error)) throw error
    return attempt(failed, place, () => removeTree(files, place)) ? () => {} : null
  }
}

export function attempt(failed: Retiring['failed'], path: string, act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    if (!isSystemError(error)) throw error
    failed.push({ path, reason: messageOf(error) })
    return false
  }
}

const isSystemError = (error: unknown) => error instanceof Error && 'code' in error
