// Whether what was applied is also as it should be. A kind without status is ready as soon as it is written; the others say
// so themselves: by a condition Ready, or by a phase.
import type { Live, LiveId, Platform } from '../bundles/platform.ts'
import type { Clock } from '../lib/clock.ts'
import { byKind, type Kind, type Spec } from '../resources/kind.ts'

export interface Readiness {
  readonly ready: boolean
  readonly waiting: { readonly kind: string; readonly name: string; readonly reason: string }[]
}

export interface AwaitedResource extends LiveId {
  /** As the bundle calls it. */
  readonly name: string
}

/** Watches until all are ready, or for this long. Undoes nothing. */
export async function awaitReadiness({
  resources,
  platform,
  onChange,
  clock,
  waitMs,
  signal,
}: {
  readonly resources: readonly AwaitedResource[]
  readonly platform: Pick<Platform, 'read' | 'kinds'>
  onChange(listener: () => void): () => void
  readonly clock: Clock
  readonly waitMs: number
  readonly signal: AbortSignal
}): Promise<Readiness> {
  const until = clock.now().getTime() + waitMs
  let wake = () => {}
  const stopWatching = onChange(() => wake())
  const gone = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
  try {
    for (;;) {
      const changed = new Promise<void>(resolve => {
        wake = resolve
      })
      const readiness = judge(resources, platform.kinds, await platform.read(resources))
      const rest = until - clock.now().getTime()
      if (readiness.ready || rest <= 0 || signal.aborted) return readiness
      const sleeping = new AbortController()
      await Promise.race([changed, gone, clock.sleep(rest, sleeping.signal).catch(() => {})])
      sleeping.abort()
    }
  } finally {
    stopWatching()
  }
}

function judge(
  resources: readonly AwaitedResource[],
  kinds: readonly Kind[],
  found: Awaited<ReturnType<Platform['read']>>,
): Readiness {
  const byName = byKind(kinds)
  const waiting = resources.flatMap(({ kind, id, name }) => {
    const live = found.get(id)
    const reason =
      live === undefined
        ? 'it is gone'
        : 'unreadable' in live
          ? live.unreadable.reason
          : byName.get(kind)?.status
            ? notReady(live)
            : null
    return reason === null ? [] : [{ kind, name, reason }]
  })
  return { ready: waiting.length === 0, waiting }
}

const goodPhases = new Set(['Ready', 'Healthy', 'Available', 'Cached', 'Active', 'Succeeded', 'Completed', 'Bound'])

/** Null when it is ready. A status without either has nothing to wait for. */
function notReady({ status }: Live): string | null {
  if (!status) return 'it has not reported yet'
  if (Array.isArray(status.conditions)) {
    const condition = (status.conditions as Spec[]).find(({ type }) => type === 'Ready')
    if (!condition) return 'it has not said whether it is ready'
    if (condition.status === 'True') return null
    return String(condition.message ?? condition.reason ?? 'it is not ready')
  }
  if (typeof status.phase === 'string') return goodPhases.has(status.phase) ? null : `it is ${status.phase}`
  return null
}
