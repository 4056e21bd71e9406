// Runs one command and measures it from outside: wall time, peak memory, system calls.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../../src/lib/run.ts'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface Sample {
  readonly ms: number
  /** Of the largest process that the command started; null where it was too short to be seen. */
  readonly peakBytes: number | null
}

export class CommandFailed extends Error {}

const gnuTime = findProgram('time')
const strace = findProgram('strace')

/** Throws CommandFailed when the command does not exit with 0. */
export const runOnce = (command: Command): Promise<Sample> =>
  withFile(async file => {
    const wrapped = gnuTime ? wrap(command, [gnuTime, '-q', '-f', '%M', '-o', file]) : command
    const { ms, sampledPeak } = await runTimed(wrapped, { samplePeak: !gnuTime })
    return { ms, peakBytes: gnuTime ? Number(readFileSync(file, 'utf8')) * 1024 : sampledPeak }
  })

/** The command is run all the same where strace is missing; then nothing is counted. */
export const countCalls = (command: Command): Promise<number | null> =>
  withFile(async file => {
    if (!strace) {
      await runTimed(command)
      return null
    }
    await runTimed(wrap(command, [strace, '-f', '-c', '--summary-columns=calls,name', '-o', file]))
    const [, total] = /(\d+) total\s*$/.exec(readFileSync(file, 'utf8')) ?? []
    return total === undefined ? null : Number(total)
  })

/** For what is made ready before a measurement. */
export function runUnmeasured({ program, args, env, cwd }: Command): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    ...(cwd !== undefined && { cwd }),
  })
  if (error) throw error
  if (status !== 0) throw failed({ program, args }, status, stderr)
  return stdout
}

function wrap(command: Command, [program = '', ...args]: string[]): Command {
  return { ...command, program, args: [...args, command.program, ...command.args] }
}

async function runTimed(
  command: Command,
  { samplePeak = false } = {},
): Promise<{ ms: number; sampledPeak: number | null }> {
  const { program, args, env, cwd } = command
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const started = performance.now()
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
  })
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr = (stderr + chunk).slice(-4000)
  })
  child.on('error', reject)
  let ended = 0
  child.on('exit', () => {
    ended = performance.now()
  })
  child.on('close', code => (code === 0 ? resolve(ended - started) : reject(failed(command, code, stderr))))
  let sampledPeak: number | null = null
  const timer = samplePeak
    ? setInterval(() => {
        sampledPeak = highWaterMark(child.pid) ?? sampledPeak
      }, 10)
    : undefined
  try {
    return { ms: await promise, sampledPeak }
  } finally {
    clearInterval(timer)
  }
}

function highWaterMark(pid: number | undefined): number | null {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? null : Number(kilobytes) * 1024
  } catch {
    return null
  }
}

const failed = ({ program, args }: Command, code: number | null, stderr: string) =>
  new CommandFailed(`${[program, ...args.slice(0, 6)].join(' ')} ended with ${code}: ${stderr.trim().slice(-1000)}`)

async function withFile<T>(work: (file: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-out-'))
  try {
    return await work(join(directory, 'out'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}
