// Where images of container volumes live: a container runtime on this machine, or a directory when it has none.
// Both keep the same contract (runtime.suite.ts).
import type { ContentStatus } from '../../content/messages.ts'

export interface ContainerRuntime {
  readonly name: 'containerd' | 'directory'
  /** Takes the verified blobs of a tree in, so that the verified files may go. Loaded already is success. */
  load(image: LoadRequest): Promise<void>
  /** Forgets an image; blobs that other images share stay. */
  unload(name: string): Promise<void>
  /** Makes `target/rootfs` (writable) and `target/image-config.json` from a loaded image. The target does not exist before. */
  makeRootfs(request: RootfsRequest): Promise<{ usedSize: number }>
  /** Makes the root file system of an existing volume reachable again, after a reboot. */
  attach(target: string): Promise<void>
  removeRootfs(target: string): Promise<void>
  /** Targets (base names) for which the runtime still holds something. */
  held(): Promise<readonly string[]>
}

export interface LoadRequest {
  /** Key of the image in the runtime (imageName). */
  readonly name: string
  readonly content: ContentStatus
  readonly signal: AbortSignal
}

export interface RootfsRequest {
  readonly target: string
  readonly image: string
  readonly content: ContentStatus
  readonly signal: AbortSignal
}

/** By name and digest: two trees may have latched different images of one name. */
export const imageName = ({ name, sha256 }: Pick<ContentStatus, 'name' | 'sha256'>): string =>
  name.includes('@sha256:') ? name : `${name}@sha256:${sha256}`
