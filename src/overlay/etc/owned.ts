// What an apply wants of /etc, and what Cairn owns there when an apply stopped half way.
import { byName, type EtcTarget, type StateName } from '../names.ts'
import type { EtcEntry, OwnedEtc } from './entry.ts'

/** Null and empty is an uninstall. */
export interface WantedEtc {
  readonly etcState: StateName | null
  readonly entries: readonly EtcEntry[]
}

/** Going back to a generation takes over again what it had taken over, whatever its entries said by then. */
export function wantedAgain({ etcState, entries, backups }: OwnedEtc): WantedEtc {
  const takenOver = new Set(backups.map(({ target }) => target))
  return {
    etcState,
    entries: entries.map(entry => (takenOver.has(entry.target) ? { ...entry, replaceExisting: true } : entry)),
  }
}

/**
 * Between two generations, when not all steps from one to the other were done: everything that either owns. Plan with
 * this to get out of a half-done switch; readLive finds out which of the backups are still there.
 */
export function ownedBetween(from: OwnedEtc, to: OwnedEtc): OwnedEtc {
  return {
    etcState: to.etcState,
    entries: union(from.entries, to.entries),
    directories: [...new Set([...from.directories, ...to.directories])].sort(byName),
    backups: union(from.backups, to.backups),
  }
}

function union<T extends { readonly target: EtcTarget }>(older: readonly T[], newer: readonly T[]): T[] {
  const byTarget = new Map([...older, ...newer].map(item => [item.target, item]))
  return [...byTarget.values()].sort((a, b) => byName(a.target, b.target))
}
