// The manager's side of the calls that only it may make. Connections to the container runtime come as handles from the one
// who started it, beside the channel.
import type { Socket } from 'node:net'
import type { ManagerCalls } from './calls.ts'
import { type AskSupervisor, linksPerCall } from './supervisor-calls.ts'

export function managerCalls(ask: AskSupervisor): ManagerCalls {
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
    connectRuntime: runtimeOfParent(),
  }
}

/** Each question has one answer, a connection or none; which of them is whose does not matter. */
function runtimeOfParent(): ManagerCalls['connectRuntime'] {
  const waiting: ((socket: Socket | null) => void)[] = []
  process.on('message', (_, handle) => waiting.shift()?.((handle as Socket | undefined) ?? null))
  return () =>
    new Promise((resolve, reject) => {
      if (!process.send) return resolve(null)
      waiting.push(resolve)
      process.send('runtime', undefined, undefined, error => error && reject(error))
    })
}
