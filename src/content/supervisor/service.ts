// The content processes for the time of a command: those of a supervisor that runs already, else of one that is started in
// this process. When the other one goes away in the middle, this one takes over, and everything is said again.
import { CairnError, RefusedError } from '../../lib/errors.ts'
import { createPeer } from '../pubsub/create-peer.ts'
import type { Link } from '../pubsub/link.ts'
import { memoryLinks } from '../pubsub/memory-link.ts'
import type { Peer } from '../pubsub/peer.ts'
import { dial } from './connect.ts'
import { type Supervisor, type SupervisorOptions, startSupervisor } from './supervisor.ts'

export type ServiceOptions = SupervisorOptions

export interface Service {
  /** Lasts from one supervisor to the next; closed only when there can be none. */
  readonly peer: Peer
  /** The supervisor runs in this process; may become true later. */
  readonly owned: boolean
  /** What was said has arrived, and what this process started has ended, when it resolves. */
  close(): Promise<void>
}

/** One that is ending needs this long at most; one that only starts is there sooner. */
const patienceMs = 20_000
const pauseMs = 50

export async function openService(options: ServiceOptions): Promise<Service> {
  const { layout, clock, log } = options
  let own: Supervisor | null = null
  let searching: Promise<void> | null = null
  let closing = false
  const detached = Promise.withResolvers<void>()

  const peer = createPeer({
    detached: () => {
      if (closing) detached.resolve()
      else if (!searching) takeOver()
    },
    refused: ({ code, text }) => log(`${code}: ${text}`),
  })

  const search = async () => {
    const started = clock.monotonicMs()
    for (let reason: unknown = null; ; await clock.sleep(pauseMs)) {
      try {
        const link = (await dial(layout, 'requester')) ?? (await startOwn())
        await peer.attach(link)
        return
      } catch (error) {
        if (!isPassing(error)) throw error
        reason = error
      }
      if (closing || clock.monotonicMs() - started > patienceMs) throw reason
    }
  }
  const startOwn = async (): Promise<Link> => {
    own = await startSupervisor(options)
    const [theirs, ours] = memoryLinks()
    own.hub.accept(theirs, { role: 'requester' })
    return ours
  }
  const takeOver = () => {
    searching = search()
      .catch(error => {
        if (!closing) log(`no supervisor can be reached any more: ${error instanceof Error ? error.message : error}`)
        peer.close()
      })
      .finally(() => {
        searching = null
      })
  }

  searching = search()
  await searching.finally(() => {
    searching = null
  })
  return {
    peer: peer.peer,
    get owned() {
      return own !== null
    },
    close: async () => {
      closing = true
      await searching
      if (peer.attached()) {
        peer.close()
        await detached.promise
      }
      await own?.stop()
    },
  }
}

/** Another one is just starting or ending. */
const isPassing = (error: unknown): boolean =>
  error instanceof CairnError &&
  (error.code === 'channel.closed' || (error instanceof RefusedError && error.code === 'lock.busy'))
