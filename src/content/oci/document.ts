// Reads a small JSON document that came from elsewhere: UTF-8 without a mark, no key twice, an object at the top.
import { readJson } from '../../lib/located-json.ts'
import { withoutControls } from '../../lib/redact.ts'

export type Document = Readonly<Record<string, unknown>>

export const maxDocumentSize = 4 * 2 ** 20

/** A text is the reason why there is none. */
export function readDocument(bytes: Uint8Array): Document | string {
  if (bytes.length > maxDocumentSize) return `it has ${bytes.length} bytes, and at most ${maxDocumentSize} are read`
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (text.startsWith('\uFEFF')) return 'it starts with a byte order mark'
    const { value, problems } = readJson({ file: '', text })
    if (problems[0]) return withoutControls(problems[0].reason).slice(0, 300)
    return isObject(value) ? value : 'it is no JSON object'
  } catch (error) {
    return error instanceof RangeError ? 'it is nested too deeply' : 'it is not UTF-8'
  }
}

const isObject = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
