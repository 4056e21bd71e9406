// Copies one file into a directory that is becoming a state.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import { readChunks } from '../../lib/read-chunks.ts'
import type { Sha256 } from '../names.ts'

/** Makes missing parents; returns the hash of what was copied. */
export function copyFile(files: Files, from: string, to: { directory: string; path: string; mode: number }): Sha256 {
  const target = join(to.directory, to.path)
  makeDirectories(files, dirname(target))
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const fd = files.open(target, flags, to.mode)
  try {
    const hash = createHash('sha256')
    for (const chunk of readChunks(files, from)) {
      files.write(fd, chunk)
      hash.update(chunk)
    }
    return hash.digest('hex') as Sha256
  } finally {
    files.close(fd)
  }
}
