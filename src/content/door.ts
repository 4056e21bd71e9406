// The one door through which bytes from elsewhere enter a machine: ask, wait until they are verified, use them, let go.
// Behind it are the downloader, the verifier and the manager, started for the time of the request or running already.
import type { Progress } from '../lib/progress.ts'
import type { ContentRef, ContentStatus, Scope } from './messages.ts'

export interface ContentRequest {
  readonly scope: Scope
  readonly ref: ContentRef
  readonly progress: Progress
  readonly signal: AbortSignal
  /** Names the work beside its bar: `containerd 1.7.0`. */
  readonly label: string
}

export interface HeldContent {
  /** `verified`, with a path for every blob. */
  readonly status: ContentStatus
  /** The blobs may go from here on. May be called again; does nothing then. */
  release(): void
}

export interface ContentDoor {
  /** Throws a ContentFailure (ask.ts) when it cannot be had; what is tried again soon is waited for. */
  fetch(request: ContentRequest): Promise<HeldContent>
}
