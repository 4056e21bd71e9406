// The one limit that every encoding has to see for itself, before it nests as deep as its input.
import type { Problem, SourceRange } from '../../lib/problem.ts'

export interface TooDeep {
  readonly limit: number
  readonly path?: string
  readonly source: SourceRange | undefined
}

export const tooDeep = ({ limit, path = '', source }: TooDeep): Problem => ({
  code: 'limit.depth',
  path,
  reason: `nested deeper than ${limit}`,
  ...(source && { source }),
})
