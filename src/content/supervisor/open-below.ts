// Opens what a process names in its own directories, and only there: no part of the way may be a link, so that nothing the
// process makes can lead the supervisor out. Each step is taken from the directory that is already open.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { normalize, relative } from 'node:path'
import { CairnError, isErrno } from '../../lib/errors.ts'

/** The handle is the caller's to close. */
export async function openBelow(roots: readonly string[], path: string, flags: number): Promise<FileHandle> {
  const root = roots.find(candidate => path === candidate || path.startsWith(`${candidate}/`))
  if (!root || normalize(path) !== path || path.endsWith('/'))
    throw new CairnError('call.refused', `${path} is not in a directory of the one who asks`)
  const steps = relative(root, path).split('/').filter(Boolean)
  let handle = await open(root, steps.length > 0 ? directoryFlags : flags | constants.O_RDONLY)
  for (const [index, name] of steps.entries()) {
    const isLast = index === steps.length - 1
    const parent = handle
    try {
      handle = await openIn(parent, name, isLast ? flags : directoryFlags)
    } finally {
      await parent.close()
    }
  }
  return handle
}

/** Never follows a link, never waits for the other end of a pipe. */
export async function openIn(directory: FileHandle, name: string, flags: number): Promise<FileHandle> {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name))
    throw new CairnError('call.refused', `${JSON.stringify(name)} is no name of a file`)
  try {
    return await open(placeIn(directory, name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    if (isErrno(cause, 'ELOOP', 'ENOTDIR', 'ENXIO'))
      throw new CairnError('call.refused', `${name} is a link or something else that is not opened`, { cause })
    throw cause
  }
}

/** A path to a name in an open directory, wherever that has been moved since. */
export const placeIn = (directory: FileHandle, name: string): string => `/proc/self/fd/${directory.fd}/${name}`

/** The same file for a program that we start. */
export const placeFor = (handle: FileHandle): string => `/proc/${process.pid}/fd/${handle.fd}`

export const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY
