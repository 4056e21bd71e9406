// Where running processes mention paths: program, working directory, root, mapped files, environment, arguments, open files.
// Processes come and go while this reads, and some belong to others: what cannot be read of one is left out.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { CairnError, isErrno } from '../../../lib/errors.ts'

export interface ProcessMention {
  readonly pid: number
  /** As ps shows it. */
  readonly name: string
  /** `/proc/4242/maps` */
  readonly file: string
  readonly text: string
}

/** The port: gc asks it once for each run; tests give processes of their own. */
export type ReadProcesses = () => Iterable<ProcessMention>

export function* readProcesses(): Generator<ProcessMention> {
  for (const entry of listProc()) if (/^\d+$/.test(entry)) yield* mentionsOf(Number(entry))
}

/** Without it nobody knows what runs, and a collection must not guess. */
function listProc(): string[] {
  try {
    return readdirSync('/proc')
  } catch (cause) {
    const hint = 'Mount it (mount -t proc proc /proc) and try again.'
    throw new CairnError('process.unseen', 'what runs on this machine cannot be seen without /proc', { hint, cause })
  }
}

function* mentionsOf(pid: number): Generator<ProcessMention> {
  const directory = `/proc/${pid}`
  const name = ifReadable(() => readFileSync(`${directory}/comm`, 'latin1'))?.trim()
  if (name === undefined) return
  for (const link of ['exe', 'cwd', 'root', ...openFiles(directory)]) {
    const file = `${directory}/${link}`
    const text = ifReadable(() => readlinkSync(file))
    if (text !== undefined) yield { pid, name, file, text }
  }
  for (const content of ['cmdline', 'environ', 'maps']) {
    const file = `${directory}/${content}`
    const text = ifReadable(() => readFileSync(file, 'latin1'))
    if (text) yield { pid, name, file, text }
  }
}

const openFiles = (directory: string) => (ifReadable(() => readdirSync(`${directory}/fd`)) ?? []).map(fd => `fd/${fd}`)

function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}
