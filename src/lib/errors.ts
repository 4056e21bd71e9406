// One base for every error Cairn throws. Its text may be shown to anyone: secrets never enter it.
import type { Problem, ProblemCode } from './problem.ts'

export interface ErrorDetails {
  readonly hint?: string
  readonly cause?: unknown
}

export class CairnError extends Error {
  readonly code: ProblemCode
  readonly hint: string | undefined

  constructor(code: ProblemCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'CairnError'
    this.code = code
    this.hint = details.hint
  }
}

/** Bad input: everything that is wrong with it, together. Nothing was changed. Exit code 3. */
export class ProblemsError extends CairnError {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super('input.invalid', `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`)
    this.name = 'ProblemsError'
    this.problems = problems
  }
}

/** Well-formed but not allowed now: conflict, stale, locked, not confirmed. Nothing was changed. Exit code 4. */
export class RefusedError extends CairnError {
  readonly problems: readonly Problem[]

  constructor(code: ProblemCode, message: string, details: ErrorDetails & { problems?: readonly Problem[] } = {}) {
    super(code, message, details)
    this.name = 'RefusedError'
    this.problems = details.problems ?? []
  }
}

/** For the default of a switch over a closed union: a forgotten member does not compile. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
