// Everything that can be asked about content on one machine, one function a command. Each opens the processes, or joins
// those that run already, says what is wanted and follows the statuses; `cli/` and `agent/` know this file only.
import { join, resolve } from 'node:path'
import { type Clock, realClock } from '../lib/clock.ts'
import { ProblemsError, RefusedError } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { type Progress, silentProgress } from '../lib/progress.ts'
import { failIfDegraded, followContent } from './ask.ts'
import { contentIdOf, contentRefOf } from './content-ref.ts'
import type { ProcessSettings } from './default-settings.ts'
import { type ContentLayout, contentLayoutOf } from './layout.ts'
import type {
  ContentConfig,
  ContentRef,
  ContentStatus,
  Isolation,
  Platform,
  ProcessName,
  Sha256,
  Trust,
} from './messages.ts'
import type { Peer } from './pubsub/peer.ts'
import { waitFor } from './pubsub/wait-for.ts'
import { readSettings } from './settings.ts'
import { launchProcess } from './supervisor/launcher.ts'
import { openService } from './supervisor/service.ts'
import { type Unused, unusedContent } from './unused.ts'

export interface ContentOptions {
  /** Everything below this directory; no root needed. */
  readonly root?: string
  /** As the machine sees it; default /cairn. */
  readonly store?: string
  readonly progress?: Progress
  readonly signal?: AbortSignal
  /** Run the processes even where nothing keeps the verifier from a network. */
  readonly insecureNoIsolation?: boolean
  /** What the processes have to say, a line at a time. */
  readonly log?: (line: string) => void
}

/** What a request has while the processes are there for it. */
export interface ContentAccess {
  readonly peer: Peer
  readonly settings: ProcessSettings
  readonly clock: Clock
  readonly progress: Progress
  readonly signal: AbortSignal
}

export interface PullOptions extends ContentOptions {
  readonly sha256?: Sha256
  readonly platform?: Platform
  readonly trust?: Trust
}

/** Fetches and verifies, and keeps it until it is removed. What could not be had is not asked for any longer. */
export const pullContent = (reference: string, options: PullOptions): Promise<ContentStatus> =>
  withContent(options, async access => {
    const { peer } = access
    const ref = checkedRef(reference, options)
    const config: ContentConfig = { scope: 'images', id: contentIdOf(ref), ref, until: 'verified' }
    const key = contentKey(config)
    const isNew = !(await isAsked(access, key))
    peer.publish('contentConfig', key, config, { keep: !hasSecret(ref) })
    try {
      const status = await followContent(peer, key, { ...access, label: ref.name })
      if (hasSecret(ref))
        peer.publish('contentConfig', key, { ...config, ref: withoutSecret(ref, status) }, { keep: true })
      return status
    } catch (error) {
      if (isNew) peer.retract('contentConfig', key)
      throw error
    }
  })

export const listContent = (options: ContentOptions): Promise<ContentStatus[]> =>
  withContent(options, async access => [...(await statuses(access)).values()])

export const contentProcesses = (options: ContentOptions): Promise<Isolation[]> =>
  withContent(options, ({ peer, signal }) =>
    waitFor(peer, signal, () => {
      const processes = [...peer.all('isolation').values()]
      const isKnown = processes.length === 3 && processes.every(({ health }) => health !== 'restarting')
      return isKnown ? processes : undefined
    }),
  )

/** By name, digest or id, or the beginning of the last two. */
export const removeContent = (wanted: string, options: ContentOptions): Promise<ContentStatus> =>
  withContent(options, async access => {
    const { peer, signal } = access
    const found = findContent(await statuses(access), wanted)
    const key = contentKey(found)
    peer.retract('contentConfig', key)
    await waitFor(peer, signal, () => (peer.all('contentStatus').has(key) ? undefined : true))
    return found
  })

export const showContent = (wanted: string, options: ContentOptions): Promise<ContentStatus> =>
  withContent(options, async access => findContent(await statuses(access), wanted))

export interface CheckedContent {
  readonly checked: number
  readonly damaged: readonly { readonly sha256: string; readonly reason: string }[]
}

/** Hashes every verified file again. A damaged one is taken away, and fetched again when somebody wants it. */
export const verifyContent = (options: ContentOptions): Promise<CheckedContent> =>
  withContent(options, async access => {
    const { peer, settings, clock, signal } = access
    await statuses(access)
    const since = clock.now().toISOString()
    const wanted = [...peer.all('verifyStatus')].filter(([, { state }]) => state === 'verified').map(([key]) => key)
    peer.publish('verifierSettings', '', { ...settings.verifier, checkedSince: since })
    const damaged = new Map<string, string>()
    return waitFor(peer, signal, () => {
      for (const key of wanted) {
        const error = peer.all('verifyStatus').get(key)?.error
        if (error?.code === 'content.bit-rot') damaged.set(key, error.text)
      }
      const isDone = wanted.every(key => {
        const status = peer.all('verifyStatus').get(key)
        return !status || damaged.has(key) || (status.checkedAt ?? '') >= since
      })
      if (!isDone) return undefined
      return { checked: wanted.length, damaged: [...damaged].map(([sha256, reason]) => ({ sha256, reason })) }
    })
  })

/** What nobody wants goes now; a dry run only tells. */
export const collectContent = (options: ContentOptions & { dryRun?: boolean }): Promise<readonly Unused[]> =>
  withContent(options, async access => {
    const { peer, settings, clock, signal } = access
    await statuses(access)
    const unused = unusedContent(peer)
    if (options.dryRun || unused.length === 0) return unused
    peer.publish('managerSettings', '', { ...settings.manager, collectBefore: clock.now().toISOString() })
    await waitFor(peer, signal, () => {
      const left = new Set(unusedContent(peer).map(({ key }) => key))
      return unused.some(({ key }) => left.has(key)) ? undefined : true
    })
    return unused
  })

/** Settings are read before anything is started, so that a mistake in them changes nothing. */
export async function withContent<T>(options: ContentOptions, work: (access: ContentAccess) => Promise<T>): Promise<T> {
  const { progress = silentProgress, signal = new AbortController().signal } = options
  const { service, settings } = await openContent(options)
  try {
    return await work({ peer: service.peer, settings, clock: realClock, progress, signal })
  } finally {
    await service.close()
  }
}

/** With `units` the processes are not started here: each is a unit of systemd and comes by itself. */
export async function openContent(options: ContentOptions & { units?: boolean }) {
  const { insecureNoIsolation: insecure = false, units = false, log = () => {} } = options
  const settings = settingsOf(options)
  const containerd = containerdOf(options, settings)
  const service = await openService({
    layout: contentLayout(options),
    self: ourselves(),
    clock: realClock,
    units,
    insecure,
    ...(containerd !== undefined && { containerd }),
    log,
  })
  service.peer.publish('downloadSettings', '', settings.downloader)
  service.peer.publish('managerSettings', '', settings.manager)
  service.peer.publish('verifierSettings', '', settings.verifier)
  return { service, settings }
}

/** One of the processes, for a supervisor that was opened with `units`; resolves with its exit code. */
export const launchContentProcess = (name: ProcessName, options: ContentOptions): Promise<number> =>
  launchProcess({
    name,
    layout: contentLayout(options),
    self: ourselves(),
    clock: realClock,
    // Only its own settings: the downloader's user may not read those of the machine.
    containerd: name === 'manager' ? containerdOf(options, settingsOf(options)) : undefined,
    log: options.log ?? (() => {}),
    signal: options.signal ?? new AbortController().signal,
  })

const settingsOf = ({ root = '/' }: ContentOptions): ProcessSettings =>
  readSettings(realFiles, join(resolve(root), 'etc/cairn/content.json'))

const containerdOf = ({ root = '/' }: ContentOptions, { containerd }: ProcessSettings): string | undefined =>
  containerd ?? (root === '/' ? usualContainerd : undefined)

const usualContainerd = '/run/containerd/containerd.sock'

const ourselves = () => [process.execPath, ...process.execArgv, resolve(process.argv[1] ?? '')]

const contentLayout = ({ root = '/', store = '/cairn' }: ContentOptions): ContentLayout =>
  contentLayoutOf({ base: join(resolve(root), store), run: join(resolve(root), 'run/cairn') })

const contentKey = ({ scope, id }: Pick<ContentConfig, 'scope' | 'id'>): string => `${scope}/${id}`

/** From here on the statuses are those of all that is asked for. */
async function statuses({ peer, signal }: ContentAccess): Promise<ReadonlyMap<string, ContentStatus>> {
  await waitFor(peer, signal, () => {
    failIfDegraded(peer)
    return peer.isComplete('contentStatus') && peer.isComplete('verifyStatus') ? true : undefined
  })
  return peer.all('contentStatus')
}

async function isAsked({ peer, signal }: ContentAccess, key: string): Promise<boolean> {
  await waitFor(peer, signal, () => (peer.isComplete('contentConfig') ? true : undefined))
  return peer.all('contentConfig').has(key)
}

function checkedRef(reference: string, { sha256, platform, trust }: Omit<PullOptions, keyof ContentOptions>) {
  const ref = contentRefOf({
    text: reference,
    baseDirectory: process.cwd(),
    ...(sha256 && { sha256 }),
    ...(platform && { platform }),
    ...(trust && { trust }),
  })
  if ('name' in ref) return ref
  throw new ProblemsError(ref)
}

function findContent(all: ReadonlyMap<string, ContentStatus>, wanted: string): ContentStatus {
  const digest = wanted.replace(/^sha256:/, '').toLowerCase()
  const found = [...all.values()].filter(
    ({ name, id, sha256 }) => name === wanted || id.startsWith(wanted) || (sha256 ?? '').startsWith(digest),
  )
  const [one, other] = found
  if (one && !other) return one
  if (!one)
    throw new RefusedError('content.unknown', `No content here is called ${wanted}.`, {
      hint: 'cairn content list shows what there is.',
    })
  throw new RefusedError('content.ambiguous', `${wanted} means ${found.length} things.`, {
    hint: `Say more of the name or the digest: ${found.map(({ name, id }) => `${name} (${id})`).join(', ')}.`,
  })
}

/** A signed address is a secret: it is not kept on disk. */
export const hasSecret = ({ sources }: ContentRef): boolean =>
  sources.some(source => source.kind === 'url' && new URL(source.url).search !== '')

export function withoutSecret(ref: ContentRef, { sha256 }: Pick<ContentStatus, 'sha256'>): ContentRef {
  const sources = ref.sources.map(source =>
    source.kind === 'url' ? { ...source, url: source.url.replace(/[?#].*$/s, '') } : source,
  )
  return { ...ref, sources, ...(sha256 && { sha256 }) }
}
