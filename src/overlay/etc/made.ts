// The two kinds of thing at a path below /etc, as values: what Cairn makes there, and what it found there.
import type { Sha256, StateName } from '../names.ts'
import type { Backup, EtcEntry } from './entry.ts'
import type { OwnerIds } from './owners.ts'

export type Made =
  /** Through static; the text follows from the target. */
  | { readonly kind: 'link' }
  | { readonly kind: 'direct'; readonly text: string }
  | MadeCopy
  | { readonly kind: 'directory' }

export interface MadeCopy {
  readonly kind: 'copy'
  readonly state: StateName
  readonly source: string
  readonly sha256: Sha256
  readonly mode: number
  /** Null: as whoever applies, and not compared later. */
  readonly uid: number | null
  readonly gid: number | null
}

export interface Found extends Omit<Backup, 'target'> {
  readonly size: number
  /** Of a link. */
  readonly text?: string
}

export const directory: Made = { kind: 'directory' }

export function madeOf(entry: EtcEntry, ids: OwnerIds): Made {
  switch (entry.kind) {
    case 'link':
      return { kind: 'link' }
    case 'direct':
      return { kind: 'direct', text: entry.text }
    case 'copy': {
      const { state, source, sha256, mode, owner, group } = entry
      const uid = owner === undefined ? ids.uid : (ids.users.get(owner) ?? null)
      const gid = group === undefined ? ids.gid : (ids.groups.get(group) ?? null)
      return { kind: 'copy', state, source, sha256, mode, uid, gid }
    }
  }
}

/** Whether the same thing would stand there; where a copy's bytes come from does not matter. */
export function sameMade(a: Made, b: Made): boolean {
  if (a.kind === 'copy' && b.kind === 'copy')
    return a.sha256 === b.sha256 && a.mode === b.mode && a.uid === b.uid && a.gid === b.gid
  if (a.kind === 'direct' && b.kind === 'direct') return a.text === b.text
  return a.kind === b.kind
}
