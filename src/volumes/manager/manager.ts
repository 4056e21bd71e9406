// The volume manager: hears what is asked for and what the others did, lets the switchboard decide, and does what it says.
// It has no network and decides nothing itself. Whatever fails here comes back as an event; a crash loses only what can be
// asked for again.
import type { ManagerContext } from '../../content/process/calls.ts'
import type { Change, Peer } from '../../content/pubsub/peer.ts'
import type { TopicName } from '../../content/topics.ts'
import type { ContainerRuntime } from '../container/runtime.ts'
import { newSwitchboard } from '../switchboard/model.ts'
import type { Gone, Put, SwitchboardEvent } from '../switchboard/protocol.ts'
import { reduce } from '../switchboard/reduce.ts'
import type { VolumeKinds } from './do-job.ts'
import { measureSpace, watchSpace } from './free-space.ts'
import { failureOf, openJobs } from './jobs.ts'
import { type News, performer } from './perform.ts'
import { type RuntimeSlot, runtimeSlot } from './runtime-slot.ts'
import { orphansOf, scanVolumes } from './scan.ts'
import { openStore } from './store.ts'

export interface ManagerParts {
  readonly kinds: VolumeKinds
  /** Null when the machine has none that answers. */
  readonly openRuntime: () => Promise<ContainerRuntime | null>
}

const heardTopics = [
  'contentConfig',
  'volumeConfig',
  'certConfig',
  'downloadStatus',
  'verifyStatus',
  'resolveStatus',
  'signatureStatus',
  'managerSettings',
] as const satisfies readonly TopicName[]

/** Resolves when the signal of the context has aborted and all work has ended. */
export async function startManager(context: ManagerContext, parts: ManagerParts): Promise<void> {
  const { peer, clock, signal, layout } = context
  const state = newSwitchboard(layout.pending)
  const store = openStore(context)
  const runtime = runtimeSlot(parts.openRuntime)
  const jobs = openJobs((job, outcome) => tell({ on: 'ended', job, outcome }))
  const alarm = openAlarm(context, () => tell({ on: 'tick' }))
  const space = watchSpace(context, measured => tell({ on: 'space', ...measured }))
  const perform = performer({
    context,
    kinds: parts.kinds,
    runtime,
    jobs,
    store,
    tell: news => tell(news),
    look: space.look,
    wakeAt: alarm.set,
  })

  // News that comes while effects are carried out waits its turn.
  const queue: News[] = []
  let isBusy = false
  function tell(news: News) {
    queue.push(news)
    if (isBusy) return
    isBusy = true
    try {
      for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
        const now = { wall: clock.now().getTime(), monotonic: clock.monotonicMs() }
        for (const effect of reduce(state, { ...next, now } as SwitchboardEvent)) perform(effect)
      }
    } finally {
      isBusy = false
    }
  }

  const volumes = scanVolumes(context)
  const held = await heldBy(context, runtime)
  tell({ on: 'scanned', scan: { ...store.read(), volumes: [...volumes, ...orphansOf(context, held, volumes)] } })
  tell({ on: 'space', ...(await measureSpace(context)) })
  hear(peer, tell)

  await Promise.all([space.done, alarm.done])
  await jobs.close()
}

/** From the mirror, whole, and then whatever changes. */
function hear(peer: Peer, tell: (news: News) => void) {
  let complete = new Set<TopicName>()
  const tellComplete = (now: Set<TopicName>) => {
    if (now.size === complete.size && now.isSubsetOf(complete)) return
    complete = now
    tell({ on: 'complete', topics: now })
  }
  const completeNow = () => new Set<TopicName>(heardTopics.filter(topic => peer.isComplete(topic)))
  const tellChanges = (changes: readonly Change[]) => {
    const puts: Put[] = []
    const deletes: Gone[] = []
    for (const { topic, key } of changes) {
      if (!(heardTopics as readonly TopicName[]).includes(topic)) continue
      const value = peer.all(topic).get(key)
      if (value === undefined) deletes.push({ topic, key })
      else puts.push({ topic, key, value } as Put)
    }
    if (puts.length + deletes.length > 0) tell({ on: 'changes', puts, deletes })
  }
  tellChanges(heardTopics.flatMap(topic => [...peer.all(topic).keys()].map(key => ({ topic, key }))))
  tellComplete(completeNow())
  peer.onChange(changes => {
    const now = completeNow()
    // A set that is not whole any more is known before its gaps are seen; one that has become whole, after its last part.
    tellComplete(complete.intersection(now))
    tellChanges(changes)
    tellComplete(now)
  })
}

const patienceMs = 5000

/** A runtime that does not answer keeps no disk waiting. */
async function heldBy({ clock, signal, log }: ManagerContext, runtime: RuntimeSlot): Promise<readonly string[]> {
  const tooLate = clock.sleep(patienceMs, signal).then(
    () => [],
    () => [],
  )
  const held = runtime
    .use(one => one.held())
    .catch(error => {
      log(`the container runtime cannot tell what it holds: ${failureOf(error).text}`)
      return []
    })
  return Promise.race([held, tooLate])
}

/** Longer than any timer of the system can be. */
const longestSleepMs = 3_600_000

/** One alarm at a time; the last that was set counts. */
function openAlarm({ clock, signal }: ManagerContext, ring: () => void) {
  let current = new AbortController()
  const done = new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const set = (monotonic: number) => {
    current.abort()
    current = new AbortController()
    const wait = Math.min(Math.max(monotonic - clock.monotonicMs(), 0), longestSleepMs)
    const again = () => (clock.monotonicMs() < monotonic ? set(monotonic) : ring())
    clock.sleep(wait, AbortSignal.any([signal, current.signal])).then(again, () => {})
  }
  return { done, set }
}
