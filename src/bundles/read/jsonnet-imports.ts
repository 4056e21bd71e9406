// Finds what Jsonnet imports: beside the importing file, then in the given directories. A file counts as where it really
// is, so no link and no `..` leads out.
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { isErrno } from '../../lib/errors.ts'
import { isInside } from '../../lib/is-inside.ts'
import type { JsonnetImporter } from '../../lib/jsonnet/evaluate.ts'
import type { Problem } from '../../lib/problem.ts'
import { defaultLimits } from '../model/source.ts'

/** `directories` are real paths. */
export function importFrom(directories: readonly string[]): JsonnetImporter {
  return {
    resolve: (fromFile, path) => {
      if (directories.length === 0) return refused(`${path} cannot be imported: imports are not allowed here`)
      const places = isAbsolute(path) ? [path] : [dirname(fromFile), ...directories].map(place => join(place, path))
      let outside = false
      for (const file of places) {
        const real = realPath(file)
        if (real === 'missing') continue
        if (real !== 'hidden' && directories.some(directory => isInside(real, directory))) return read(file, real)
        outside = true
      }
      return refused(
        outside
          ? `${path} is outside the directories that may be imported from: ${directories.join(', ')}`
          : `${path} is not there, neither beside ${fromFile} nor in ${directories.join(', ')}`,
      )
    },
  }
}

/** `hidden`: the process may not even look, so it is outside. */
function realPath(file: string): string | 'missing' | 'hidden' {
  try {
    return realpathSync.native(file)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return 'missing'
    if (isErrno(error, 'EACCES', 'ERR_ACCESS_DENIED', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE')) return 'hidden'
    throw error
  }
}

/** Opened so that a pipe does not make us wait, and a link that came between is not followed. */
function read(file: string, real: string): { file: string; content: Uint8Array } | Problem {
  try {
    const fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) return refused(`${file} is not a file`)
      if (stat.size > defaultLimits.fileBytes) return refused(`${file} is larger than ${defaultLimits.fileBytes} bytes`)
      return { file, content: readFileSync(fd) }
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (isErrno(error, 'EACCES', 'ERR_ACCESS_DENIED', 'ENOENT', 'ELOOP')) return refused(`${file} cannot be read`)
    throw error
  }
}

const refused = (reason: string): Problem => ({ code: 'jsonnet.import', path: '', reason })
