// Decides what each download does next, from what is wanted and what is going on. Touches nothing.
// Holds: at most `atOnce` run and `perHost` of them at one host; a second look with nothing new gives no action; without
// the complete set of configs nothing is forgotten.
import { canonicalJson } from '../../lib/json.ts'
import type { DownloadConfig, DownloadSettings } from '../messages.ts'
import { isTarget } from './pending-names.ts'

export type DownloadAction =
  /** Nothing is done for it, and no path is built. */
  | { readonly do: 'refuse'; readonly key: string; readonly why: 'target is not in pending' | 'target is taken' }
  /** Look at what is on disk and go on from that; bytes of an earlier attempt or another target go. */
  | {
      readonly do: 'take'
      readonly key: string
      readonly why: 'new' | 'changed' | 'new attempt' | 'other target' | 'wanted again'
    }
  /** The config says other things, but the running job can go on. */
  | { readonly do: 'note'; readonly key: string }
  | {
      readonly do: 'cancel'
      readonly key: string
      readonly why: 'config gone' | 'let go' | 'new attempt' | 'changed' | 'new credentials' | 'link too costly'
    }
  | { readonly do: 'expire'; readonly key: string }
  | { readonly do: 'forget'; readonly key: string }
  | { readonly do: 'hold'; readonly key: string; readonly hold: Hold }
  /** It starts when there is a place. */
  | { readonly do: 'release'; readonly key: string }
  | { readonly do: 'start'; readonly key: string; readonly host: string | null }

export interface DownloadPlan {
  readonly actions: readonly DownloadAction[]
  /** On the monotonic clock; null when only a change brings something to do. */
  readonly askAgainAt: number | null
}

/** What the downloader knows of one key. */
export interface DownloadEntry {
  /** As it was last taken or noted. */
  readonly config: DownloadConfig
  readonly is: 'open' | 'done' | 'refused'
  readonly expired: boolean
  /** Why it did not start when it could have; null when nothing kept it. */
  readonly held: Hold | null
  readonly job: RunningJob | null
  /** After a failure. */
  readonly wait: Wait | null
}

export interface Hold {
  readonly why: 'link too costly' | 'hosts asked to wait'
  /** On the monotonic clock; null: for a change. */
  readonly until: number | null
}

export interface RunningJob {
  readonly host: string | null
  /** It only waits to try again. */
  readonly isPausing: boolean
  /** Counts the changes of credentials; those it began with. */
  readonly credentials: number
  readonly isCancelled: boolean
}

export interface Wait {
  /** On the monotonic clock; null: for a change. */
  readonly until: number | null
  readonly credentials: number
}

export interface DownloadsView {
  readonly pending: string
  readonly configs: ReadonlyMap<string, DownloadConfig>
  readonly complete: boolean
  readonly entries: ReadonlyMap<string, DownloadEntry>
  readonly settings: Pick<DownloadSettings, 'atOnce' | 'perHost' | 'linkCost' | 'maxCost'>
  readonly credentials: number
  /** Of its sources, in the order in which they are tried; null is this machine. */
  readonly hostsOf: (config: DownloadConfig) => readonly (string | null)[]
  /** 0 when it may be asked. */
  readonly heldUntil: (host: string | null) => number
  readonly now: number
}

export function planDownloads(view: DownloadsView): DownloadPlan {
  const { configs, entries } = view
  const owners = ownersOfTargets(view)
  const actions: DownloadAction[] = []
  const ready: string[] = []
  for (const key of new Set([...entries.keys(), ...configs.keys()])) {
    const next = nextOf(view, key, owners)
    if (next === 'ready') ready.push(key)
    else if (next) actions.push(next)
  }
  const { starts, askAgainAt } = planStarts(view, ready)
  return { actions: [...actions, ...starts], askAgainAt }
}

/** Two downloads never write to one file: the first that named it has it. */
function ownersOfTargets({ entries, configs }: DownloadsView): Map<string, string> {
  const owners = new Map<string, string>()
  for (const [key, { config, is }] of entries) if (is !== 'refused') owners.set(config.target, key)
  for (const [key, { target }] of configs) if (!owners.has(target)) owners.set(target, key)
  return owners
}

function nextOf(view: DownloadsView, key: string, owners: Map<string, string>): DownloadAction | 'ready' | null {
  const config = view.configs.get(key)
  const entry = view.entries.get(key)
  if (entry?.job) return entry.job.isCancelled ? null : nextOfRunning(view, key, entry, entry.job)
  if (!config) return entry && view.complete ? { do: 'forget', key } : null

  const isSame = entry !== undefined && same(config, entry.config)
  const refusal = !isTarget(view.pending, config.target)
    ? 'target is not in pending'
    : owners.get(config.target) !== key
      ? 'target is taken'
      : null
  if (refusal) {
    if (!isSame || entry.is !== 'refused') return { do: 'refuse', key, why: refusal }
  } else {
    if (!entry) return { do: 'take', key, why: 'new' }
    if (!isSame || entry.is === 'refused') return { do: 'take', key, why: whyTaken(config, entry) }
  }
  if (config.refs === 0) return entry.expired ? null : { do: 'expire', key }
  return entry.is === 'open' ? 'ready' : null
}

function nextOfRunning(view: DownloadsView, key: string, entry: DownloadEntry, job: RunningJob): DownloadAction | null {
  const config = view.configs.get(key)
  const cancel = (why: Extract<DownloadAction, { do: 'cancel' }>['why']): DownloadAction => ({ do: 'cancel', key, why })
  if (!config) return view.complete ? cancel('config gone') : null
  if (config.refs === 0) return cancel('let go')
  if (config.attempt > entry.config.attempt) return cancel('new attempt')
  if (!same(recipeOf(config), recipeOf(entry.config)) && !(hasMoreSources(config, entry.config) && !job.isPausing))
    return cancel('changed')
  if (isTooCostly(view, config)) return cancel('link too costly')
  if (job.isPausing && job.credentials !== view.credentials) return cancel('new credentials')
  return same(config, entry.config) ? null : { do: 'note', key }
}

function whyTaken(config: DownloadConfig, entry: DownloadEntry): Extract<DownloadAction, { do: 'take' }>['why'] {
  if (config.target !== entry.config.target) return 'other target'
  if (config.attempt > entry.config.attempt) return 'new attempt'
  return entry.expired && config.refs > 0 ? 'wanted again' : 'changed'
}

function planStarts(view: DownloadsView, ready: readonly string[]) {
  const { entries, settings, credentials, hostsOf, heldUntil, now } = view
  const starts: DownloadAction[] = []
  const hosts = [...entries.values()].flatMap(({ job }) => (job ? [job.host] : []))
  const times: number[] = []
  const hold = (key: string, hold: Hold) => {
    if (!same({ ...hold }, { ...entries.get(key)!.held })) starts.push({ do: 'hold', key, hold })
  }
  for (const key of ready) {
    const { config, wait, held } = entries.get(key)!
    if (wait?.credentials === credentials && (wait.until === null || wait.until > now)) {
      if (wait.until !== null) times.push(wait.until)
      continue
    }
    if (isTooCostly(view, config)) {
      hold(key, { why: 'link too costly', until: null })
      continue
    }
    if (held?.why === 'link too costly') starts.push({ do: 'release', key })
    // Whoever ends asks again; so far none of the others can start.
    if (hosts.length >= settings.atOnce) continue
    const asked = hostsOf(config)
    const host = asked.find(one => heldUntil(one) === 0)
    if (host === undefined) {
      const until = Math.min(...asked.map(heldUntil))
      times.push(until)
      hold(key, { why: 'hosts asked to wait', until })
      continue
    }
    if (held?.why === 'hosts asked to wait') starts.push({ do: 'release', key })
    if (host !== null && hosts.filter(one => one === host).length >= settings.perHost) continue
    hosts.push(host)
    starts.push({ do: 'start', key, host })
  }
  return { starts, askAgainAt: times.length > 0 ? Math.min(...times) : null }
}

/** What is on this machine costs nothing. */
const isTooCostly = ({ settings, hostsOf }: DownloadsView, config: DownloadConfig): boolean =>
  settings.linkCost > settings.maxCost && hostsOf(config).some(host => host !== null)

/** What a running job goes by. */
function recipeOf({ sha256, as, mediaType, sources, target, size, limit }: DownloadConfig) {
  return { sha256, as, mediaType, sources, target, size, limit }
}

/** And nothing else: somebody else wants the same bytes, and one who is fetching them goes on. */
function hasMoreSources(config: DownloadConfig, before: DownloadConfig): boolean {
  const { sources } = config
  const isThere = (one: DownloadConfig['sources'][number]) => sources.some(other => same(one, other))
  return before.sources.every(isThere) && same(recipeOf({ ...config, sources: before.sources }), recipeOf(before))
}

const same = (one: Parameters<typeof canonicalJson>[0], other: Parameters<typeof canonicalJson>[0]): boolean =>
  one === other || canonicalJson(one) === canonicalJson(other)
