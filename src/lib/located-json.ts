// Reads JSON so that every later complaint about a value can say file, line and column. Strict JSON: no comments, no
// trailing commas; the same key twice is a Problem that names both places. Positions are looked up only when asked for.
import { type Node, type ParseError, parseTree, printParseErrorCode, visit } from 'jsonc-parser'
import { lineIndex } from './line-index.ts'
import type { Problem, SourceRange } from './problem.ts'

export interface LocatedJson {
  /** Undefined when the text is not JSON at all. */
  readonly value: unknown
  readonly problems: readonly Problem[]
  /** The place of a field: of its key where it has one, or of its value; else of its nearest parent that is in the file. */
  locate(path: string, at?: 'key' | 'value'): SourceRange
}

/** How Problems spell a place in a value: `packageByNames.nginx.etcFiles[0]`, `packageByNames["a.b"].source`. */
export function fieldPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`
  if (!/^[A-Za-z_][\w-]*$/.test(key)) return `${parent}[${JSON.stringify(key)}]`
  return parent ? `${parent}.${key}` : key
}

/** Several steps further. */
export const deepPath = (parent: string, parts: readonly (string | number)[]): string =>
  parts.reduce<string>((above, part) => fieldPath(above, part), parent)

/** `[2]` and `spec.name` are `[2].spec.name`. */
export function joinPaths(parent: string, path: string): string {
  if (!parent || !path) return parent + path
  return path.startsWith('[') ? parent + path : `${parent}.${path}`
}

export function readJson({ file, text }: { file: string; text: string }): LocatedJson {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  const lineOf = lineIndex(body)
  const rangeOf = (offset: number): SourceRange => ({ file, ...lineOf(offset) })
  let places: Map<string, Place> | undefined
  const locate = (path: string, part: 'key' | 'value' = 'key'): SourceRange => {
    for (let at = path; at; at = parentPath(at)) {
      places ??= placesOf(body)
      const place = places.get(at)
      if (place) return rangeOf(place[part])
    }
    return rangeOf(0)
  }
  try {
    const value: unknown = JSON.parse(body)
    const isClean = keysWritten(body) === keysKept(value)
    return { value, problems: isClean ? [] : duplicateKeys(body, rangeOf), locate }
  } catch {
    return { value: undefined, problems: [syntaxProblem(body, rangeOf)], locate }
  }
}

/** Strings that a colon follows. The text is known to be JSON, so this needs no parser. */
function keysWritten(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++
    for (at++; ' \t\r\n'.includes(text[at] ?? 'x'); at++);
    if (text[at] === ':') count++
  }
  return count
}

/** Fewer than were written when a key stands twice: the last one wins. */
function keysKept(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce<number>((sum, item) => sum + keysKept(item), 0)
  return Array.isArray(value) ? inside : inside + Object.keys(value).length
}

function duplicateKeys(text: string, rangeOf: (offset: number) => SourceRange): Problem[] {
  const problems: Problem[] = []
  const open: Map<string, number>[] = []
  visit(text, {
    onObjectBegin: () => void open.push(new Map()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (key, offset, _length, _line, _character, pathOf) => {
      const keys = open.at(-1)!
      const first = keys.get(key)
      if (first === undefined) return void keys.set(key, offset)
      const path = deepPath('', [...pathOf(), key])
      const { line, column } = rangeOf(first)
      problems.push({
        code: 'key.duplicate',
        path,
        reason: `the key "${key}" stands here a second time; the first is at line ${line}, column ${column}`,
        source: rangeOf(offset),
      })
    },
  })
  return problems
}

function syntaxProblem(text: string, rangeOf: (offset: number) => SourceRange): Problem {
  const errors: ParseError[] = []
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false })
  const first = errors[0]
  const words = first
    ? printParseErrorCode(first.error)
        .replace(/(?<=[a-z])([A-Z])/g, ' $1')
        .toLowerCase()
    : 'unreadable'
  return { code: 'json.syntax', path: '', reason: `not JSON: ${words}`, source: rangeOf(first?.offset ?? 0) }
}

/** Offsets; what has no key of its own, an item of a list, has its value's twice. */
interface Place {
  readonly key: number
  readonly value: number
}

function placesOf(text: string): Map<string, Place> {
  const places = new Map<string, Place>()
  const walk = (node: Node, path: string) => {
    const key = node.parent?.type === 'property' ? node.parent.offset : node.offset
    if (path) places.set(path, { key, value: node.offset })
    if (node.type === 'object')
      for (const { children } of node.children ?? []) {
        const [key, value] = children ?? []
        if (key && value) walk(value, fieldPath(path, key.value as string))
      }
    if (node.type === 'array')
      for (const [index, child] of (node.children ?? []).entries()) walk(child, fieldPath(path, index))
  }
  const root = parseTree(text)
  if (root) walk(root, '')
  return places
}

/** '' when there is none above. */
export function parentPath(path: string): string {
  return path.replace(/(\.[^.[\]"]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\]|^[^.[]+)$/, '')
}
