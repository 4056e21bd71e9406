// What the switchboard remembers. The inputs are mirrors of what others published; the rest follows from them and from what
// was done already. All of it belongs to reduce, which changes it in place, so that an event costs only what it touches.

import { defaultSettings } from '../../content/default-settings.ts'
import type {
  BlobStatus,
  CertConfig,
  ContentConfig,
  ContentError,
  ContentRef,
  ContentStatus,
  DownloadStatus,
  ManagerSettings,
  ResolveStatus,
  Sha256,
  SignatureStatus,
  VerifyStatus,
  VolumeConfig,
} from '../../content/messages.ts'
import type { Parsed } from '../../content/oci/manifest.ts'
import type { Source } from '../../content/source.ts'
import type { State } from '../../content/state.ts'
import type { Message, TopicName } from '../../content/topics.ts'
import type { VolumeRecord } from '../names.ts'
import type { Effect, FoundVolume, Instant, Latch } from './protocol.ts'

/** What the manager says; complete when it has seen everything that the others hold. */
export const ownTopics = [
  'contentStatus',
  'volumeStatus',
  'certMaterial',
  'resolveConfig',
  'downloadConfig',
  'verifyConfig',
  'signatureConfig',
] as const satisfies readonly TopicName[]

export type OwnTopic = (typeof ownTopics)[number]

export interface Switchboard {
  /** Where the downloader is told to put files. */
  readonly pending: string
  readonly inputs: Inputs
  complete: ReadonlySet<TopicName>
  settings: ManagerSettings
  /** From then on things are asked for and concluded; never false again. */
  isReady: boolean
  /** The manifests of what is asked for have been read, those that are there: only now is it known what nobody wants. Never false again. */
  hasWalked: boolean
  isScanned: boolean
  space: { free: number; total: number } | null
  /** Sum of what blobs and volumes have reserved. */
  reserved: number
  /** Room there was when somebody was last refused. */
  refusedAt: number
  /** Blobs and volumes that wait for room, as `blob <key>` and `volume <identity>`. */
  readonly waiting: Set<string>
  readonly trees: Map<string, Tree>
  readonly blobs: Map<string, Blob>
  readonly volumes: Map<string, Volume>
  /** Claims of each volume: keys of VolumeConfigs by identity. */
  readonly claims: Map<string, Set<string>>
  /** By name on disk. */
  readonly found: Map<string, Found>
  readonly images: Map<string, Image>
  /** The one that the container runtime works on. */
  busyImage: string | null
  readonly manifests: Map<Sha256, ReadManifest>
  readonly latches: Map<string, Latch>
  /** On their way to disk. */
  readonly latching: Map<string, Latch>
  readonly latchErrors: Map<string, ContentError>
  readonly latchUsers: Map<string, Set<string>>
  readonly resolveUsers: Map<string, Set<string>>
  readonly deferred: Map<string, number>
  readonly purges: Map<string, number>
  gcStart: number | null
  /** Deadlines by the entity that is looked at again. */
  readonly timers: Map<string, number>
  wakeAt: number
  readonly published: { readonly [T in OwnTopic]: Map<string, Message<T>> }
  /** Entities that something changed for: `tree <key>`, `blob <key>`, `image <name>`, `volume <identity>`, `found <name>`. */
  readonly dirty: Dirty
}

export interface Dirty {
  readonly tree: Set<string>
  readonly blob: Set<string>
  readonly image: Set<string>
  readonly volume: Set<string>
  readonly found: Set<string>
  /** Verified manifests that are to be read again. */
  readonly manifest: Set<string>
}

export interface Inputs {
  readonly contentConfig: Map<string, ContentConfig>
  readonly volumeConfig: Map<string, VolumeConfig>
  readonly certConfig: Map<string, CertConfig>
  readonly downloadStatus: Map<string, DownloadStatus>
  readonly verifyStatus: Map<string, VerifyStatus>
  readonly resolveStatus: Map<string, ResolveStatus>
  readonly signatureStatus: Map<string, SignatureStatus>
}

export type ReadManifest =
  | { readonly is: 'being read' }
  | { readonly is: 'read'; readonly parsed: Parsed }
  | { readonly is: 'failed'; readonly error: ContentError }

/** What a request is for: a tree is published, is part of a volume, or is a certificate. */
export type TreeOwner =
  | { readonly kind: 'content'; readonly key: string }
  | { readonly kind: 'volume'; readonly identity: string }
  | { readonly kind: 'cert'; readonly id: string }

export interface Tree {
  readonly key: string
  readonly owner: TreeOwner
  ref: ContentRef
  /** Those of the ref that can have it. */
  sources: readonly Source[]
  until: 'verified' | 'loaded'
  scope: ContentStatus['scope']
  id: string
  /** False when the volume is made and needs it no more: nothing is wanted, only the latch is held. */
  isActive: boolean
  /** What it wants now, in the order in which it is shown. */
  wants: Map<string, Want>
  latchKey: string | null
  signatureLatchKey: string | null
  resolveKeys: Set<string>
  /** The image it wants in the container runtime. */
  image: string | null
  /** Its own errors by text, so that each keeps its time; those of this plan take the place of the last. */
  errors: Map<string, ContentError>
  errorsNow: Map<string, ContentError>
  status: ContentStatus
}

/** A tree's interest in a blob. */
export interface Want {
  readonly role: BlobStatus['role']
  /** As a parent or the request names it; absent for a root whose type is not known. */
  readonly mediaType?: string | undefined
  /** A type that may be right. */
  readonly hint?: string | undefined
  readonly size: number
  readonly as: 'manifest' | 'blob'
  readonly sources: readonly Source[]
  readonly name: string
  /** The download without a digest that has the same bytes. */
  readonly via?: string | undefined
}

export interface Blob {
  /** The digest, or `url-<hash>` for a download that will tell it. */
  readonly key: string
  readonly sha256: Sha256 | null
  readonly wants: Map<string, Want>
  /** Forces fresh downloads. */
  attempt: number
  /** Forces another look of the verifier. */
  look: number
  /** Downloads that turned out wrong. */
  misses: number
  /** Media types of a root that were refused. */
  readonly refusedTypes: Set<string>
  /** Left alone until its sources change. */
  parked: { readonly error: ContentError; readonly sources: string } | null
  /** Fixed while a download goes on. */
  target: string | null
  limit: number
  viaLost: boolean
  /** The last thing that went wrong on the way, while it is being put right. */
  notice: ContentError | null
  wasVerified: boolean
  reserved: number
  /** For one that nobody wants: since when, and when it goes. */
  unwanted: { readonly sinceWall: number; readonly due: number } | null
  isExpiring: boolean
  /** Nobody has wanted it since the manager started. */
  isNew: boolean
  state: State
  size: number
  currentSize: number
  path: string | undefined
  error: ContentError | undefined
  /** For each role and type under which a tree shows it. */
  readonly views: Map<string, BlobStatus>
}

export interface Volume {
  readonly identity: string
  /** Key of the claim that decides. */
  leader: string
  /** The last config that was taken; those that contradict it are refused. */
  config: VolumeConfig
  place: Place | null
  job: VolumeJob | null
  /** Its removal has begun and is brought to an end. */
  isDoomed: boolean
  trouble: Trouble | null
  /** Of a config that contradicts what is made. */
  refusal: ContentError | null
  /** Name of what was found and contradicts the config: it is not collected while this wants its place. */
  holds: string | null
  readonly claimErrors: Map<string, ContentError>
  reserved: number
  state: State
  /** Where a status stands, and for which config. */
  readonly shown: Map<string, VolumeConfig>
}

export interface VolumeJob {
  readonly kind: 'create' | 'attach' | 'grow' | 'destroy'
  /** As it is when the job has done its work. */
  readonly record: VolumeRecord
  readonly name: string
  isCancelled: boolean
}

export interface Place {
  readonly name: string
  readonly path: string
  readonly usedSize: number
  readonly record: VolumeRecord
  /** The verified file itself: nothing to destroy, and the tree is held. */
  readonly isInPlace: boolean
  /** The container runtime has to make it reachable first. */
  readonly needsAttach: boolean
  readonly lastUse?: string | undefined
  readonly preReboot: boolean
}

/** What failed, how often, and when it is tried again; null waits for a change. */
export interface Trouble {
  readonly error: ContentError
  readonly tries: number
  readonly retryAt: number | null
}

export interface Found {
  /** Of its status. */
  readonly key: string
  readonly volume: FoundVolume
  readonly foundAt: Instant
  deadline: { readonly monotonic: number; readonly wall: number } | null
  isDestroying: boolean
  trouble: Trouble | null
  /** A request has this name but contradicts it; it stays. */
  isHeld: boolean
}

export interface Image {
  readonly name: string
  readonly wants: Set<string>
  state: 'none' | 'loading' | 'loaded' | 'unloading'
  isCancelled: boolean
  /** Noted by an earlier run: the runtime may have it or not. */
  isUnsure: boolean
  trouble: Trouble | null
}

/** One run of reduce. */
export interface Turn {
  readonly state: Switchboard
  readonly now: Instant
  readonly effects: Effect[]
}

export function newSwitchboard(pending: string): Switchboard {
  return {
    pending,
    inputs: {
      contentConfig: new Map(),
      volumeConfig: new Map(),
      certConfig: new Map(),
      downloadStatus: new Map(),
      verifyStatus: new Map(),
      resolveStatus: new Map(),
      signatureStatus: new Map(),
    },
    complete: new Set(),
    settings: defaultSettings.manager,
    isReady: false,
    hasWalked: false,
    isScanned: false,
    space: null,
    reserved: 0,
    refusedAt: 0,
    waiting: new Set(),
    trees: new Map(),
    blobs: new Map(),
    volumes: new Map(),
    claims: new Map(),
    found: new Map(),
    images: new Map(),
    busyImage: null,
    manifests: new Map(),
    latches: new Map(),
    latching: new Map(),
    latchErrors: new Map(),
    latchUsers: new Map(),
    resolveUsers: new Map(),
    deferred: new Map(),
    purges: new Map(),
    gcStart: null,
    timers: new Map(),
    wakeAt: Number.POSITIVE_INFINITY,
    published: {
      contentStatus: new Map(),
      volumeStatus: new Map(),
      certMaterial: new Map(),
      resolveConfig: new Map(),
      downloadConfig: new Map(),
      verifyConfig: new Map(),
      signatureConfig: new Map(),
    },
    dirty: {
      tree: new Set(),
      blob: new Set(),
      image: new Set(),
      volume: new Set(),
      found: new Set(),
      manifest: new Set(),
    },
  }
}
