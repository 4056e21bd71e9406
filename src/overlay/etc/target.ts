// Etc targets and modes as people declare them: checked once, before anything is touched, and trusted from then on.
import type { Problem } from '../../lib/problem.ts'
import { byName, type EtcTarget } from '../names.ts'
import type { EtcEntry } from './entry.ts'
import {
  duplicateTarget,
  invalidMode,
  invalidSource,
  invalidTarget,
  prefixConflict,
  setIdNeedsOptIn,
} from './problems.ts'

/** What is known of an entry before its content is. */
export type Declared = Pick<EtcEntry, 'target' | 'from' | 'declaredAt' | 'allowProtected'>

const longestPart = 255
/** Leaves room in PATH_MAX for the root, the store and the way up out of /etc. */
const longestTarget = 2048

/** `at` is the config path of the text, for the Problem. */
export function parseTarget(text: string, at: string): EtcTarget | Problem {
  const fault = pathFault(text, 'relative to /etc') ?? reservedFault(text)
  return fault ? invalidTarget(text, at, fault) : (text as EtcTarget)
}

/** A path inside a package: the same rules, but no name is taken. */
export function parseSource(text: string, at: string): string | Problem {
  const fault = pathFault(text, 'relative to its package')
  return fault ? invalidSource(text, at, fault) : text
}

function pathFault(text: string, relation: string): string | null {
  if (text === '') return 'is empty'
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) return 'has a control character or broken Unicode in it'
  if (text.startsWith('/')) return `is absolute; it has to be ${relation}`
  const parts = text.split('/')
  if (parts.includes('')) return 'has an empty part'
  if (parts.includes('.') || parts.includes('..')) return 'has a part that is . or ..'
  if (parts.some(part => Buffer.byteLength(part) > longestPart)) return `has a part of more than ${longestPart} bytes`
  if (Buffer.byteLength(text) > longestTarget) return `is longer than ${longestTarget} bytes`
  return null
}

function reservedFault(text: string): string | null {
  const parts = text.split('/')
  if (parts[0] === 'static') return 'is static or below it, a name that Cairn keeps for itself'
  if (parts.some(part => part.startsWith('.cairn-')))
    return 'has a part that begins with .cairn-, as only Cairn’s own do'
  return null
}

/** Octal, as for chmod. A file that runs as its owner or group is as delicate as a protected path. */
export function parseMode(text: string, at: string, { allowProtected = false } = {}): number | Problem {
  if (!/^(0o)?[0-7]{1,5}$/.test(text)) return invalidMode(text, at)
  const mode = Number.parseInt(text.replace('0o', ''), 8)
  if (mode > 0o7777) return invalidMode(text, at)
  return mode & 0o6000 && !allowProtected ? setIdNeedsOptIn(text, at) : mode
}

/** No two targets may be equal, nor one a directory above another. In order of target; linear in the entries. */
export function checkTargets(entries: readonly Declared[]): Problem[] {
  const problems: Problem[] = []
  const first = new Map<EtcTarget, Declared>()
  for (const entry of entries) {
    const other = first.get(entry.target)
    if (other) problems.push(duplicateTarget(entry, other))
    else first.set(entry.target, entry)
  }
  for (const entry of [...first.values()].sort((a, b) => byName(a.target, b.target)))
    for (const directory of ancestorsOf(entry.target)) {
      const above = first.get(directory)
      if (above) problems.push(prefixConflict(entry, above))
    }
  return problems
}

/** The directories that a target lies in, outermost first, /etc itself left out. */
export function ancestorsOf(target: EtcTarget): EtcTarget[] {
  const ancestors: EtcTarget[] = []
  for (let at = target.indexOf('/'); at > 0; at = target.indexOf('/', at + 1))
    ancestors.push(target.slice(0, at) as EtcTarget)
  return ancestors
}
