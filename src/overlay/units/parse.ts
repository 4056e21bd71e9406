// Reads and writes unit files as systemd does: nothing is unescaped, no quotes are stripped, keys may repeat, sections
// too. What systemd would ignore is a warning, what it would refuse is a Problem.
// Holds: printing what was parsed and parsing it again gives the same sections, keys and values.
import type { Problem, Warning } from '../../lib/problem.ts'
import { ignoredLine, unitEncoding, unitSyntax, type Where } from './problems.ts'

export interface ParsedUnit {
  readonly sections: readonly UnitSection[]
}

interface UnitSection {
  readonly name: string
  /** Where its header starts; lines count from 1. */
  readonly line: number
  readonly entries: readonly UnitEntry[]
}

type UnitEntry = readonly [key: string, value: string, line: number]

export interface UnitReading {
  /** What could be understood. */
  readonly unit: ParsedUnit
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/** systemd refuses longer lines, continuations included. */
const longestLine = 1024 * 1024

export function parseUnit(input: string | Uint8Array, where: Where): UnitReading {
  const decoded = decode(input, where)
  if (typeof decoded !== 'string') return { unit: { sections: [] }, problems: [decoded], warnings: [] }

  const sections: { name: string; line: number; entries: UnitEntry[] }[] = []
  const problems: Problem[] = []
  const warnings: Warning[] = []
  let entries: UnitEntry[] | null = null
  let firstOutside = 0

  const at = (line: number) => ({ ...where, line })
  for (const { text, line } of logicalLines(decoded)) {
    const equals = text.indexOf('=')
    if (text.length > longestLine) problems.push(unitSyntax(at(line), 'the line is longer than 1 MiB'))
    else if (text.startsWith('[')) {
      entries = []
      if (text.endsWith(']')) sections.push({ name: text.slice(1, -1), line, entries })
      else problems.push(unitSyntax(at(line), `the section header ${text} is not closed`))
    } else if (!entries) {
      firstOutside ||= line
      warnings.push(ignoredLine(at(line), 'stands before the first section and is ignored'))
    } else if (equals < 1)
      warnings.push(ignoredLine(at(line), `${equals ? 'has no "="' : 'has no key'} and is ignored`))
    else entries.push([strip(text.slice(0, equals)), strip(text.slice(equals + 1)), line])
  }

  if (!entries && firstOutside) {
    const problem = unitSyntax(at(firstOutside), 'there is no section, such as [Service]')
    return { unit: { sections }, problems: [...problems, problem], warnings: [] }
  }
  return { unit: { sections }, problems, warnings }
}

export function printUnit({ sections }: ParsedUnit): string {
  return sections
    .map(({ name, entries }) => `[${name}]\n${entries.map(([key, value]) => `${key}=${onOneLine(value)}\n`).join('')}`)
    .join('\n')
}

/** A last backslash would join the next line; a space behind it is stripped again on reading. */
const onOneLine = (value: string) => (continues(value) ? `${value} ` : value)

function decode(input: string | Uint8Array, where: Where): string | Problem {
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  if (text === null || !text.isWellFormed()) {
    const lines = typeof input === 'string' ? input.split('\n') : splitBytes(input)
    const broken = lines.findIndex(line =>
      typeof line === 'string' ? !line.isWellFormed() : decodeUtf8(line) === null,
    )
    return unitEncoding({ ...where, line: broken + 1 }, 'is not UTF-8')
  }
  const nul = text.indexOf('\0')
  if (nul !== -1) return unitEncoding({ ...where, line: text.slice(0, nul).split('\n').length }, 'has a NUL character')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function splitBytes(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let start = 0; start <= bytes.length; ) {
    const end = bytes.indexOf(10, start)
    lines.push(bytes.subarray(start, end === -1 ? bytes.length : end))
    start = (end === -1 ? bytes.length : end) + 1
  }
  return lines
}

/** Lines without comments, blank ones and surrounding space; a joined line counts where it starts. */
function* logicalLines(text: string): Generator<{ text: string; line: number }> {
  let joined: string[] = []
  let line = 0
  const lines = text.includes('\r') ? text.split(/\r\n|\n|\r/) : text.split('\n')
  for (const [index, physical] of lines.entries()) {
    if (isComment(physical)) continue
    if (joined.length === 0) line = index + 1
    if (continues(physical)) {
      joined.push(`${physical.slice(0, -1)} `)
      continue
    }
    const whole = strip(joined.length === 0 ? physical : joined.join('') + physical)
    joined = []
    if (whole) yield { text: whole, line }
  }
  const rest = strip(joined.join(''))
  if (rest) yield { text: rest, line }
}

function isComment(line: string): boolean {
  let at = 0
  while (isSpace(line.charCodeAt(at))) at++
  return line[at] === '#' || line[at] === ';'
}

/** An odd number of backslashes at the end. */
function continues(line: string): boolean {
  let at = line.length
  while (line[at - 1] === '\\') at--
  return (line.length - at) % 2 === 1
}

/** Only what systemd counts as space, and without backtracking: values may be a megabyte long. */
function strip(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isSpace = (code: number) => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
