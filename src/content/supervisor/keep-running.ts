// One process, over all its lives: started, given its channel, started again when it ends.
import type { Isolation } from '../messages.ts'
import { socketLink } from '../pubsub/socket-link.ts'
import { type LifeOptions, openLife } from './life.ts'
import { noRestarts, planRestart } from './plan-restart.ts'
import { type SpawnedProcess, type SpawnOptions, spawnProcess } from './spawn-process.ts'

export interface KeepOptions extends LifeOptions, SpawnOptions {
  readonly onEnd: (health: Exclude<Isolation['health'], 'running'>) => void
}

export interface KeptRunning {
  stop(): Promise<void>
}

const patienceAtEndMs = 5000

export function keepRunning(options: KeepOptions): KeptRunning {
  const { name, clock, log, onEnd } = options
  const stopped = new AbortController()
  const { signal } = stopped
  let process: SpawnedProcess | null = null

  const run = async () => {
    let record = noRestarts
    for (let starts = 1; !signal.aborted; starts++) {
      const startedAt = clock.monotonicMs()
      const started = spawnProcess(options)
      process = started
      const endLife = openLife(socketLink(started.channel), starts, options, { onHung: () => started.kill('SIGKILL') })
      const { how } = await started.ended
      endLife()
      process = null
      if (signal.aborted) return
      const plan = planRestart(record, { startedAt, endedAt: clock.monotonicMs() })
      record = plan.record
      log(`the ${name} ended with ${how} and is started again in ${plan.afterMs / 1000} s`)
      onEnd(record.degraded ? 'degraded' : 'restarting')
      await clock.sleep(plan.afterMs, signal).catch(() => {})
    }
  }
  const running = run()

  return {
    stop: async () => {
      stopped.abort()
      const last = process
      last?.kill('SIGTERM')
      const ended = new AbortController()
      clock.sleep(patienceAtEndMs, ended.signal).then(
        () => last?.kill('SIGKILL'),
        () => {},
      )
      await running
      ended.abort()
    },
  }
}
