// What a walled-in process asks of its supervisor, because it may not do it itself. Each call names only things in the
// caller's own directories; the supervisor checks that and refuses everything else.
import type { Socket } from 'node:net'
import type { ProcessContext } from './context.ts'

export type FileSystemType = 'ext4' | 'xfs' | 'vfat'

/** As the container runtime describes it. */
export interface Mount {
  readonly type: string
  readonly source: string
  readonly options: readonly string[]
}

export interface SymbolicLink {
  readonly path: string
  readonly text: string
}

export interface ManagerCalls {
  /** Makes a file system in a file below volumes/. */
  mkfs(path: string, type: FileSystemType): Promise<void>
  /** Mounts at a directory below volumes/; refused without root. */
  mount(mounts: readonly Mount[], target: string): Promise<void>
  /** Nothing mounted there is fine. */
  unmount(target: string): Promise<void>
  /**
   * Makes links below volumes/ as they are given, each in a real directory: no part of its path is a link itself.
   * Node's permission model lets only a process make one that may write everywhere.
   */
  symlink(links: readonly SymbolicLink[]): Promise<void>
  /** Flushes the file system that holds the path. */
  syncFileSystem(path: string): Promise<void>
  /** A new connection to the container runtime; null when the machine has none that answers. */
  connectRuntime(): Promise<Socket | null>
}

export interface ManagerContext extends ProcessContext {
  readonly calls: ManagerCalls
}
