// Content and volumes of a machine below a directory of its own, asked through the command line of the bundle that ships.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type ContentLayout, contentLayoutOf } from '../../src/content/layout.ts'
import type { ProcessName } from '../../src/content/messages.ts'
import type { Peer } from '../../src/content/pubsub/peer.ts'
import { connectTo } from '../../src/content/supervisor/connect.ts'
import { removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import type { ErrorJson } from '../../src/lib/render.ts'
import { buildOnce, install } from '../machine/bundle.ts'
import { run, runOrThrow } from '../machine/process.ts'

export interface ContentMachine {
  /** What --root is. */
  readonly root: string
  readonly layout: ContentLayout
  /** The program and the words that make it speak JSON about this machine, for whoever starts it in another way. */
  command(...words: string[]): string[]
  /** What it says; throws when it exits with anything but 0. */
  cairn<Said = unknown>(...words: string[]): Promise<Said>
  /** Of a command that fails: what it exits with, and the code of its error. */
  refused(...words: string[]): Promise<Refused>
  /** DIR/etc/cairn/content.json. */
  configure(settings: object): void
  /** A file beside the machine; returns its path. */
  write(name: string, content: string | Uint8Array): string
  /** Names in verified/, pending/ or volumes/, records not counted. */
  names(directory: 'verified' | 'pending' | 'volumes'): string[]
  startDaemon(...flags: string[]): Promise<Daemon>
  dispose(): Promise<void>
}

export interface Refused {
  readonly exit: number
  readonly code: string
}

export interface Daemon {
  readonly pid: number
  /** A requester's end of a new channel; closed with the daemon. */
  peer(): Promise<Peer>
  /** SIGTERM; all of it has ended when it resolves. */
  stop(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
}

export async function contentMachine(): Promise<ContentMachine> {
  const bundle = await buildOnce()
  const place = mkdtempSync(join(tmpdir(), 'cairn-content-'))
  const program = join(place, 'cairn')
  install(bundle, program)
  const node = join(program, `node_modules/node-linux-${process.arch}/bin/node`)
  mkdirSync(dirname(node))
  symlinkSync(process.execPath, node)

  const root = join(place, 'machine')
  const layout = contentLayoutOf({ base: join(root, 'cairn'), run: join(root, 'run/cairn') })
  const command = (...words: string[]) => [join(program, 'bin/cairn'), ...words, '--root', root, '--json']
  const daemons: Daemon[] = []
  const machine: ContentMachine = {
    root,
    layout,
    command,
    async cairn(...words) {
      const { code, stdout, stderr } = await run(command(...words))
      if (code !== 0) throw new Error(`cairn ${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
      return JSON.parse(stdout)
    },
    async refused(...words) {
      const { code, stdout } = await run(command(...words))
      if (code === 0) throw new Error(`cairn ${words.join(' ')} was not refused:\n${stdout}`)
      const { error } = JSON.parse(stdout) as ErrorJson
      return { exit: code, code: error.code }
    },
    configure(settings) {
      mkdirSync(join(root, 'etc/cairn'), { recursive: true })
      writeFileSync(join(root, 'etc/cairn/content.json'), JSON.stringify(settings))
    },
    write(name, content) {
      const path = join(place, name)
      writeFileSync(path, content)
      return path
    },
    names: directory =>
      readdirSync(layout[directory])
        .filter(name => name !== 'records')
        .sort(),
    async startDaemon(...flags) {
      const daemon = await startDaemon(layout, [join(program, 'bin/cairn'), 'node', 'daemon', '--root', root, ...flags])
      daemons.push(daemon)
      return daemon
    },
    async dispose() {
      for (const daemon of daemons) await daemon.kill()
      await eventually(() => Object.values(processesOf(layout)).flat().length === 0)
      for (const mount of mountsBelow(place)) await runOrThrow(['umount', mount])
      removeTree(realFiles, place)
    },
  }
  return machine
}

async function startDaemon(layout: ContentLayout, [program = '', ...args]: readonly string[]): Promise<Daemon> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', chunk => (said += chunk))
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise(done => child.once('close', done))
    child.kill(signal)
    await exited
  }
  await eventually(() => said.includes('are running') || ended(child)).catch(() => {})
  if (!said.includes('are running')) {
    await end('SIGKILL')
    throw new Error(`the daemon did not start:\n${said}`)
  }
  return {
    pid: child.pid!,
    peer: async () => (await connectTo(layout, 'requester'))!,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

const ended = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** The last one that was mounted first. */
function mountsBelow(place: string): string[] {
  const all = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const targets = all.map(line => (line.split(' ')[4] ?? '').replaceAll('\\043', '#'))
  return targets.filter(target => target.startsWith(`${place}/`)).reverse()
}

/** Of the content processes that work below this directory: their ids. */
export function processesOf({ verified }: ContentLayout): Readonly<Record<ProcessName, readonly number[]>> {
  const found: Record<ProcessName, number[]> = { downloader: [], verifier: [], manager: [] }
  for (const entry of readdirSync('/proc')) {
    const words = commandLineOf(entry)
    const name = words[words.indexOf('--content-process') + 1] as ProcessName
    // The downloader is only told what it may write.
    const isHere = words.some(word => word.endsWith(`=${verified}`) || word.endsWith(`=${dirname(verified)}/pending`))
    if (words.includes('--content-process') && isHere) found[name].push(Number(entry))
  }
  return found
}

/** Empty when there is no such process any more. */
export function commandLineOf(pid: string | number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}

/** What it gives when it is neither undefined nor false; throws after half a minute. */
export async function eventually<Value>(look: () => Value | undefined | false): Promise<Value> {
  for (const until = Date.now() + 30_000; Date.now() < until; await setTimeout(20)) {
    const value = look()
    if (value !== undefined && value !== false) return value
  }
  throw new Error(`did not happen within 30 s: ${look}`)
}
