// What goes: entries that are no longer wanted, links a lost manifest left, directories of ours that empty, and the
// backups that come back in their place. What is no longer as Cairn made it stays, with a warning.
import type { Warning } from '../../lib/problem.ts'
import { byName, type EtcTarget } from '../names.ts'
import type { EtcAction } from './action.ts'
import type { Backup, EtcEntry } from './entry.ts'
import { directory } from './made.ts'
import type { Ground } from './plan-ground.ts'
import { aliasLeft, backupKept, backupLost, leftInPlace } from './problems.ts'
import { ancestorsOf } from './target.ts'

export interface Departures {
  /** To be done from the inside outwards. */
  readonly actions: ReadonlyMap<EtcTarget, EtcAction>
  /** Still needed, or holding what is not ours. */
  readonly keptDirectories: readonly EtcTarget[]
  readonly keptBackups: readonly Backup[]
  readonly warnings: readonly Warning[]
  /** Targets that are let go although something stands there. */
  readonly left: ReadonlySet<EtcTarget>
}

export function planDepartures(ground: Ground): Departures {
  const { wantedBy, ownedBy, backupOf, neededDirectories, owned, live } = ground
  const actions = new Map<EtcTarget, EtcAction>()
  const warnings: Warning[] = []
  const left = new Set<EtcTarget>()
  const isTaken = (target: EtcTarget) => wantedBy.has(target) || neededDirectories.has(target)

  for (const entry of owned.entries) {
    if (isTaken(entry.target)) continue
    const found = live.targets.get(entry.target)!
    if (found.is === 'ours' || found.is === 'absent') release(ground, entry, actions)
    else if (found.is !== 'bad-parent' || found.found.is !== 'ours') {
      left.add(entry.target)
      warnings.push(leftInPlace(entry.target, found, live.readAt))
    }
  }
  for (const { target, text, own } of ground.scan?.links ?? []) {
    if (isTaken(target) || ownedBy.has(target)) continue
    if (own) actions.set(target, { do: 'remove', target, was: { kind: 'direct', text }, why: 'stray' })
    else warnings.push(aliasLeft(target, text))
  }
  const keptDirectories = planDirectories(ground, actions)

  const keptBackups: Backup[] = []
  for (const backup of owned.backups) {
    const { target } = backup
    const isThere = backupOf.has(target)
    if (isThere && !isTaken(target) && live.targets.get(target)?.is === 'absent' && !actions.has(target))
      actions.set(target, { do: 'give-back', target, backup, was: directory })
    if (actions.get(target)?.do === 'give-back' || (isThere && comesBackBelow(ground, backup))) continue
    if (isThere) keptBackups.push(backup)
    if (isThere && !isTaken(target)) warnings.push(backupKept(target))
    if (!isThere && actions.has(target)) warnings.push(backupLost(target))
  }
  return { actions, keptDirectories, keptBackups, warnings, left }
}

/** A directory that was taken over whole, where entries are wanted now that lie in it: they come after it (arrivals). */
function comesBackBelow({ wantedBy, neededDirectories, live }: Ground, { target, what }: Backup): boolean {
  if (what !== 'directory' || wantedBy.has(target) || !neededDirectories.has(target)) return false
  const found = live.targets.get(target)
  return found?.is === 'ours' || (found?.is === 'absent' && found.missing.length === 0)
}

function release({ backupOf, made, live }: Ground, entry: EtcEntry, actions: Map<EtcTarget, EtcAction>) {
  const { target } = entry
  const backup = backupOf.get(target)
  const found = live.targets.get(target)!
  const was = found.is === 'ours' ? found.made : made(entry)
  if (backup) actions.set(target, { do: 'give-back', target, backup, was })
  else if (found.is === 'ours') actions.set(target, { do: 'remove', target, was, why: 'no longer wanted' })
}

/** Decides about the directories of ours, innermost first; returns those that stay ours. */
function planDirectories(ground: Ground, actions: Map<EtcTarget, EtcAction>): EtcTarget[] {
  const { ownedDirectories, neededDirectories, wantedBy, backupOf, live } = ground
  const kept: EtcTarget[] = []
  for (const target of [...ownedDirectories].sort(byName).reverse()) {
    const names = live.directories.get(target)
    if (neededDirectories.has(target)) kept.push(target)
    else if (names === undefined || wantedBy.has(target)) continue
    else if (names.some(name => actions.get(`${target}/${name}` as EtcTarget)?.do !== 'remove')) {
      // Below a wanted entry it goes into the backup with all that is in it, or the entry is a conflict.
      if (!ancestorsOf(target).some(path => wantedBy.has(path))) kept.push(target)
    } else {
      const backup = backupOf.get(target)
      if (backup) actions.set(target, { do: 'give-back', target, backup, was: directory })
      else actions.set(target, { do: 'remove', target, was: directory, why: 'no longer wanted' })
    }
  }
  return kept
}
