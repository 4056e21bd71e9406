// JSON: one resource, or a list of them. Strict: comments and trailing commas are Problems, and so is a key that stands twice.
import { deeperAt, stringEnd } from '../../lib/json-brackets.ts'
import { fieldPath, readJson } from '../../lib/located-json.ts'
import type { Problem, SourceRange } from '../../lib/problem.ts'
import type { Document } from '../model/source.ts'
import type { Decoder, Found, Text } from './decoder.ts'
import { inexactNumber, isExact } from './numbers.ts'
import { resourcesOf } from './resources-of.ts'
import { tooDeep } from './too-deep.ts'

export const jsonDecoder: Decoder = {
  name: 'json',
  extensions: ['.json'],
  contentTypes: ['application/json', 'text/json'],
  sniff: first => first === '{' || first === '[',
  decode,
}

function* decode(text: Text): Generator<Found> {
  // A list at the top is no part of any resource.
  const deep = deeperAt(text.text, text.limits.depth + (/^\s*\[/.test(text.text) ? 1 : 0))
  if (deep !== undefined)
    return yield { is: 'unreadable', problems: [tooDeep({ limit: text.limits.depth, source: text.placeOf(deep) })] }
  const read = readJson(text)
  const isPlaced = text.placeOf(0) !== undefined
  const problems = read.problems.map(problem => asTold(problem, isPlaced))
  if (read.value === undefined) return yield { is: 'unreadable', problems }
  const itemAt = itemsOf(text)
  const locate: Document['locate'] = (path, at = 'value') =>
    isPlaced ? (itemAt(path) ?? read.locate(path, at)) : undefined
  const inexact = mayBeInexact.test(text.text) ? replaceInexact(read.value, '', locate) : []
  yield* resourcesOf({ value: read.value, problems: [...problems, ...inexact], locate })
}

/** Where each resource of a list begins is asked of every one, so it is seen by brackets alone, all at once. */
function itemsOf({ text, placeOf }: Text): (path: string) => SourceRange | undefined {
  let starts: readonly number[] | undefined
  return path => {
    const [, index] = /^\[(\d+)\]$/.exec(path) ?? []
    if (index === undefined) return undefined
    starts ??= itemStarts(text)
    const start = starts[Number(index)]
    return start === undefined ? undefined : placeOf(start)
  }
}

/** Of the list that the text is. The text is JSON. */
function itemStarts(text: string): number[] {
  const starts: number[] = []
  let depth = 0
  let isBetween = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (isBetween && !' \t\r\n'.includes(char)) {
      starts.push(at)
      isBetween = false
    }
    if (char === '"') at = stringEnd(text, at)
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') depth--
    if (depth === 1 && (starts.length === 0 ? char === '[' : char === ',')) isBetween = true
  }
  return starts
}

function asTold({ source, ...problem }: Problem, isPlaced: boolean): Problem {
  const hint = 'JSON has no comments, no trailing commas and no single quotes. YAML has: state it with -e yaml.'
  return { ...problem, ...(problem.code === 'json.syntax' && { hint }), ...(isPlaced && source && { source }) }
}

const mayBeInexact = /\d{16}|\d[eE]/

/** In their place stands what was written, as near as is known. */
function replaceInexact(parent: unknown, path: string, locate: Document['locate']): Problem[] {
  if (typeof parent !== 'object' || parent === null) return []
  const fields = parent as Record<string, unknown>
  return Object.keys(fields).flatMap(key => {
    const value = fields[key]
    const inside = fieldPath(path, Array.isArray(parent) ? Number(key) : key)
    if (typeof value !== 'number' || isExact(value)) return replaceInexact(value, inside, locate)
    fields[key] = String(value)
    return [inexactNumber({ path: inside, written: String(value), source: locate(inside) })]
  })
}
