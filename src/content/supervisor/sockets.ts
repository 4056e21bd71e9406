// The two sockets through which others on this machine reach the hub. Only the holder of the supervisor's lock calls this, so
// that what lies at their places is stale. Each appears in one rename, with its mode: it is never open to more than it is for.
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { directoryFlags, placeIn } from './open-below.ts'

export type SocketRole = 'requester' | 'watcher'

export const socketNames: Readonly<Record<SocketRole, string>> = { requester: 'agent.sock', watcher: 'status.sock' }
const modes: Readonly<Record<SocketRole, number>> = { requester: 0o600, watcher: 0o660 }

export interface Sockets {
  close(): Promise<void>
}

export async function openSockets(run: string, accept: (socket: Socket, role: SocketRole) => void): Promise<Sockets> {
  const workshop = join(run, '.sockets')
  await rm(workshop, { recursive: true, force: true })
  await mkdir(workshop, { mode: 0o700 })
  // By the open directory: a path of a socket has at most 107 bytes, ours may be longer.
  const directory = await open(workshop, directoryFlags)
  const servers: Server[] = []
  try {
    for (const role of ['watcher', 'requester'] as const) {
      const name = socketNames[role]
      const server = createServer(socket => accept(socket, role))
      servers.push(server)
      await new Promise<void>((done, reject) => {
        server.once('error', reject)
        server.listen(placeIn(directory, name), done)
      })
      await chmod(join(workshop, name), modes[role])
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
