// The manager's side of the calls that only it may make. Connections to the container runtime come as handles beside the
// channel; the answer on the channel says which one is meant.
import type { Socket } from 'node:net'
import * as z from 'zod'
import type { ManagerCalls } from './calls.ts'
import { type AskSupervisor, linksPerCall } from './supervisor-calls.ts'

/** Gives the handle with that ticket, now or when it comes. */
export type RuntimeSockets = (ticket: number) => Promise<Socket>

export function managerCalls(ask: AskSupervisor, socketOf: RuntimeSockets): ManagerCalls {
  return {
    mkfs: (path, type) => ask('mkfs', { path, type }),
    mount: (mounts, target) =>
      ask('mount', { mounts: mounts.map(mount => ({ ...mount, options: [...mount.options] })), target }),
    unmount: target => ask('unmount', { target }),
    symlink: async links => {
      for (let at = 0; at < links.length; at += linksPerCall)
        await ask('symlink', { links: links.slice(at, at + linksPerCall) })
    },
    syncFileSystem: path => ask('syncFileSystem', { path }),
    connectRuntime: async () => {
      const answer = await ask('runtime', null)
      return answer && socketOf(answer.ticket)
    },
  }
}

const handoverSchema = z.strictObject({ ticket: z.number() })

/** Listens from the start: a handle may be here before the answer that names it. */
export function runtimeSockets(): RuntimeSockets {
  const byTicket = new Map<number, PromiseWithResolvers<Socket>>()
  const slot = (ticket: number) => {
    const found = byTicket.get(ticket) ?? Promise.withResolvers<Socket>()
    byTicket.set(ticket, found)
    return found
  }
  process.on('message', (message, handle) => {
    if (handle) slot(handoverSchema.parse(message).ticket).resolve(handle as Socket)
  })
  return async ticket => {
    const socket = await slot(ticket).promise
    byTicket.delete(ticket)
    return socket
  }
}
