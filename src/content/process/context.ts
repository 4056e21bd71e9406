// What the downloader, the verifier and the manager are given when they start; each of them is a function of it, so that a
// test runs it in its own process and the supervisor in one that is walled in.
import type { Clock } from '../../lib/clock.ts'
import type { Files } from '../../lib/files.ts'
import type { ContentLayout } from '../layout.ts'
import type { Peer } from '../pubsub/peer.ts'

export interface ProcessContext {
  readonly peer: Peer
  readonly layout: ContentLayout
  /** Never fsync, fchmod, fchown or futimes: Node's permission model denies them. Modes are given at open. */
  readonly files: Files
  readonly durability: Durability
  readonly clock: Clock
  readonly random: () => number
  /** One line of text for the log; passes redact. */
  readonly log: (line: string) => void
  /** Aborted when the process is to end. */
  readonly signal: AbortSignal
}

export interface VerifierContext extends ProcessContext {
  /** The only one whose files in pending/ count; undefined where the downloader has no user of its own. */
  readonly downloaderUid: number | undefined
}

/** Makes files survive a power cut. The supervisor does it: a walled-in process may not. */
export interface Durability {
  /** The named files of the directory, then the directory itself, are on disk when it resolves. No names: only the directory. */
  sync(directory: string, names: readonly string[]): Promise<void>
}
