// Our side: the shipped bundle as a package is installed, on machines that are directories.
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processNames } from '../../src/content/messages.ts'
import { runUnmeasured } from '../lib/command.ts'
import { removeAll } from '../lib/remove.ts'
import type { Contender } from '../lib/rounds.ts'
import { buildCairn } from '../overlay/cairn.ts'

export function buildContentCairn(directory: string): string {
  const program = buildCairn(directory)
  // The walled-in processes may read this one only, and Node looks for it.
  copyFileSync(join(import.meta.dirname, '../../package.json'), join(directory, 'package.json'))
  runUnmeasured({ program, args: ['content', 'list', '--help'] })
  return program
}

export interface Machine {
  readonly root: string
  command(name: string, ...words: string[]): Contender
  exists(): boolean
  /** Empty, with its settings. */
  begin(): void
  /** The processes run from here on. */
  startDaemon(): void
  stopDaemon(signal?: NodeJS.Signals): void
  /** Ids of the running processes by name; `supervisor` is the daemon. */
  processes(): Readonly<Record<string, number>>
}

export function machineAt(program: string, root: string, settings: object): Machine {
  let daemon: number | null = null
  const machine: Machine = {
    root,
    command: (name, ...words) => ({ name, program, args: [...words, '--root', root, '--quiet'] }),
    exists: () => existsSync(root),
    begin() {
      machine.stopDaemon()
      removeAll(root)
      mkdirSync(join(root, 'etc/cairn'), { recursive: true })
      writeFileSync(join(root, 'etc/cairn/content.json'), JSON.stringify(settings))
    },
    startDaemon() {
      const child = spawn(program, ['node', 'daemon', '--root', root], { stdio: 'ignore' })
      process.on('exit', () => child.kill('SIGKILL'))
      daemon = child.pid ?? null
      for (let left = 1000; !isRunning(machine) && left > 0; left--) pause(20)
      runUnmeasured(machine.command('', 'content', 'status'))
    },
    stopDaemon(signal = 'SIGTERM') {
      if (daemon === null) return
      process.kill(daemon, signal)
      for (let left = 1000; isAlive(daemon) && left > 0; left--) pause(20)
      for (let left = 1000; childrenOf(root).length > 0 && left > 0; left--) pause(20)
      daemon = null
    },
    processes: () => ({ ...Object.fromEntries(childrenOf(root)), ...(daemon !== null && { supervisor: daemon }) }),
  }
  return machine
}

const isRunning = (machine: Machine) => processNames.every(name => machine.processes()[name] !== undefined)

/** Without the event loop: what begins a round is not asynchronous. */
const pause = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** One that has ended and that nobody has waited for is not alive. */
function isAlive(pid: number): boolean {
  const [, state] = /\) (\w)/.exec(readIfThere(`/proc/${pid}/stat`)) ?? []
  return state !== undefined && state !== 'Z'
}

function childrenOf(root: string): [name: string, pid: number][] {
  return readdirSync('/proc').flatMap(entry => {
    const words = readIfThere(`/proc/${entry}/cmdline`).split('\0')
    const at = words.indexOf('--content-process')
    const isHere = words.some(word => word.startsWith(`--allow-fs-write=${root}/`))
    // The words are also those of unshare and setpriv, until they have become Node.
    const isNode = readIfThere(`/proc/${entry}/comm`).startsWith('node')
    return at > 0 && isHere && isNode ? [[words[at + 1] ?? '', Number(entry)]] : []
  })
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
