// What every kind of volume can do. The manager decides when; a kind only makes, removes and looks.

import type { ContentStatus, VolumeConfig } from '../../content/messages.ts'
import type { ManagerContext } from '../../content/process/calls.ts'

export interface CreateRequest {
  readonly config: VolumeConfig
  /** The file or directory that is to be; nothing is there, or the kind fails with volume.exists. */
  readonly target: string
  /** Verified, for disks; loaded, for containers. Absent for blank and cloud-init volumes. */
  readonly content?: ContentStatus
  /** Aborted when the volume is no longer wanted: stop within a second and leave nothing. */
  readonly signal: AbortSignal
}

export interface Created {
  /** The target, or the verified file itself for a read-only disk. */
  readonly path: string
  /** Bytes on disk, holes not counted. */
  readonly usedSize: number
}

export interface VolumeKind {
  /** Half-made things have a `.<name>.tmp-<random>` name beside the target; the target appears whole and synced. */
  create(request: CreateRequest, context: ManagerContext): Promise<Created>
  /** Grows to config.maxSize in place; smaller is refused before it comes here. */
  grow(request: CreateRequest, context: ManagerContext): Promise<Created>
  /** Gone already is fine. */
  destroy(target: string, context: ManagerContext): Promise<void>
}
