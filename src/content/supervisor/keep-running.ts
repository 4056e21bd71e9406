// One process, over all its lives: started, given its channel, watched by its heartbeat, started again when it ends.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { redact } from '../../lib/redact.ts'
import type { ContentLayout } from '../layout.ts'
import type { Isolation, ProcessName } from '../messages.ts'
import { heartbeatMs } from '../process/run-process.ts'
import type { CallArgs } from '../process/supervisor-calls.ts'
import type { Hub } from '../pubsub/hub.ts'
import { socketLink } from '../pubsub/socket-link.ts'
import { answerCalls } from './answer-calls.ts'
import type { Command } from './plan-command.ts'
import { noRestarts, planRestart } from './plan-restart.ts'
import { connectRuntime } from './runtime-connection.ts'

export interface KeepOptions {
  readonly name: ProcessName
  readonly command: Command
  readonly layout: ContentLayout
  readonly insecure: boolean
  readonly containerd: string | undefined
  readonly hub: Hub
  readonly clock: Clock
  readonly log: (line: string) => void
  /** It has begun, and says how its self-check ended. Starts count from 1. */
  readonly onBegin: (report: CallArgs<'begin'>, life: { pid: number; starts: number }) => void
  readonly onEnd: (health: Exclude<Isolation['health'], 'running'>) => void
}

export interface KeptRunning {
  stop(): Promise<void>
}

const patienceAtEndMs = 5000
const missedBeats = 3
/** Before its first sign of life a process may have to wait for a busy machine. */
const missedAtStart = 12

export function keepRunning(options: KeepOptions): KeptRunning {
  const { name, clock, log, onEnd } = options
  const stopped = new AbortController()
  const { signal } = stopped
  let child: ChildProcess | null = null

  const run = async () => {
    let record = noRestarts
    for (let starts = 1; !signal.aborted; starts++) {
      const startedAt = clock.monotonicMs()
      child = start(options)
      const how = await live(child, starts, options)
      child = null
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
      const last = child
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

function start({ name, command: { program, args, env }, log }: KeepOptions): ChildProcess {
  const child = spawn(program, args, {
    // The last one only carries handles, and only to the manager.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(name === 'manager' ? (['ipc'] as const) : [])],
    // Ctrl-C is for the supervisor, which ends its processes in order.
    detached: true,
    env,
    cwd: '/',
  })
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output as Readable }).on('line', line => log(`${name}: ${redact(line).slice(0, 4000)}`))
  return child
}

/** Resolves when it has ended, saying how. */
function live(child: ChildProcess, starts: number, options: KeepOptions): Promise<string> {
  const { name, layout, insecure, containerd, hub, clock, log, onBegin } = options
  let signs = 0
  let tickets = 0
  const answer = answerCalls(name, layout, {
    begin: async report => {
      onBegin(report, { pid: child.pid ?? 0, starts })
      return { layout, insecure }
    },
    runtime: async () => {
      const socket = await connectRuntime(containerd)
      if (!socket) return null
      const ticket = ++tickets
      child.send({ ticket }, socket, error => error && socket.destroy())
      return { ticket }
    },
  })
  hub.accept(socketLink(child.stdio[3] as Socket), {
    role: name,
    onCall: (call, args) => {
      signs++
      return answer(call, args)
    },
    onBeat: () => signs++,
    onClose: fault => {
      if (fault) log(`the channel of the ${name} was closed: ${fault.code}: ${fault.text}`)
    },
  })

  const ended = new AbortController()
  const watch = async () => {
    let allowed = missedAtStart
    for (let missed = 0; missed < allowed; ) {
      await clock.sleep(heartbeatMs, ended.signal)
      missed = signs > 0 ? 0 : missed + 1
      if (signs > 0) allowed = missedBeats
      signs = 0
    }
    log(`the ${name} has missed its heartbeats and is killed`)
    child.kill('SIGKILL')
  }
  watch().catch(() => {})
  return new Promise(resolve => {
    const end = (how: string) => {
      ended.abort()
      resolve(how)
    }
    child.on('exit', (code, signal) => end(signal ?? `code ${code}`))
    child.on('error', error => {
      if (child.pid === undefined) end(error.message)
    })
  })
}
