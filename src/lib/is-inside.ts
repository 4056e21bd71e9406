import { sep } from 'node:path'

/** Below the directory, which itself does not count. Both are real paths. */
export const isInside = (path: string, directory: string): boolean =>
  path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
