// A world for the switchboard: models of the downloader, the verifier, the container runtime and the manager's disk, joined by
// channels that deliver late, in any order, twice or after a resync. Chance is a function that the test gives, so that a run
// can be repeated; without it everything happens at once and in order. Each step checks what must always hold.
import type {
  ContentConfig,
  ContentRef,
  DownloadConfig,
  DownloadStatus,
  ResolveConfig,
  Sha256,
  SignatureConfig,
  VerifyConfig,
  VerifyStatus,
  VolumeConfig,
} from '../../content/messages.ts'
import type { Descriptor, Parsed } from '../../content/oci/manifest.ts'
import { ociIndexType, ociManifestType } from '../../content/oci/media-types.ts'
import type { TopicName } from '../../content/topics.ts'
import { canonicalJson, type Json, sha256Hex } from '../../lib/json.ts'
import { parseVolumeName, type VolumeRecord } from '../names.ts'
import { newSwitchboard, type Switchboard } from './model.ts'
import type { Effect, FoundVolume, Instant, Latch, Put, Scan, SwitchboardEvent } from './protocol.ts'
import { same } from './publish.ts'
import { reduce } from './reduce.ts'

export const shaOf = (label: string) => sha256Hex(label) as Sha256
export const trustNothing = { policy: 'none', keys: [], certificates: [] } as const
const pending = '/content/pending'

export interface FakeImage {
  readonly root: Sha256
  readonly manifest: Sha256
  readonly config: Sha256
  readonly layers: readonly Sha256[]
}

/** What registries and servers have. */
export interface Truth {
  readonly sizes: Map<string, number>
  readonly types: Map<string, string>
  readonly manifests: Map<string, Parsed>
  readonly tags: Map<string, Sha256>
  readonly urls: Map<string, Sha256>
  readonly referrers: Map<string, Sha256[]>
}

export const emptyTruth = (): Truth => ({
  sizes: new Map(),
  types: new Map(),
  manifests: new Map(),
  tags: new Map(),
  urls: new Map(),
  referrers: new Map(),
})

const descriptor = (truth: Truth, sha256: Sha256, mediaType: string): Descriptor => ({
  sha256,
  mediaType,
  size: truth.sizes.get(sha256) ?? 0,
  annotations: {},
})

export function addBlob(truth: Truth, label: string, size = 100, type?: string): Sha256 {
  const sha256 = shaOf(label)
  truth.sizes.set(sha256, size)
  if (type) truth.types.set(sha256, type)
  return sha256
}

/** An index with one manifest for linux/amd64; `layers` are labels, which may be shared. */
export function addImage(truth: Truth, name: string, layers: readonly string[]): FakeImage {
  const config = addBlob(truth, `config ${name}`)
  const shas = layers.map(layer => addBlob(truth, layer))
  const manifest = addBlob(truth, `manifest ${name}`, 50, ociManifestType)
  const root = addBlob(truth, `index ${name}`, 40, ociIndexType)
  truth.manifests.set(manifest, {
    ok: true,
    kind: 'manifest',
    mediaType: ociManifestType,
    config: descriptor(truth, config, 'application/vnd.oci.image.config.v1+json'),
    layers: shas.map(sha256 => descriptor(truth, sha256, 'application/vnd.oci.image.layer.v1.tar')),
  })
  truth.manifests.set(root, {
    ok: true,
    kind: 'index',
    mediaType: ociIndexType,
    manifests: [{ ...descriptor(truth, manifest, ociManifestType), platform: { os: 'linux', architecture: 'amd64' } }],
  })
  truth.tags.set(name, root)
  return { root, manifest, config, layers: shas }
}

export function aRef(more: Partial<ContentRef> & { name: string }): ContentRef {
  return {
    sources: [{ kind: 'registry', host: 'registry.example', repository: more.name }],
    size: 0,
    platform: { os: 'linux', architecture: 'amd64' },
    trust: { ...trustNothing, keys: [], certificates: [] },
    ...more,
  }
}

export const aFileRef = (url: string, more: Partial<ContentRef> = {}): ContentRef =>
  aRef({ name: url, sources: [{ kind: 'url', url }], ...more })

export const aContent = (id: string, ref: ContentRef, more: Partial<ContentConfig> = {}): ContentConfig => ({
  scope: 'images',
  id,
  ref,
  until: 'verified',
  ...more,
})

export const aVolume = (id: string, more: Partial<VolumeConfig> = {}): VolumeConfig => ({
  scope: 'volumes',
  displayName: id,
  owner: 'app',
  id,
  generation: 0,
  origin: 'download',
  maxSize: 0,
  readOnly: false,
  kind: 'disk',
  format: 'raw',
  verifyOnly: false,
  ...more,
})

export const volumeKeyOf = ({ scope, origin, owner, id, generation }: VolumeConfig): string =>
  `${scope}/${origin}:${owner}:${id}#${generation}`

/** What survives a crash of the manager. */
interface ManagerDisk {
  readonly latches: Map<string, Latch>
  readonly deferred: Map<string, number>
  readonly records: Map<string, VolumeRecord>
  readonly volumes: Map<string, { made: number }>
  readonly loaded: Set<string>
  gcStart: number | null
}

type Peers = 'manager' | 'downloader' | 'verifier' | 'requester'
const publisherOf: Partial<Record<TopicName, Peers>> = {
  contentConfig: 'requester',
  volumeConfig: 'requester',
  managerSettings: 'requester',
  certConfig: 'requester',
  downloadStatus: 'downloader',
  resolveStatus: 'downloader',
  verifyStatus: 'verifier',
  signatureStatus: 'verifier',
}
const toManager = Object.keys(publisherOf) as TopicName[]
const toDownloader = ['downloadConfig', 'resolveConfig'] as const
const toVerifier = ['verifyConfig', 'signatureConfig'] as const

type Table = Map<string, unknown>

export interface WorldOptions {
  readonly truth: Truth
  /** From 0 to 1; absent: everything in order and at once. */
  readonly chance?: () => number
  readonly free?: number
  /** Wrong bytes for the first downloads of these digests. */
  readonly badDownloads?: ReadonlyMap<string, number>
}

/** Chance that can be repeated. */
export function chanceOf(seed: number): () => number {
  let at = seed | 0
  return () => {
    at = (at + 0x6d2b79f5) | 0
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export class World {
  readonly truth: Truth
  readonly chance: () => number
  /** All that can happen happens at once. */
  readonly isCalm: boolean
  readonly disk: ManagerDisk = {
    latches: new Map(),
    deferred: new Map(),
    records: new Map(),
    volumes: new Map(),
    loaded: new Set(),
    gcStart: null,
  }
  now: Instant = { wall: Date.UTC(2026, 0, 1), monotonic: 1_000_000 }
  state: Switchboard = newSwitchboard(pending)
  /** Everything that was ever done, for tests that look at it. */
  readonly log: Effect[] = []
  /** What each side says, by topic. */
  readonly said = new Map<TopicName, Table>()
  /** What the manager has heard, and what the others have heard of it. */
  readonly heard = new Map<TopicName, Table>()
  readonly jobs = new Map<string, { effect: Effect; left: number; isCancelled: boolean }>()
  readonly later: SwitchboardEvent[] = []
  readonly pendingFiles = new Map<string, Sha256 | 'bad'>()
  readonly verified = new Map<Sha256, string>()
  readonly loadedImages = new Set<string>()
  readonly bad: Map<string, number>
  isVerifierComplete = true
  freshDownloads = 0
  isManagerComplete = false
  isRuntimeDown = false
  free: number

  constructor({ truth, chance, free = 10 ** 12, badDownloads = new Map() }: WorldOptions) {
    this.truth = truth
    this.chance = chance ?? (() => 0)
    this.isCalm = chance === undefined
    this.free = free
    this.bad = new Map(badDownloads)
  }

  table(of: Map<TopicName, Table>, topic: TopicName): Table {
    const table = of.get(topic) ?? new Map()
    of.set(topic, table)
    return table
  }

  put<T extends TopicName>(topic: T, key: string, value: unknown) {
    this.table(this.said, topic).set(key, value)
  }

  drop(topic: TopicName, key: string) {
    this.table(this.said, topic).delete(key)
  }

  request(config: ContentConfig | VolumeConfig) {
    if ('ref' in config) this.put('contentConfig', `${config.scope}/${config.id}`, config)
    else this.put('volumeConfig', volumeKeyOf(config), config)
  }

  withdraw(config: ContentConfig | VolumeConfig) {
    if ('ref' in config) this.drop('contentConfig', `${config.scope}/${config.id}`)
    else this.drop('volumeConfig', volumeKeyOf(config))
  }

  // --- the manager

  start() {
    this.state = newSwitchboard(pending)
    this.isManagerComplete = false
    this.jobs.clear()
    this.later.length = 0
    for (const topic of toManager) this.heard.set(topic, new Map())
    this.feed({ on: 'scanned', scan: this.scan() })
    this.feed({ on: 'space', free: this.free, total: 2 * 10 ** 12 })
    this.deliverAll()
    this.tellComplete()
  }

  tellComplete() {
    const complete = new Set<TopicName>(['contentConfig', 'volumeConfig'])
    if (this.isVerifierComplete) complete.add('verifyStatus')
    this.feed({ on: 'complete', topics: complete })
  }

  scan(): Scan {
    const volumes = [...this.disk.volumes].map(([name]): FoundVolume => {
      const parsed = parseVolumeName(name)!
      const isDirectory = parsed.format === undefined
      const record = this.disk.records.get(name) ?? null
      return {
        name,
        parsed,
        path: `/volumes/${name}`,
        isDirectory,
        usedSize: 1,
        lastUse: '2026-01-01T00:00:00.000Z',
        preReboot: false,
        record,
        isOrphan: false,
      }
    })
    const { latches, deferred, loaded, gcStart } = this.disk
    return { volumes, latches, deferred, purges: new Map(), loaded: [...loaded], gcStart }
  }

  feed(
    event: SwitchboardEvent extends infer E ? (E extends SwitchboardEvent ? Omit<E, 'now'> : never) : never,
  ): Effect[] {
    const effects = reduce(this.state, { ...event, now: this.now } as SwitchboardEvent)
    for (const effect of effects) this.perform(effect)
    this.check()
    return effects
  }

  perform(effect: Effect) {
    this.log.push(effect)
    const { disk } = this
    switch (effect.do) {
      case 'publish':
        return void this.table(this.said, effect.topic).set(effect.key, effect.value)
      case 'retract':
        return void this.table(this.said, effect.topic).delete(effect.key)
      case 'complete':
        return this.completeManager()
      case 'latch':
        disk.latches.set(effect.key, effect.latch)
        return void this.later.push({ on: 'latched', now: this.now, key: effect.key, outcome: { ok: true } })
      case 'unlatch':
        return void disk.latches.delete(effect.key)
      case 'read manifest': {
        const read =
          this.truth.manifests.get(effect.sha256) ??
          ({ ok: false, code: 'content.manifest-invalid', reason: 'no' } as const)
        return void this.later.push({ on: 'manifest', now: this.now, sha256: effect.sha256, read })
      }
      case 'write record':
        return void disk.records.set(effect.name, effect.record)
      case 'forget record':
        return void disk.records.delete(effect.name)
      case 'defer delete':
        return void disk.deferred.set(effect.sha256, effect.due)
      case 'forget delete':
        return void disk.deferred.delete(effect.sha256)
      case 'note loaded':
        return void disk.loaded.add(effect.name)
      case 'forget loaded':
        return void disk.loaded.delete(effect.name)
      case 'note gc start':
        disk.gcStart = effect.monotonic
        return
      case 'measure':
      case 'wake':
        return
      case 'cancel': {
        const job = this.jobs.get(effect.job)
        if (job) job.isCancelled = true
        return
      }
      default:
        if (this.jobs.has(effect.job)) throw new Error(`a second job for ${effect.job}`)
        this.jobs.set(effect.job, { effect, left: Math.floor(this.chance() * 3), isCancelled: false })
    }
  }

  /** What the last manager said and this one does not is gone. */
  completeManager() {
    this.isManagerComplete = true
    for (const topic of [...toDownloader, ...toVerifier, 'contentStatus', 'volumeStatus'] as const) {
      const mine = this.state.published[topic] as ReadonlyMap<string, unknown>
      for (const key of this.table(this.said, topic).keys()) if (!mine.has(key)) this.drop(topic, key)
    }
  }

  endJob(key: string) {
    const job = this.jobs.get(key)!
    if (job.left > 0) {
      job.left -= 1
      return
    }
    this.jobs.delete(key)
    const { effect } = job
    const fail = (code: `${string}.${string}`) =>
      this.feed({ on: 'ended', job: key, outcome: { ok: false, failure: { code, text: code } } })
    if (job.isCancelled && this.chance() < 0.7) return fail('job.cancelled')
    if (effect.do === 'create') {
      if (this.disk.volumes.has(effect.name)) return fail('volume.exists')
      for (const { path, sha256 } of effect.content?.blobs ?? [])
        if (!path || !this.verified.has(sha256)) throw new Error(`made from ${sha256}, which is not there`)
      const isInPlace = effect.config.readOnly && effect.config.kind === 'disk' && effect.config.origin === 'download'
      if (!isInPlace) this.disk.volumes.set(effect.name, { made: this.log.length })
      const path = isInPlace ? effect.content!.blobs[0]!.path! : `/volumes/${effect.name}`
      return this.feed({ on: 'ended', job: key, outcome: { ok: true, path, usedSize: 1 } })
    }
    if (effect.do === 'destroy') this.disk.volumes.delete(effect.path.replace('/volumes/', ''))
    if (effect.do === 'load') {
      if (this.isRuntimeDown) return fail('runtime.unavailable')
      for (const { sha256 } of effect.content.blobs)
        if (!this.verified.has(sha256)) throw new Error(`loaded without ${sha256}`)
      this.loadedImages.add(effect.name)
    }
    if (effect.do === 'unload') this.loadedImages.delete(effect.name)
    return this.feed({
      on: 'ended',
      job: key,
      outcome: { ok: true, ...('path' in effect && { path: effect.path, usedSize: 1 }) },
    })
  }

  // --- channels

  differing(topics: readonly TopicName[]): { topic: TopicName; key: string }[] {
    return topics.flatMap(topic => {
      const said = this.table(this.said, topic)
      const heard = this.table(this.heard, topic)
      const keys = new Set([...said.keys(), ...heard.keys()])
      return [...keys].filter(key => !same(said.get(key), heard.get(key))).map(key => ({ topic, key }))
    })
  }

  /** To the manager, as one batch. */
  deliver(changes: readonly { topic: TopicName; key: string }[]) {
    const puts: Put[] = []
    const deletes: { topic: TopicName; key: string }[] = []
    for (const { topic, key } of changes) {
      const value = this.table(this.said, topic).get(key)
      if (value === undefined) {
        this.table(this.heard, topic).delete(key)
        deletes.push({ topic, key })
      } else {
        this.table(this.heard, topic).set(key, value)
        puts.push({ topic, key, value } as Put)
      }
    }
    return this.feed({ on: 'changes', puts, deletes })
  }

  deliverAll() {
    const changes = this.differing(toManager)
    if (changes.length > 0) this.deliver(changes)
  }

  /** All over again, as after a new channel. */
  resync() {
    this.deliver(toManager.flatMap(topic => [...this.table(this.said, topic).keys()].map(key => ({ topic, key }))))
  }

  // --- the downloader

  hear(topics: readonly TopicName[]): boolean {
    const differing = this.differing(topics)
    const from = Math.floor(this.chance() * differing.length)
    const some = this.isCalm ? differing : differing.slice(from, from + 1)
    for (const { topic, key } of some) {
      const value = this.table(this.said, topic).get(key)
      if (value === undefined) this.table(this.heard, topic).delete(key)
      else this.table(this.heard, topic).set(key, value)
    }
    return some.length > 0
  }

  /** Goes through the keys until one of them gave something to do; in a calm world through all. */
  any<Key>(keys: Iterable<Key>, move: (key: Key) => boolean): boolean {
    let moved = false
    for (const key of [...keys]) {
      if (!move(key)) continue
      moved = true
      if (!this.isCalm) break
    }
    return moved
  }

  stepDownloader(): boolean {
    const configs = this.table(this.heard, 'downloadConfig') as Map<string, DownloadConfig>
    const statuses = this.table(this.said, 'downloadStatus') as Map<string, DownloadStatus>
    const targets = new Set([...configs.values()].map(({ target }) => target))
    const questions = this.table(this.heard, 'resolveConfig') as Map<string, ResolveConfig>
    const answers = this.table(this.said, 'resolveStatus')
    const { isManagerComplete } = this
    return (
      this.any(statuses.keys(), key => isManagerComplete && !configs.has(key) && statuses.delete(key)) ||
      this.any(configs, ([key, config]) => {
        const next = this.downloadStep(key, config, statuses.get(key))
        if (!next || same(next, statuses.get(key))) return false
        statuses.set(key, next)
        return true
      }) ||
      this.any(
        this.pendingFiles.keys(),
        path => isManagerComplete && !targets.has(path) && this.pendingFiles.delete(path),
      ) ||
      this.any(questions, ([key, question]) => !answers.has(key) && this.answer(key, question)) ||
      this.any(answers.keys(), key => isManagerComplete && !questions.has(key) && answers.delete(key))
    )
  }

  answer(key: string, { source, what, counter }: ResolveConfig): true {
    const name = source.kind === 'registry' ? source.repository : ''
    const shas = what.kind === 'tag' ? [this.truth.tags.get(name)!] : (this.truth.referrers.get(what.sha256) ?? [])
    const found = shas.map(sha256 => ({
      sha256,
      mediaType: this.truth.types.get(sha256),
      size: this.truth.sizes.get(sha256) ?? 0,
    }))
    this.put('resolveStatus', key, { counter, found })
    return true
  }

  downloadStep(key: string, config: DownloadConfig, status: DownloadStatus | undefined): DownloadStatus | null {
    const base = { currentSize: 0, totalSize: 0, attempt: config.attempt, expired: false, retryCount: 0 }
    if (config.refs === 0) return { ...base, state: 'initial', ...status, expired: true }
    const source = config.sources[0]!
    const truth = config.sha256 ?? this.truth.urls.get(source.kind === 'url' ? source.url : '')!
    const size = this.truth.sizes.get(truth) ?? 1
    const hasFile = this.pendingFiles.has(config.target)
    if (status && status.attempt === config.attempt && !status.expired && status.state === 'downloaded' && hasFile)
      return null
    if (hasFile && (!status || status.attempt === config.attempt)) return this.downloaded(config, size)
    if (!status || status.expired || status.attempt !== config.attempt) {
      this.pendingFiles.delete(config.target)
      return { ...base, state: 'downloading', totalSize: size }
    }
    if (status.currentSize === 0 && size > 1) return { ...status, currentSize: Math.floor(size / 2) }
    this.freshDownloads += 1
    const isBad = (this.bad.get(key) ?? 0) > 0
    if (isBad) this.bad.set(key, this.bad.get(key)! - 1)
    this.pendingFiles.set(config.target, isBad ? 'bad' : (truth as Sha256))
    return this.downloaded(config, size)
  }

  downloaded(config: DownloadConfig, size: number): DownloadStatus {
    const sha256 = this.pendingFiles.get(config.target)!
    return {
      state: 'downloaded',
      ...(!config.sha256 && { sha256: sha256 as Sha256 }),
      currentSize: size,
      totalSize: size,
      attempt: config.attempt,
      expired: false,
      retryCount: 0,
    }
  }

  crashDownloader() {
    this.said.set('downloadStatus', new Map())
    this.said.set('resolveStatus', new Map())
  }

  // --- the verifier

  stepVerifier(): boolean {
    const configs = this.table(this.heard, 'verifyConfig') as Map<Sha256, VerifyConfig>
    const statuses = this.table(this.said, 'verifyStatus') as Map<Sha256, VerifyStatus>
    if (!this.isVerifierComplete) return this.sweep(statuses)
    return (
      this.any(statuses, ([key, status]) => {
        if (configs.has(key) || !this.isManagerComplete) return false
        // Only a finished handshake removes a file.
        if (status.expired) this.unlink(key)
        else if (status.state === 'verified') return false
        return statuses.delete(key)
      }) ||
      this.any(configs, ([key, config]) => {
        const next = this.verifyStep(key, config, statuses.get(key))
        if (same(next, statuses.get(key))) return false
        statuses.set(key, next)
        return true
      }) ||
      this.stepSignatures()
    )
  }

  stepSignatures(): boolean {
    const configs = this.table(this.heard, 'signatureConfig') as Map<string, SignatureConfig>
    const statuses = this.table(this.said, 'signatureStatus')
    return (
      this.any(statuses.keys(), key => this.isManagerComplete && !configs.has(key) && statuses.delete(key)) ||
      this.any(configs, ([key, config]) => {
        const of = sha256Hex(canonicalJson(config as unknown as Json))
        const verdict = config.material.length > 0 ? 'good' : 'unsigned'
        const status = { root: config.root, verdict, of, ...(verdict === 'good' && { signedBy: 'somebody' }) }
        if (same(statuses.get(key), status)) return false
        statuses.set(key, status)
        return true
      })
    )
  }

  sweep(statuses: Map<Sha256, VerifyStatus>): boolean {
    for (const key of this.verified.keys()) {
      if (statuses.has(key)) continue
      statuses.set(key, this.verifiedStatus(key, 0))
      return true
    }
    this.isVerifierComplete = true
    this.deliver(this.differing(['verifyStatus']))
    this.tellComplete()
    return true
  }

  verifiedStatus(key: Sha256, attempt: number): VerifyStatus {
    const size = this.truth.sizes.get(key) ?? 0
    const mediaType = this.verified.get(key)!
    return {
      state: 'verified',
      path: `/content/verified/${key}`,
      mediaType,
      size,
      currentSize: size,
      attempt,
      expired: false,
    }
  }

  verifyStep(key: Sha256, config: VerifyConfig, status: VerifyStatus | undefined): VerifyStatus {
    const { attempt } = config
    const expired = config.refs === 0 && config.expired
    if (this.verified.has(key)) return { ...this.verifiedStatus(key, attempt), expired }
    const blank: VerifyStatus = { state: 'initial', size: 0, currentSize: 0, attempt, expired }
    if (expired || !config.path) return blank
    if (status?.attempt === attempt && status.error) return { ...status, expired: false }
    if (status?.state !== 'verifying' || status.attempt !== attempt) return { ...blank, state: 'verifying' }
    const error = (code: `${string}.${string}`) =>
      ({
        ...blank,
        error: { code, text: code, severity: 'error', since: '2026-01-01T00:00:00.000Z', source: 'verifier' },
      }) as const
    const bytes = this.pendingFiles.get(config.path)
    if (bytes === undefined) return error('content.pending-missing')
    if (bytes !== key) return error('content.digest-mismatch')
    const type = this.truth.types.get(key)
    if (type && type !== config.mediaType) return error('content.media-type-mismatch')
    this.verified.set(key, config.mediaType)
    return this.verifiedStatus(key, attempt)
  }

  unlink(key: Sha256) {
    if (!this.verified.delete(key)) return
    for (const tree of this.state.trees.values())
      if (tree.wants.has(key) && this.state.blobs.get(key)?.state === 'verified')
        throw new Error(`${key} was deleted while ${tree.key} uses it`)
  }

  crashVerifier() {
    this.said.set('verifyStatus', new Map())
    this.said.set('signatureStatus', new Map())
    this.isVerifierComplete = false
    this.tellComplete()
  }

  crashManager() {
    // What was being made is there or not; half of it never is.
    for (const { effect } of this.jobs.values()) {
      if (this.chance() < 0.5) continue
      if (effect.do === 'create' && !effect.config.readOnly) this.disk.volumes.set(effect.name, { made: 0 })
      if (effect.do === 'destroy') this.disk.volumes.delete(effect.path.replace('/volumes/', ''))
      if (effect.do === 'load') this.loadedImages.add(effect.name)
      if (effect.do === 'unload') this.loadedImages.delete(effect.name)
    }
    this.start()
  }

  // --- time

  /** Something that can happen, chosen by chance; false when nothing can. */
  step(): boolean {
    const moves: (() => boolean)[] = [
      () => this.moveNews(),
      () => this.hear(toDownloader),
      () => this.hear(toVerifier),
      () => this.stepDownloader(),
      () => this.stepVerifier(),
      () => this.moveLater(),
      () => this.moveJob(),
    ]
    const first = Math.floor(this.chance() * moves.length)
    for (let index = 0; index < moves.length; index++) if (moves[(first + index) % moves.length]!()) return true
    return false
  }

  moveNews(): boolean {
    const news = this.differing(toManager)
    if (news.length === 0) return false
    const many = this.isCalm ? news.length : 1 + Math.floor(this.chance() * news.length)
    const from = Math.floor(this.chance() * (news.length - many + 1))
    this.deliver(news.slice(from, from + many))
    return true
  }

  moveLater(): boolean {
    const event = this.later.splice(Math.floor(this.chance() * this.later.length), 1)[0]
    if (event) this.feed(event)
    return event !== undefined
  }

  moveJob(): boolean {
    const keys = [...this.jobs.keys()]
    const key = keys[Math.floor(this.chance() * keys.length)]
    if (key !== undefined) this.endJob(key)
    return key !== undefined
  }

  /** Until nothing happens by itself any more. */
  settle() {
    for (let steps = 0; this.step(); steps++) if (steps > 50_000) throw new Error('it does not come to rest')
  }

  pass(ms: number) {
    this.now = { wall: this.now.wall + ms, monotonic: this.now.monotonic + ms }
    this.feed({ on: 'tick' })
  }

  // --- what must always hold

  check() {
    const { state } = this
    const referents = new Map<string, number>()
    for (const { wants } of state.trees.values())
      for (const key of wants.keys()) referents.set(key, (referents.get(key) ?? 0) + 1)
    for (const [key, { refs }] of state.published.downloadConfig)
      if (refs !== 0 && refs !== (referents.get(key) ?? 0))
        throw new Error(`download ${key} has ${refs} refs for ${referents.get(key)}`)
    for (const [key, { refs }] of state.published.verifyConfig)
      if (refs !== (referents.get(key) ?? 0))
        throw new Error(`verify ${key} has ${refs} refs for ${referents.get(key) ?? 0}`)
    for (const [key, status] of state.published.contentStatus)
      if (['verified', 'loading', 'loaded'].includes(status.state))
        for (const blob of status.blobs)
          if (!blob.path || !this.verified.has(blob.sha256))
            throw new Error(`${key} is ${status.state} without ${blob.sha256}`)
    for (const [key, { state: reached, path }] of state.published.volumeStatus) {
      const name = path?.startsWith('/volumes/') ? path.slice('/volumes/'.length) : null
      const isThere =
        name === null
          ? this.verified.has((path ?? '').slice('/content/verified/'.length) as Sha256)
          : this.disk.volumes.has(name)
      const isGoing = [...this.jobs.values()].some(({ effect }) => effect.do === 'destroy')
      if (reached === 'created' && !isThere && !isGoing) throw new Error(`${key} is created without its file`)
    }
    let reserved = 0
    for (const holder of [...state.blobs.values(), ...state.volumes.values()]) reserved += holder.reserved
    if (reserved !== state.reserved) throw new Error(`the ledger says ${state.reserved}, its entries ${reserved}`)
  }
}
