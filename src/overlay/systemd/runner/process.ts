// Starts one command of a unit: in a session of its own, with nothing on standard input and its output in the unit's log.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

export interface ProcessStart {
  readonly program: string
  readonly args: readonly string[]
  /** What the program sees as its own name. */
  readonly argv0: string
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  readonly output: (bytes: Uint8Array) => void
}

export interface Started {
  /** Null when it could not be started; `ended` says so too. */
  readonly pid: number | null
  readonly ended: Promise<Ended>
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** systemd's exit status for a program that could not be started. */
const execFailed = 203
const outputMs = 200

export function startProcess({ program, args, argv0, environment, directory, output }: ProcessStart): Started {
  const child = spawn(program, args, {
    argv0,
    cwd: directory,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { promise, resolve } = Promise.withResolvers<Ended>()
  child.stdout.on('data', output)
  child.stderr.on('data', output)
  child.on('error', error => {
    output(Buffer.from(`${program}: ${error.message}\n`))
    resolve({ code: execFailed, signal: null })
  })
  child.on('close', (code, signal) => resolve({ code, signal }))
  // What the process left behind may keep its output open for ever; what it wrote itself is read by then.
  child.on('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), outputMs))
  return { pid: child.pid ?? null, ended: promise }
}

/** The number that systemd shows for it: the exit code, or the signal's number. */
export const statusOf = ({ code, signal }: Ended): number => code ?? (signal ? constants.signals[signal] : 0)
