// The roots of trust that the administrator put into trust/. Nothing that was downloaded ever gets there.
import { join } from 'node:path'
import { byName } from '../../lib/by-name.ts'
import { isErrno, messageOf } from '../../lib/errors.ts'
import { readSmall } from './read-blob.ts'
import type { Tools } from './tools.ts'

export interface Roots {
  /** One certificate a text, in the order of the files' names. */
  readonly roots: readonly string[]
  /** What cannot be read, and why; trusted by nobody. */
  readonly leftOut: readonly string[]
}

const maxRootFile = 2 ** 20
const certificates = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

export function readRoots({ files, layout }: Pick<Tools, 'files' | 'layout'>): Roots {
  const roots: string[] = []
  const leftOut: string[] = []
  try {
    for (const name of files.readdir(layout.trust).sort(byName)) {
      if (!name.endsWith('.pem')) continue
      try {
        const text = readSmall(files, join(layout.trust, name), maxRootFile)?.toString('latin1')
        if (text === undefined) leftOut.push(`${name} is no plain file of at most ${maxRootFile} bytes`)
        roots.push(...(text?.match(certificates) ?? []))
      } catch (error) {
        leftOut.push(`${name}: ${messageOf(error)}`)
      }
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) leftOut.push(messageOf(error))
  }
  return { roots, leftOut }
}
