// A command line that cannot be understood. Exit code 64; nothing was begun.
import { CairnError, type ErrorDetails } from '../lib/errors.ts'
import type { ProblemCode } from '../lib/problem.ts'

export class UsageError extends CairnError {
  constructor(code: ProblemCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details)
    this.name = 'UsageError'
  }
}
