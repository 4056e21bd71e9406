// The exit codes, one scheme for all commands. docs/exit-codes.md and `cairn help exit-codes` are made from this table.
import { ProblemsError, RefusedError } from '../lib/errors.ts'
import { UsageError } from './usage.ts'

export const exitCodes = {
  0: 'Done, or nothing to do.',
  1: 'Failed and undone: the machine is as it was before.',
  2: 'Changes are pending, or something drifted. Only with --exit-code, on plan and status.',
  3: 'Bad input: a file or a value is wrong. Nothing was changed.',
  4: 'Refused: conflict, stale, locked, not confirmed, or not allowed. Nothing was changed.',
  5: 'Undo incomplete: the report says what is left and what to do.',
  6: 'Applied, but not healthy or not ready in time.',
  64: 'Usage: an unknown command or option, or one with a bad value.',
} as const

export type ExitCode = keyof typeof exitCodes

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return 64
  if (error instanceof ProblemsError) return 3
  if (error instanceof RefusedError) return 4
  return 1
}
