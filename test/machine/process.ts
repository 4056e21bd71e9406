// Runs a program to its end and hands back all of what it said.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { text } from 'node:stream/consumers'

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly input?: string | Uint8Array
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/** A program ended by a signal has the code 128 + its number, as in a shell. Throws only if it cannot be started. */
export async function run(command: readonly string[], { input, ...options }: RunOptions = {}): Promise<Finished> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: 'pipe', ...options })
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
  // A program that does not read its input may close it before everything is written; that is its right.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}

export async function runOrThrow(command: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const finished = await run(command, options)
  if (finished.code !== 0)
    throw new Error(`${command.join(' ')} ended with ${finished.code}:\n${finished.stdout}${finished.stderr}`)
  return finished
}
