// Where the runner of one root keeps what is its own: /run/cairn of the machine, for the user who started it alone.
import { join } from 'node:path'
import { makeDirectories } from '../../../lib/durable.ts'
import type { Files } from '../../../lib/files.ts'

export interface RunnerPlace {
  readonly directory: string
  readonly socket: string
  readonly lock: string
  readonly ledger: string
  readonly logs: string
}

export function placeOf(root: string): RunnerPlace {
  const directory = join(root, 'run/cairn')
  return {
    directory,
    socket: join(directory, 'runner.sock'),
    lock: join(directory, 'runner.lock'),
    ledger: join(directory, 'processes.json'),
    logs: join(directory, 'log'),
  }
}

export function makePlace(files: Files, { directory, logs }: RunnerPlace) {
  makeDirectories(files, join(directory, '..'))
  makeDirectories(files, directory, 0o700)
  makeDirectories(files, logs, 0o700)
}
