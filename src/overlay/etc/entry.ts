// What Prepare says about each path below /etc, and what a generation remembers of having put it there.
import type { EtcTarget, Sha256, StateName } from '../names.ts'

/**
 * link: /etc/<target> leads through static into a state.
 * copy: a file of its own, because it needs a mode or an owner.
 * direct: a link with a text of its own (`foo.service`, `/dev/null`): aliases and masks.
 */
export type EtcEntry = LinkEntry | CopyEntry | DirectEntry

interface EntryBase {
  readonly target: EtcTarget
  /** The package or unit that declared it; shown in conflicts. */
  readonly from: string
  /** Config path of the declaration, for Problems: `packageByNames.nginx.etcFiles[0]`; not kept in a manifest. */
  readonly declaredAt: string
  readonly replaceExisting?: true
  readonly allowProtected?: true
}

export interface LinkEntry extends EntryBase {
  readonly kind: 'link'
  readonly state: StateName
  readonly source: string
  /** Of the file's bytes, or of the tree when the entry names a directory. */
  readonly sha256: Sha256
}

export interface CopyEntry extends EntryBase {
  readonly kind: 'copy'
  readonly state: StateName
  readonly source: string
  readonly sha256: Sha256
  readonly mode: number
  /** Names or +id, as declared; absent means: as whoever applies. */
  readonly owner?: string
  readonly group?: string
}

export interface DirectEntry extends EntryBase {
  readonly kind: 'direct'
  readonly text: string
}

/** `states/etc-<fp>/manifest.json`: entries sorted by target. */
export interface EtcManifest {
  readonly schema: 1
  readonly entries: readonly Undeclared<EtcEntry>[]
}

type Undeclared<E> = E extends EtcEntry ? Omit<E, 'declaredAt'> : never

/**
 * What stood at a target before Cairn took it over. It lies in etc/backup/<target>, a directory in
 * etc/backup/.cairn-directories/.
 */
export interface Backup {
  readonly target: EtcTarget
  readonly what: 'file' | 'link' | 'directory' | 'special'
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly mtimeMs: number
  /** Of the bytes, or of the link text. Null for directories and special files. */
  readonly sha256: Sha256 | null
}

/** What Cairn owns in /etc right now: the truth for stale entries, drift and uninstall. */
export interface OwnedEtc {
  /** Null before the first apply and after uninstall. */
  readonly etcState: StateName | null
  readonly entries: readonly EtcEntry[]
  /** Below /etc, made by Cairn, outermost first. */
  readonly directories: readonly string[]
  readonly backups: readonly Backup[]
}

export const ownsNothing: OwnedEtc = { etcState: null, entries: [], directories: [], backups: [] }
