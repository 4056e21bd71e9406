// Names of entries as archives write them: taken apart, never repaired.
import { nameInvalid, traversal } from './refusals.ts'

const longestPart = 255
const longestPath = 2048

/** `./a//b/` is a/b; an absolute name and one that goes up is refused, not repaired. */
export function partsOf(name: string, refuse = traversal): string[] {
  checkText(name, name)
  const parts = name.split('/').filter(part => part !== '' && part !== '.')
  if (name.startsWith('/') || parts.includes('..')) throw refuse(name)
  if (Buffer.byteLength(name) > longestPath || parts.some(part => Buffer.byteLength(part) > longestPart))
    throw nameInvalid(name, 'has a name that is too long')
  return parts
}

/** A name that is not UTF-8 arrives with replacement characters, and would be another name on disk. */
export function checkText(entry: string, text: string) {
  if (text === '') throw nameInvalid(entry, 'has an empty name or link text')
  if (text.includes('\0')) throw nameInvalid(entry, 'has a NUL in its name or link text')
  if (text.includes('\ufffd')) throw nameInvalid(entry, 'has a name or link text that is not UTF-8')
}
