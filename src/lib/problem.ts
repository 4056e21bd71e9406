// The shape of every mistake a person can make in a file or a flag. Problems are gathered and shown together, never thrown one by one.

export interface Problem {
  /** `subject.what-is-wrong`; stable, listed in docs/codes.md. */
  readonly code: ProblemCode
  /** Where in the value: `packageByNames.nginx.etcFiles[0].target`; '' for the whole. */
  readonly path: string
  readonly reason: string
  /** The next step, where there is one. */
  readonly hint?: string | undefined
  readonly source?: SourceRange | undefined
}

export type ProblemCode = `${string}.${string}`

/** Lines and columns count from 1. */
export interface SourceRange {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A warning has the shape of a Problem and stops nothing. */
export type Warning = Problem
