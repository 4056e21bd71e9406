// Durations as people write them (`90s`, `1h30m`, `7d`) and milliseconds: one function for each way.
import { ProblemsError } from './errors.ts'
import type { Problem } from './problem.ts'

const units = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** One or more whole numbers with a unit, largest first, each unit once. */
const spelling = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/

/** Milliseconds; throws a ProblemsError when the text is no duration. */
export function parseDuration(text: string, path = ''): number {
  const duration = durationOrProblem(text, path)
  if (typeof duration === 'number') return duration
  throw new ProblemsError([duration])
}

/** For those who gather problems: milliseconds, or what is wrong with the text. */
export function durationOrProblem(text: string, path: string): number | Problem {
  const found = text === '' ? null : spelling.exec(text)
  const ms = found ? units.reduce((sum, [, size], index) => sum + Number(found[index + 1] ?? 0) * size, 0) : Number.NaN
  if (Number.isSafeInteger(ms)) return ms
  return {
    code: 'duration.invalid',
    path,
    reason: `"${text}" is not a duration`,
    hint: 'Write whole numbers with units, largest first: 90s, 1h30m, 7d, 500ms.',
  }
}

/** The one spelling that parseDuration reads back as the same number: 5400000 is `1h30m`. Weeks are read, but print as days. */
export function printDuration(ms: number): string {
  let rest = Math.round(ms)
  let text = ''
  for (const [unit, size] of units.slice(1)) {
    const count = Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text || '0s'
}
