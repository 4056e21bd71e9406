// Starts the content processes behind their walls, keeps them running, and is the one place where their channels meet.
// One for each store: the lock says which. What it publishes of a process is what it has seen itself, not what it meant.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../lib/clock.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { acquireLock } from '../../lib/lock.ts'
import type { ContentLayout } from '../layout.ts'
import { type Isolation, type ProcessName, processNames } from '../messages.ts'
import type { CallArgs } from '../process/supervisor-calls.ts'
import { type Hub, openHub } from '../pubsub/hub.ts'
import { memoryLinks } from '../pubsub/memory-link.ts'
import { type OpenedPeer, openPeer } from '../pubsub/open-peer.ts'
import { socketLink } from '../pubsub/socket-link.ts'
import type { PeerRole } from '../topics.ts'
import { type AwaitedProcess, awaitProcess } from './await-process.ts'
import { makeContentDirectories, makeOne } from './directories.ts'
import { keepRunning } from './keep-running.ts'
import { findLayers } from './layers.ts'
import { codePlaces, planCommand } from './plan-command.ts'
import { seeProcess } from './see-process.ts'
import { letSettle } from './settle.ts'
import { openSockets } from './sockets.ts'

export interface SupervisorOptions {
  readonly layout: ContentLayout
  /** The words that start Cairn again: node, its flags, and the main file. */
  readonly self: readonly string[]
  readonly clock: Clock
  /** Start no process: each is a unit of systemd, and joins on a socket of its own. */
  readonly units?: boolean
  /** Run a process also where no wall holds. */
  readonly insecure?: boolean
  /** Socket of containerd; absent: the machine has none. */
  readonly containerd?: string
  /** One line of text, of the supervisor or one of its processes. */
  readonly log: (line: string) => void
  readonly files?: Files
}

export interface Supervisor {
  readonly hub: Hub
  /** A peer within this process. */
  connect(role: PeerRole): OpenedPeer
  /** The processes have put away what was let go and have ended, and the lock is free, when it resolves. */
  stop(): Promise<void>
}

/** Refuses with `lock.busy` when another one runs. Returns as soon as it can be reached; the processes may still be starting. */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { layout, clock, log, units = false, insecure = false, files = realFiles } = options
  makeOne(files, layout.run, 0o755)
  const lock = await acquireLock(join(layout.run, 'supervisor.lock'), { command: 'cairn content', clock, files })
  try {
    const layers = await findLayers()
    makeContentDirectories(files, layout, layers.downloader)
    const hub = openHub({ requests: layout.requests, files, clock, log })
    const connect = (role: PeerRole) => {
      const [theirs, ours] = memoryLinks()
      hub.accept(theirs, { role })
      return openPeer(ours)
    }
    const report = reportIsolation(connect('supervisor'), insecure)
    const lifeOf = (name: ProcessName) => ({
      name,
      layout,
      insecure,
      downloaderUid: layers.downloader?.uid,
      hub,
      clock,
      log,
      onBegin: (self: CallArgs<'begin'>, starts: number) => report.begun(name, self, starts),
      onEnd: (health: Isolation['health']) => report.ended(name, health),
    })
    const [awaitedNames, ownNames] = units ? [processNames, []] : [[], processNames]
    const awaited = new Map<PeerRole, AwaitedProcess>(awaitedNames.map(name => [name, awaitProcess(lifeOf(name))]))
    const sockets = await openSockets(
      layout.run,
      (socket, role) => {
        const process = awaited.get(role)
        if (process) process.accept(socket)
        else hub.accept(socketLink(socket), { role })
      },
      { processes: awaitedNames, downloader: layers.downloader },
    )
    const code = codePlaces(fileURLToPath(import.meta.url))
    const started = ownNames.map(name =>
      keepRunning({
        ...lifeOf(name),
        command: planCommand({ name, layout, self: options.self, code, layers, env: process.env }),
        containerd: options.containerd,
      }),
    )
    return {
      hub,
      connect,
      stop: async () => {
        await letSettle(hub, clock)
        await Promise.all([...started, ...awaited.values()].map(({ stop }) => stop()))
        await sockets.close()
        hub.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Tells of each process what was seen of it last; complete when all have been seen. */
function reportIsolation(peer: OpenedPeer, insecure: boolean) {
  const seen = new Map<ProcessName, Isolation>()
  const tell = (isolation: Isolation) => {
    seen.set(isolation.process, isolation)
    peer.publish('isolation', isolation.process, isolation)
    if (seen.size === processNames.length) peer.complete('isolation')
  }
  return {
    begun: (process: ProcessName, { permission, checked, proof, pid }: CallArgs<'begin'>, starts: number) =>
      tell({ process, permission, checked, proof, ...seeProcess(pid), insecure, health: 'running', starts }),
    ended: (process: ProcessName, health: Isolation['health']) => {
      const { starts } = seen.get(process) ?? { starts: 0 }
      tell({ process, ...noWalls, insecure, health, starts })
    },
  }
}

const noWalls = { permission: false, netns: false, ownUid: false, checked: false, proof: [] }
