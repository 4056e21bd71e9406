// Sizes as people write them (`512MiB`, `10GB`, `1.5kB`) and bytes: one function for each way.
import { ProblemsError } from './errors.ts'
import type { Problem } from './problem.ts'

const units: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
}

const spelling = /^(\d+(?:\.\d+)?) ?([kmgt]?i?b)?$/i

/** Bytes, rounded down; a bare number is bytes. Throws a ProblemsError when the text is no size. */
export function parseSize(text: string, path = ''): number {
  const size = sizeOrProblem(text, path)
  if (typeof size === 'number') return size
  throw new ProblemsError([size])
}

/** For those who gather problems: bytes, or what is wrong with the text. */
export function sizeOrProblem(text: string, path: string): number | Problem {
  const [, amount, unit = 'b'] = spelling.exec(text) ?? []
  const bytes = Math.floor(Number(amount) * (units[unit.toLowerCase()] ?? Number.NaN))
  if (Number.isSafeInteger(bytes)) return bytes
  return {
    code: 'size.invalid',
    path,
    reason: `"${text}" is not a size`,
    hint: 'Write a number with a unit: 512MiB, 10GB, 4096B.',
  }
}

/** For people: three figures at most, powers of 1000: 41_234_567 is `41.2 MB`. */
export function printSize(bytes: number): string {
  const names = ['B', 'kB', 'MB', 'GB', 'TB']
  let amount = bytes
  let power = 0
  // From 999.95 on, one decimal would print as 1000.0.
  while (power < names.length - 1 && amount >= (power === 0 ? 1000 : 999.95)) {
    amount /= 1000
    power++
  }
  return `${power === 0 ? amount : amount.toFixed(1)} ${names[power]}`
}

const exactUnits = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['TB', 1e12],
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
  ['B', 1],
] as const

/** The one spelling that parseSize reads back as the same number: the shortest in whole units, `10GiB`, `128kB`. */
export function spellSize(bytes: number): string {
  let shortest = ''
  for (const [unit, size] of exactUnits) {
    const text = `${bytes / size}${unit}`
    if (bytes % size === 0 && (shortest === '' || text.length < shortest.length)) shortest = text
  }
  return shortest
}
