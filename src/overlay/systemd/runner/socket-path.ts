// A unix socket's path may have 107 bytes, a directory's many more. Through /proc the socket of any directory has a short
// path for whoever has that directory open.
import { closeSync, constants, openSync } from 'node:fs'
import { basename, dirname } from 'node:path'

export interface SocketPath {
  readonly path: string
  /** The path is of no use afterwards. May be called again. */
  release(): void
}

export function shortPath(socket: string): SocketPath {
  const fd = openSync(dirname(socket), constants.O_RDONLY | constants.O_DIRECTORY)
  let open = true
  return {
    path: `/proc/self/fd/${fd}/${basename(socket)}`,
    release: () => {
      if (open) closeSync(fd)
      open = false
    },
  }
}
