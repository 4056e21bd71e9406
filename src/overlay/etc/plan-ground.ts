// What both halves of the plan ask again and again, indexed once.
import type { EtcTarget } from '../names.ts'
import type { Backup, EtcEntry } from './entry.ts'
import { type Made, madeOf } from './made.ts'
import type { EtcPlanView } from './plan.ts'
import { ancestorsOf } from './target.ts'

export interface Ground extends EtcPlanView {
  readonly wantedBy: ReadonlyMap<EtcTarget, EtcEntry>
  readonly ownedBy: ReadonlyMap<EtcTarget, EtcEntry>
  /** Directories that wanted targets lie in. */
  readonly neededDirectories: ReadonlySet<EtcTarget>
  readonly ownedDirectories: ReadonlySet<EtcTarget>
  /** Those that are really there. */
  readonly backupOf: ReadonlyMap<EtcTarget, Backup>
  readonly made: (entry: EtcEntry) => Made
}

export function groundOf(view: EtcPlanView): Ground {
  const { wanted, owned, live, ids } = view
  return {
    ...view,
    wantedBy: new Map(wanted.entries.map(entry => [entry.target, entry])),
    ownedBy: new Map(owned.entries.map(entry => [entry.target, entry])),
    neededDirectories: new Set(wanted.entries.flatMap(({ target }) => ancestorsOf(target))),
    ownedDirectories: new Set(owned.directories as readonly EtcTarget[]),
    backupOf: new Map(owned.backups.filter(({ target }) => live.backups.has(target)).map(each => [each.target, each])),
    made: entry => madeOf(entry, ids),
  }
}

/** Every directory that one of these lies in. */
export const above = (targets: Iterable<EtcTarget>): Set<EtcTarget> => new Set([...targets].flatMap(ancestorsOf))
