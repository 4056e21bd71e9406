// Starts one process behind its walls, with a channel as its file descriptor 3, and hands the manager its connections to the
// container runtime. The supervisor does this, or in a unit of systemd the launcher.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { redact } from '../../lib/redact.ts'
import type { ProcessName } from '../messages.ts'
import type { Command } from './plan-command.ts'
import { connectRuntime } from './runtime-connection.ts'

export interface SpawnOptions {
  readonly name: ProcessName
  readonly command: Command
  /** Socket of containerd; undefined: the machine has none. */
  readonly containerd: string | undefined
  readonly log: (line: string) => void
}

export interface SpawnedProcess {
  /** Our end of its channel. */
  readonly channel: Socket
  readonly kill: (signal: NodeJS.Signals) => void
  /** Its channel may still hold what it said last. Never rejects. */
  readonly ended: Promise<Ended>
}

export interface Ended {
  /** In words. */
  readonly how: string
  /** For whoever ends with it. */
  readonly exit: number
}

export function spawnProcess({ name, command: { program, args, env }, containerd, log }: SpawnOptions): SpawnedProcess {
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
  // Whatever it asks there, this is the only answer.
  child.on('message', () => handRuntimeTo(child, containerd))
  return {
    channel: child.stdio[3] as Socket,
    kill: signal => void child.kill(signal),
    ended: new Promise(resolve => {
      child.on('exit', (code, signal) => resolve({ how: signal ?? `code ${code}`, exit: code ?? 1 }))
      child.on('error', error => {
        if (child.pid === undefined) resolve({ how: error.message, exit: 1 })
      })
    }),
  }
}

async function handRuntimeTo(child: ChildProcess, path: string | undefined): Promise<void> {
  const socket = await connectRuntime(path)
  child.send({ runtime: socket !== null }, socket ?? undefined, error => error && socket?.destroy())
}
