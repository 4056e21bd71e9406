// What comes into the switchboard and what goes out of it, as data. Time is part of every event; effects are carried out in
// their order, jobs among them one at a time for each key, and what a job did comes back as an event.
import type { Sha256, VolumeConfig } from '../../content/messages.ts'
import type { Parsed } from '../../content/oci/manifest.ts'
import type { Message, TopicName } from '../../content/topics.ts'
import type { SeedName, VolumeName, VolumeRecord } from '../names.ts'

export interface Instant {
  /** Milliseconds since the epoch: for what is shown and what outlives a boot. */
  readonly wall: number
  /** Milliseconds since boot: for every deadline. */
  readonly monotonic: number
}

export interface Failure {
  readonly code: `${string}.${string}`
  readonly text: string
}

export type Outcome<Value = unknown> =
  | ({ readonly ok: true } & Value)
  | { readonly ok: false; readonly failure: Failure }

/** A digest that a tag or an address had when it was first looked at, or the signatures that were found beside a root. */
export interface Latch {
  readonly sha256: Sha256
  /** As the registry said; a hint. */
  readonly mediaType?: string | undefined
  readonly size?: number | undefined
  readonly signatures?: readonly { readonly sha256: Sha256; readonly mediaType?: string | undefined }[] | undefined
}

/** A volume on disk that no request has claimed yet. */
export interface FoundVolume {
  readonly name: string
  readonly parsed: VolumeName | SeedName
  readonly path: string
  readonly isDirectory: boolean
  readonly usedSize: number
  readonly lastUse: string
  readonly preReboot: boolean
  readonly record: VolumeRecord | null
  /** Only the container runtime knows it; there is nothing to promote. */
  readonly isOrphan: boolean
}

/** What the manager's own directories hold when it starts. */
export interface Scan {
  readonly volumes: readonly FoundVolume[]
  readonly latches: ReadonlyMap<string, Latch>
  /** Wall time at which a blob without referents goes. */
  readonly deferred: ReadonlyMap<string, number>
  /** Local purges, by `<owner>+<id>`. */
  readonly purges: ReadonlyMap<string, number>
  /** Names of images that were given to the container runtime. */
  readonly loaded: readonly string[]
  /** When collecting began, if that was in this boot. */
  readonly gcStart: number | null
}

export type Put = {
  readonly [T in TopicName]: { readonly topic: T; readonly key: string; readonly value: Message<T> }
}[TopicName]

export interface Gone {
  readonly topic: TopicName
  readonly key: string
}

export interface Made {
  readonly path: string
  readonly usedSize: number
}

export type SwitchboardEvent = { readonly now: Instant } & (
  | { readonly on: 'changes'; readonly puts: readonly Put[]; readonly deletes: readonly Gone[] }
  /** All topics that are complete now. */
  | { readonly on: 'complete'; readonly topics: ReadonlySet<TopicName> }
  | { readonly on: 'scanned'; readonly scan: Scan }
  | { readonly on: 'space'; readonly free: number; readonly total: number }
  /** `passing`: the file could not be read now; it may be later. */
  | { readonly on: 'manifest'; readonly sha256: Sha256; readonly read: Parsed | { readonly passing: Failure } }
  | { readonly on: 'latched'; readonly key: string; readonly outcome: Outcome }
  | { readonly on: 'ended'; readonly job: string; readonly outcome: Outcome<Partial<Made>> }
  | { readonly on: 'tick' }
)

export type Effect =
  | ({ readonly do: 'publish' } & Put)
  | ({ readonly do: 'retract' } & Gone)
  | { readonly do: 'complete'; readonly topics: readonly TopicName[] }
  | { readonly do: 'latch'; readonly key: string; readonly latch: Latch }
  | { readonly do: 'unlatch'; readonly key: string }
  | {
      readonly do: 'read manifest'
      readonly sha256: Sha256
      readonly path: string
      readonly mediaType: string | undefined
    }
  | Job
  | { readonly do: 'cancel'; readonly job: string }
  | { readonly do: 'write record'; readonly name: string; readonly record: VolumeRecord }
  | { readonly do: 'forget record'; readonly name: string }
  | { readonly do: 'defer delete'; readonly sha256: string; readonly due: number }
  | { readonly do: 'forget delete'; readonly sha256: string }
  | { readonly do: 'note loaded'; readonly name: string }
  | { readonly do: 'forget loaded'; readonly name: string }
  | { readonly do: 'note gc start'; readonly monotonic: number }
  /** Look at the free space soon: something went. */
  | { readonly do: 'measure' }
  | { readonly do: 'wake'; readonly at: number }

export type Job =
  | {
      readonly do: 'create'
      readonly job: string
      readonly name: string
      readonly config: VolumeConfig
      readonly content?: Message<'contentStatus'>
    }
  | { readonly do: 'grow'; readonly job: string; readonly path: string; readonly config: VolumeConfig }
  | { readonly do: 'attach'; readonly job: string; readonly path: string }
  | { readonly do: 'destroy'; readonly job: string; readonly path: string; readonly what: VolumeWhat }
  | { readonly do: 'load'; readonly job: string; readonly name: string; readonly content: Message<'contentStatus'> }
  | { readonly do: 'unload'; readonly job: string; readonly name: string }

/** Decides which kind of volume does it. */
export type VolumeWhat = Pick<VolumeConfig, 'origin' | 'kind'>
