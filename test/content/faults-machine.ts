// Cairn as it ships, below a root of a test's own: commands with their answers, and the daemon with its processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ContentLayout, contentLayoutOf } from '../../src/content/layout.ts'
import type { ContentStatus, ProcessName, VolumeStatus } from '../../src/content/messages.ts'
import { removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import { run } from '../../src/lib/run.ts'
import { buildOnce, install } from '../machine/bundle.ts'

export interface Program {
  /** Starts Cairn. */
  readonly path: string
  /** A machine that has never seen Cairn. */
  machine(): ContentMachine
  /** With all its machines, and whatever still runs on them. */
  remove(): Promise<void>
}

export interface ContentMachine {
  readonly root: string
  readonly layout: ContentLayout
  /** `cairn … --root … --json`. */
  cairn<Said = ContentStatus & VolumeStatus & Failed>(...args: string[]): Promise<Answer<Said>>
  /** Without --json: what a person sees. */
  shown(...args: string[]): Promise<{ readonly code: number; readonly text: string }>
  /** etc/cairn/content.json, and files beside it. */
  configure(settings: object, beside?: Readonly<Record<string, string>>): void
  /** Resolves when it can be asked. */
  daemon(env?: Readonly<Record<string, string>>): Promise<Daemon>
}

export interface Answer<Said> {
  readonly code: number
  readonly said: Said
}

export interface Failed {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly hint?: string
    readonly problems: readonly { readonly code: string; readonly path: string; readonly reason: string }[]
  }
}

export interface Daemon {
  readonly pid: number
  /** All that it has said. */
  readonly log: string
  /** Those that live now. */
  processes(): ReadonlyMap<ProcessName, number>
  /** SIGKILL; resolves when it and its processes are gone. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** No command takes this long, whatever else the machine does. */
const timeoutMs = 90_000

/** In memory where there is enough of it: the tests write some hundred megabytes. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export async function installCairn(): Promise<Program> {
  const directory = mkdtempSync(join(place, 'cairn-content-'))
  install(await buildOnce(), join(directory, 'cairn'))
  symlinkSync(dirname(process.execPath), join(directory, `cairn/node_modules/node-linux-${process.arch}/bin`))
  const path = join(directory, 'cairn/bin/cairn')
  const end = new AbortController()
  const daemons: Daemon[] = []
  let machines = 0
  return {
    path,
    machine: () => machineAt(path, join(directory, `m${++machines}`), { signal: end.signal, daemons }),
    async remove() {
      end.abort()
      await Promise.all(daemons.map(daemon => daemon.kill()))
      removeTree(realFiles, directory)
    },
  }
}

/** What ends with the program. */
interface Running {
  readonly signal: AbortSignal
  readonly daemons: Daemon[]
}

function machineAt(program: string, root: string, { signal, daemons }: Running): ContentMachine {
  const layout = contentLayoutOf({ base: join(root, 'cairn'), run: join(root, 'run/cairn') })
  mkdirSync(root)
  return {
    root,
    layout,
    async cairn(...args) {
      const { code, stdout, stderr } = await run(program, [...args, '--root', root, '--json'], { timeoutMs, signal })
      if (code === null || stderr !== '') throw new Error(`cairn ${args.join(' ')} ended with ${code}: ${stderr}`)
      return { code, said: JSON.parse(stdout) }
    },
    async shown(...args) {
      const { code, stdout, stderr } = await run(program, [...args, '--root', root], { timeoutMs, signal })
      return { code: code ?? -1, text: stdout + stderr }
    },
    configure(settings, beside = {}) {
      const directory = join(root, 'etc/cairn')
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, 'content.json'), JSON.stringify(settings))
      for (const [name, text] of Object.entries(beside)) writeFileSync(join(directory, name), text, { mode: 0o600 })
    },
    async daemon(env) {
      const daemon = await startDaemon([program, 'node', 'daemon', '--root', root], env)
      daemons.push(daemon)
      return daemon
    },
  }
}

async function startDaemon([program = '', ...args]: string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  let log = ''
  child.stderr.on('data', chunk => (log += chunk))
  const end = async (signal: NodeJS.Signals) => {
    const left = [...processesOf(child).values()]
    await ended(child, signal)
    await until('its processes are gone', () => left.every(pid => !isThere(pid)))
  }
  const daemon: Daemon = {
    pid: child.pid!,
    get log() {
      return log
    },
    processes: () => processesOf(child),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
  const isUp = () => log.includes('The content processes are running.')
  await until('the daemon runs', () => isUp() || child.exitCode !== null)
  if (!isUp()) throw new Error(`the daemon ended with ${child.exitCode}: ${log}`)
  return daemon
}

function processesOf({ pid }: ChildProcess): Map<ProcessName, number> {
  const names = new Map<ProcessName, number>()
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  for (const child of children) {
    // Before they are Node they are what builds the walls; then nothing is running yet.
    const [program = '', ...words] = readIfThere(`/proc/${child}/cmdline`).split('\0')
    const at = words.indexOf('--content-process')
    if (/\bnode$/.test(program) && at >= 0) names.set(words[at + 1] as ProcessName, Number(child))
  }
  return names
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise(done => child.once('exit', done))
  child.kill(signal)
  await exited
}

const isThere = (pid: number): boolean => !['', 'Z'].includes(stateOf(pid))

/** A letter; Z for one that is dead and not yet collected. */
const stateOf = (pid: number): string => /\) (\w)/.exec(readIfThere(`/proc/${pid}/stat`))?.[1] ?? ''

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Asks again and again; throws when it does not come to be. */
export async function until<Found>(what: string, find: () => Found | Promise<Found>, mostMs = 60_000): Promise<Found> {
  for (const deadline = Date.now() + mostMs; ; await delay(10)) {
    const found = await find()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`after ${mostMs / 1000} s it does not hold that ${what}`)
  }
}

/** Names in a directory of the machine, without what is half-made. */
export const namesIn = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory)
        .filter(name => !name.startsWith('.'))
        .sort()
    : []
