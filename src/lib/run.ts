// Child processes: programs are found in fixed directories and started directly, never through a shell or PATH.
// Each runs in a session of its own, so that Ctrl-C or a lost terminal ends Cairn's way, not the program's.
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { basename } from 'node:path'
import { CairnError, isErrno } from './errors.ts'

export interface RunOptions {
  readonly input?: string | Uint8Array
  /** After this long the program and all it started are killed, and `run` throws program.timeout. */
  readonly timeoutMs?: number
  /** Added to Cairn's own environment, in which PATH and LC_ALL are fixed. */
  readonly env?: Readonly<Record<string, string>>
  /** Where it is to run; default where Cairn does. */
  readonly cwd?: string
  readonly signal?: AbortSignal
  /** Standard output beyond this many bytes is an error; default 16 MiB. */
  readonly maxOutput?: number
}

export interface RunResult {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  /** The end of it, when it is long. */
  readonly stderr: string
}

const directories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']
const keptOfStderr = 64 * 1024

/** The absolute path of a program, or null when the machine has none. */
export function findProgram(name: string): string | null {
  return directories.map(directory => `${directory}/${name}`).find(isExecutable) ?? null
}

/** A program that fails is a result; one that cannot be started, runs too long or says too much is an error. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { input, timeoutMs, env, cwd, signal, maxOutput = 16 * 1024 * 1024 } = options
  signal?.throwIfAborted()
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, PATH: directories.join(':'), LC_ALL: 'C.UTF-8', ...env },
    cwd,
  })
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>()
  const killWith = (reason: unknown) => {
    killGroup(child.pid)
    reject(reason)
  }
  const onAbort = () => killWith(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => killWith(tookTooLong(program, timeoutMs)), timeoutMs)

  const stdout: Buffer[] = []
  let stdoutLength = 0
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk)
    stdoutLength += chunk.length
    if (stdoutLength > maxOutput) killWith(saidTooMuch(program, maxOutput))
  })
  let stderr: Buffer = Buffer.alloc(0)
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = Buffer.concat([stderr, chunk]).subarray(-keptOfStderr)
  })
  child.on('error', cause => reject(notStarted(program, cause)))
  child.on('close', (code, endedBy) =>
    resolve({ code, signal: endedBy, stdout: Buffer.concat(stdout).toString('utf8'), stderr: stderr.toString('utf8') }),
  )
  // A program may end without reading its input; its exit code tells what that means.
  child.stdin.on('error', () => {})
  child.stdin.end(input)

  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function killGroup(pid: number | undefined) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}

const notStarted = (program: string, cause: Error) =>
  isErrno(cause, 'ENOENT')
    ? new CairnError('program.missing', `${program} is not installed`, { cause })
    : new CairnError('program.not-started', `${program} cannot be started: ${cause.message}`, { cause })

const tookTooLong = (program: string, timeoutMs: number) =>
  new CairnError('program.timeout', `${basename(program)} did not end within ${timeoutMs / 1000} s and was killed`)

const saidTooMuch = (program: string, maxOutput: number) =>
  new CairnError('program.output-too-long', `${basename(program)} wrote more than ${maxOutput} bytes and was killed`)
