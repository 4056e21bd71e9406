// inline: the text stands in the config itself.
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import { sha256Hex } from '../../lib/json.ts'
import { writeNew } from '../../lib/write-new.ts'
import type { Sha256 } from '../names.ts'
import { checksumMismatch } from './problems.ts'
import type { MadeSource, SourceFields } from './source.ts'

export function inlineSource({ source, path, mode, checksum, problems, declaredAt }: SourceFields): MadeSource | null {
  const { content } = source
  if (content === undefined) return null
  if (checksum) {
    const got = createHash(checksum.algorithm).update(content).digest('hex')
    if (!checksum.digests.includes(got)) problems.push(checksumMismatch(declaredAt, 'the content', checksum, got))
  }
  return {
    inputs: { type: 'inline', content, path, mode },
    async build(directory, { files }) {
      const target = join(directory, path)
      makeDirectories(files, dirname(target))
      writeNew(files, target, content, mode)
      return { sourceSha256: sha256Hex(content) as Sha256 }
    },
  }
}
