// A connection to the container runtime for a process that may open none: made here, and handed over before a byte is read.
import { connect, type Socket } from 'node:net'

/** Null when nobody answers there. */
export function connectRuntime(path: string | undefined): Promise<Socket | null> {
  if (path === undefined) return Promise.resolve(null)
  return new Promise(resolve => {
    const socket = connect({ path })
    // The runtime speaks first; what is read here would be lost to the one who gets the socket.
    socket.pause()
    socket.on('connect', () => resolve(socket))
    socket.on('error', () => resolve(null))
  })
}
