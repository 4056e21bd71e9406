// One process that others start, a unit of systemd: each connection to its socket is one of its lives. Whoever started it
// also starts it again; here is only told how it is. One that hangs loses its channel, and its launcher ends it.
import type { Socket } from 'node:net'
import { socketLink } from '../pubsub/socket-link.ts'
import type { KeepOptions, KeptRunning } from './keep-running.ts'
import { type LifeOptions, openLife } from './life.ts'
import { noRestarts, planRestart } from './plan-restart.ts'

export interface AwaitedProcess extends KeptRunning {
  /** The newest connection is the process; an older one is closed. */
  accept(socket: Socket): void
}

/** A unit that is to come has come by then. */
const patienceMs = 15_000

export function awaitProcess(options: LifeOptions & Pick<KeepOptions, 'onEnd'>): AwaitedProcess {
  const { name, clock, log, onEnd } = options
  let current: Socket | null = null
  let starts = 0
  let record = noRestarts
  let waiting = new AbortController()
  let stopped = false

  const wait = () => {
    waiting = new AbortController()
    clock.sleep(patienceMs, waiting.signal).then(
      () => {
        log(`nobody comes as the ${name}: is cairn-${name}.service running?`)
        onEnd('degraded')
      },
      () => {},
    )
  }
  wait()

  return {
    accept: socket => {
      waiting.abort()
      current?.destroy()
      current = socket
      const startedAt = clock.monotonicMs()
      const endLife = openLife(socketLink(socket), ++starts, options, {
        onHung: () => socket.destroy(),
        onClose: () => {
          endLife()
          if (current !== socket || stopped) return
          current = null
          record = planRestart(record, { startedAt, endedAt: clock.monotonicMs() }).record
          log(`the ${name} has gone`)
          onEnd(record.degraded ? 'degraded' : 'restarting')
          wait()
        },
      })
    },
    stop: async () => {
      stopped = true
      waiting.abort()
    },
  }
}
