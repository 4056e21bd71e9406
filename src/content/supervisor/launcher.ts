// One process as a unit of systemd: started behind its walls as the supervisor would start it, its channel carried to the
// supervisor that waits for it. Whichever of the two goes first, the other goes too, and systemd starts the unit again.
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../lib/clock.ts'
import type { ContentLayout } from '../layout.ts'
import type { ProcessName } from '../messages.ts'
import { dialSocket } from './connect.ts'
import { findLayers } from './layers.ts'
import { codePlaces, planCommand } from './plan-command.ts'
import { spawnProcess } from './spawn-process.ts'

export interface LaunchOptions {
  readonly name: ProcessName
  readonly layout: ContentLayout
  /** The words that start Cairn again: node, its flags, and the main file. */
  readonly self: readonly string[]
  readonly clock: Clock
  /** Socket of containerd; undefined: the machine has none. */
  readonly containerd: string | undefined
  readonly log: (line: string) => void
  /** Aborted when it is to end. */
  readonly signal: AbortSignal
}

const pauseMs = 200
const patienceAtEndMs = 5000

/** Resolves with the exit code of the process when that has ended. */
export async function launchProcess(options: LaunchOptions): Promise<number> {
  const { name, layout, self, clock, containerd, log, signal } = options
  const layers = await findLayers()
  const connection = await join(options)
  if (!connection) return 0
  const code = codePlaces(fileURLToPath(import.meta.url))
  const command = planCommand({ name, layout, self, code, layers, env: process.env })
  const { channel, kill, ended } = spawnProcess({ name, command, containerd, log })

  // Carried and not handed down: a process that hangs does not see that its channel is gone, and is ended from here.
  connection.pipe(channel).pipe(connection)
  const gone = new AbortController()
  const killLater = () =>
    clock.sleep(patienceAtEndMs, gone.signal).then(
      () => kill('SIGKILL'),
      () => {},
    )
  for (const end of [connection, channel]) end.on('error', () => {})
  channel.on('close', () => connection.destroySoon())
  connection.on('close', () => {
    channel.destroy()
    killLater()
  })
  const onAbort = () => {
    kill('SIGTERM')
    killLater()
  }
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()

  const { how, exit } = await ended
  gone.abort()
  if (!signal.aborted) log(`the ${name} ended with ${how}`)
  return exit
}

/** Null when it is told to end before anybody is there. */
async function join({ name, layout, clock, log, signal }: LaunchOptions): Promise<Socket | null> {
  for (let tries = 0; !signal.aborted; tries++) {
    const connection = await dialSocket(layout, name)
    if (connection) return connection
    if (tries === 0) log(`the ${name} waits for its supervisor`)
    await clock.sleep(pauseMs, signal).catch(() => {})
  }
  return null
}
