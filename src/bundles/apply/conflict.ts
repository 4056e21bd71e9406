// What somebody else did in between, for people: which resource, and what happened to it.
import { unreachable } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import type { OrderedWrites } from '../plan/ordered-writes.ts'
import type { WriteConflict } from '../store.ts'

export const conflictProblem = (conflict: WriteConflict, path: string): Problem => ({
  code: 'plan.stale',
  path,
  reason: reasonOf(conflict),
})

/** The resource of the plan that a conflict is about; `stack` when it is the record. */
export function conflictPath({ about }: WriteConflict, { platforms }: OrderedWrites): string {
  if (!about) return 'stack'
  for (const writes of platforms.values())
    for (const { write, resource } of writes) if ('id' in write && write.id === about.id) return resource
  return `${about.kind}/${about.id}`
}

function reasonOf({ reason }: WriteConflict): string {
  switch (reason) {
    case 'revision':
      return 'it was changed by somebody else in the meantime'
    case 'display-name':
      return 'its display name was taken by somebody else in the meantime'
    case 'owner':
      return 'another stack has taken it in the meantime'
    case 'gone':
      return 'it was deleted by somebody else in the meantime'
    default:
      return unreachable(reason)
  }
}
