// Decides which tags and referrers are asked for now. Touches nothing. A question is asked once and again when its counter
// changes, when its wait after a failure is over, or with other credentials.
import type { ResolveConfig } from '../messages.ts'
import type { Wait } from './plan-downloads.ts'

export type ResolveAction =
  | { readonly do: 'take'; readonly key: string; readonly why: 'new' | 'asked again' }
  | { readonly do: 'cancel'; readonly key: string; readonly why: 'config gone' | 'asked again' }
  | { readonly do: 'forget'; readonly key: string }
  /** Infinite: the link is too costly. */
  | { readonly do: 'hold'; readonly key: string; readonly until: number }
  | { readonly do: 'start'; readonly key: string }

export interface ResolveEntry {
  readonly counter: number
  readonly isAnswered: boolean
  readonly job: { readonly isCancelled: boolean } | null
  readonly wait: Wait | null
  /** Until when it was told that it is held; 0 when it was not. */
  readonly heldUntil: number
}

export interface ResolvesView {
  readonly configs: ReadonlyMap<string, ResolveConfig>
  readonly complete: boolean
  readonly entries: ReadonlyMap<string, ResolveEntry>
  readonly credentials: number
  /** 0 when its host may be asked; infinite when the link is too costly. */
  readonly heldUntil: (config: ResolveConfig) => number
  readonly now: number
}

export interface ResolvePlan {
  readonly actions: readonly ResolveAction[]
  readonly askAgainAt: number | null
}

/** They are small, so they wait for no download, and a few at once are enough. */
const atOnce = 4

export function planResolves(view: ResolvesView): ResolvePlan {
  const { configs, entries, credentials, now } = view
  const actions: ResolveAction[] = []
  const times: number[] = []
  let running = [...entries.values()].filter(({ job }) => job).length
  for (const key of new Set([...entries.keys(), ...configs.keys()])) {
    const config = configs.get(key)
    const entry = entries.get(key)
    if (entry?.job) {
      const why = !config ? view.complete && 'config gone' : config.counter !== entry.counter && 'asked again'
      if (why && !entry.job.isCancelled) actions.push({ do: 'cancel', key, why })
    } else if (!config) {
      if (view.complete) actions.push({ do: 'forget', key })
    } else if (entry?.counter !== config.counter) {
      actions.push({ do: 'take', key, why: entry ? 'asked again' : 'new' })
    } else if (!entry.isAnswered) {
      const waits = entry.wait?.credentials === credentials ? (entry.wait.until ?? Number.POSITIVE_INFINITY) : 0
      const held = view.heldUntil(config)
      const until = Math.max(waits, held)
      if (held > waits && held !== entry.heldUntil) actions.push({ do: 'hold', key, until: held })
      else if (until > now) times.push(until)
      else if (running++ < atOnce) actions.push({ do: 'start', key })
    }
  }
  const askAgainAt = Math.min(...times)
  return { actions, askAgainAt: Number.isFinite(askAgainAt) ? askAgainAt : null }
}
