// The sockets through which others on this machine reach the hub: two for commands, and one for each process that is a unit
// of systemd. Only the holder of the supervisor's lock calls this, so that what lies at their places is stale. Each appears
// in one rename, with its owner and mode: it is never open to more than it is for.
import { chmod, chown, mkdir, open, rename, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { ProcessName } from '../messages.ts'
import { directoryFlags, placeIn } from './open-below.ts'
import type { Layers } from './plan-command.ts'

export type SocketRole = 'requester' | 'watcher' | ProcessName

export const socketNames: Readonly<Record<SocketRole, string>> = {
  requester: 'agent.sock',
  watcher: 'status.sock',
  downloader: 'downloader.sock',
  verifier: 'verifier.sock',
  manager: 'manager.sock',
}

export interface ProcessSockets {
  readonly processes: readonly ProcessName[]
  /** Whose the downloader's is; null: ours. */
  readonly downloader: Layers['downloader']
}

export interface Sockets {
  close(): Promise<void>
}

export async function openSockets(
  run: string,
  accept: (socket: Socket, role: SocketRole) => void,
  { processes, downloader }: ProcessSockets = { processes: [], downloader: null },
): Promise<Sockets> {
  const workshop = join(run, '.sockets')
  await rm(workshop, { recursive: true, force: true })
  await mkdir(workshop, { mode: 0o700 })
  // By the open directory: a path of a socket has at most 107 bytes, ours may be longer.
  const directory = await open(workshop, directoryFlags)
  const servers: Server[] = []
  try {
    for (const role of [...processes, 'watcher', 'requester'] as const) {
      const name = socketNames[role]
      const server = createServer(socket => accept(socket, role))
      servers.push(server)
      await new Promise<void>((done, reject) => {
        server.once('error', reject)
        server.listen(placeIn(directory, name), done)
      })
      if (role === 'downloader' && downloader) await chown(join(workshop, name), downloader.uid, downloader.gid)
      await chmod(join(workshop, name), role === 'watcher' ? 0o660 : 0o600)
      await rename(join(workshop, name), join(run, name))
    }
  } finally {
    await directory.close()
    await rm(workshop, { recursive: true, force: true })
  }
  return {
    close: async () => {
      for (const name of Object.values(socketNames)) await rm(join(run, name), { force: true })
      for (const server of servers) server.close()
    },
  }
}
