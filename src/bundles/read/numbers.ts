// Numbers that a program can keep as they were written. The others would be changed silently, so they are Problems.
import type { Problem, SourceRange } from '../../lib/problem.ts'

export const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))

export interface InexactNumber {
  readonly path: string
  readonly written: string
  readonly source: SourceRange | undefined
}

export const inexactNumber = ({ path, written, source }: InexactNumber): Problem => ({
  code: 'value.range',
  path,
  reason: `${written} is not a number that can be kept exactly`,
  hint: `Numbers are finite, integers at most ${Number.MAX_SAFE_INTEGER}. Put it in quotes where text is meant.`,
  ...(source && { source }),
})
