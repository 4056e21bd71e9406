// Where the next page begins: the sort key of the last row, as text that means nothing to whoever carries it.
import { ProblemsError } from '../../lib/errors.ts'

export const cursorOf = (...key: string[]): string => Buffer.from(JSON.stringify(key)).toString('base64url')

export function placeAt(cursor: string, parts: number): string[] {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(key) && key.length === parts && key.every(part => typeof part === 'string')) return key
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ProblemsError([
    {
      code: 'cursor.invalid',
      path: 'cursor',
      reason: 'is not one that an earlier page gave as `next`',
      hint: 'Leave it out to begin with the first page.',
    },
  ])
}
