// The content of a source as text: UTF-8, with or without a byte order mark.
import { isUtf8 } from 'node:buffer'
import { lineIndex } from '../../lib/line-index.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Source } from '../model/source.ts'

/** Without byte order mark; a Problem when it is no UTF-8. */
export function textOf({ name, content }: Pick<Source, 'name' | 'content'>): string | Problem {
  if (typeof content === 'string') return content.startsWith('\uFEFF') ? content.slice(1) : content
  try {
    return strict.decode(content)
  } catch {
    return notUtf8(name, content)
  }
}

/** Takes a byte order mark away. */
const strict = new TextDecoder('utf-8', { fatal: true })

function notUtf8(file: string, bytes: Uint8Array): Problem {
  // Decoded leniently and written again, the bytes differ where the first wrong one was replaced, or just behind its start.
  const again = Buffer.from(Buffer.from(bytes).toString('utf8'))
  const differs = again.findIndex((byte, at) => byte !== bytes[at])
  const valid = bytes.subarray(0, differs === -1 ? bytes.length : differs)
  const before = Buffer.from(valid)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  const offset = isUtf8(valid) ? before.length : before.length - 1
  return {
    code: 'source.not-utf8',
    path: '',
    reason: 'the text is not UTF-8',
    hint: 'Save the file as UTF-8.',
    source: { file, ...lineIndex(before)(offset) },
  }
}
