// Everything in the store is a package: sources, rendered units, and the etc overlay that ties them together.
import type { ContentDoor } from '../../content/door.ts'
import type { Files } from '../../lib/files.ts'
import type { Json } from '../../lib/json.ts'
import type { Progress } from '../../lib/progress.ts'
import type { Layout } from '../layout.ts'
import type { Sha256, StateName } from '../names.ts'
import type { StateRecord } from './record.ts'
import type { SealedTree } from './seal.ts'

export type PackageKind = 'source' | 'systemd-unit' | 'etc-overlay'

export interface Package {
  readonly kind: PackageKind
  /** First part of the state's name. */
  readonly name: string
  readonly version: string
  /** All that decides the result and nothing else; hashed into the fingerprint together with kind, name, version and references. */
  readonly inputs: Json
  /** States that the result may point into. */
  readonly references: readonly StateName[]
  /** Fills an empty directory that becomes the state. Called at most once for each install. */
  build(directory: string, context: BuildContext): Promise<BuildResult>
}

export interface BuildContext {
  readonly files: Files
  readonly layout: Layout
  /** Where bytes from elsewhere come from. */
  readonly content: ContentDoor
  readonly progress: Progress
  readonly signal: AbortSignal
}

export interface BuildResult {
  /** Of the bytes that the source gave, pinned or not; absent when there was no single blob. */
  readonly sourceSha256?: Sha256
  /** From a builder that sealed its tree while writing it (seal.ts); nobody reads it again then. */
  readonly sealed?: SealedTree
  /** Lets go of what it was built from, once nobody can have to build it again. */
  readonly release?: () => void
}

export interface InstalledPackage {
  readonly kind: PackageKind
  readonly name: string
  readonly version: string
  readonly state: StateName
  readonly record: StateRecord
  /** False on a cache hit. */
  readonly fresh: boolean
}
