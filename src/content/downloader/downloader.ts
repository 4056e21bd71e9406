// The downloader: the only process that opens connections. It looks at all that is wanted whenever something changes, and
// keeps nothing that a look could not find again. It writes to pending/ only, and trusts nothing that it brings.

import type { ProcessContext } from '../process/context.ts'
import { createBandwidth } from './bandwidth.ts'
import { createDownloads } from './downloads.ts'
import { createHosts } from './hosts.ts'
import type { Origins } from './origin.ts'
import { createResolves } from './resolves.ts'
import { readSettings } from './settings.ts'
import { createSweep } from './sweep.ts'

const sweepEveryMs = 5 * 60_000

/** Resolves when the signal aborts or the channel closes, and all jobs have put away what they had. */
export async function startDownloader(context: ProcessContext, origins: Origins): Promise<void> {
  const { peer, clock, random } = context
  const closed = new AbortController()
  const signal = AbortSignal.any([context.signal, closed.signal])
  peer.onClose(() => closed.abort())

  const settings = readSettings(peer)
  const hosts = createHosts(clock, random, () => ({
    perHost: settings.now().perHost,
    longestPauseMs: settings.now().retrySeconds * 1000,
  }))
  const tools = { ...context, signal, origins, hosts, bandwidth: createBandwidth(clock) }
  const configure = () => {
    const { datastores, stallSeconds, bandwidth } = settings.now()
    origins.configure(datastores, stallSeconds * 1000)
    tools.bandwidth.limit(bandwidth)
    hosts.lookAgain()
  }

  let alarm = new AbortController()
  let isDue = false
  const look = () => {
    isDue = false
    if (signal.aborted) return
    if (settings.refresh()) configure()
    const times = [downloads.look(), resolves.look()].filter(time => time !== null)
    alarm.abort()
    alarm = new AbortController()
    if (times.length > 0) {
      const ms = Math.max(Math.min(...times) - clock.monotonicMs(), 1)
      clock.sleep(ms, AbortSignal.any([signal, alarm.signal])).then(look, () => {})
    }
  }
  /** Many changes at once are one look. */
  const lookSoon = () => {
    if (isDue) return
    isDue = true
    queueMicrotask(look)
  }
  const downloads = createDownloads(tools, settings, lookSoon)
  const resolves = createResolves(tools, settings, lookSoon)
  const pending = createSweep(context)
  const sweep = () => {
    if (peer.isComplete('downloadConfig')) pending.leftovers(downloads.targets())
  }

  settings.refresh()
  configure()
  pending.halfMade()
  look()
  sweep()
  peer.complete('downloadStatus')
  peer.complete('resolveStatus')
  let wasComplete = peer.isComplete('downloadConfig')
  peer.onChange(() => {
    lookSoon()
    const isComplete = peer.isComplete('downloadConfig')
    if (isComplete && !wasComplete) sweep()
    wasComplete = isComplete
  })
  while (!signal.aborted) {
    await clock.sleep(sweepEveryMs, signal).catch(() => {})
    if (!signal.aborted) sweep()
  }
  await Promise.all([downloads.stop(), resolves.stop()])
}
