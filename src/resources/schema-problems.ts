// Says in Cairn's words what zod found wrong with a value that a person wrote, and which key was perhaps meant. No reason
// repeats text of the value: it may be a password in the wrong place.
// Of a choice between forms, the form that was most likely meant is judged, not all of them.
import * as z from 'zod'
import { deepPath, fieldPath } from '../lib/located-json.ts'
import type { Problem } from '../lib/problem.ts'
import { didYouMean, nearest } from '../lib/suggest.ts'
import { bestForms, type Form, formOf } from './best-form.ts'
import { markOf } from './fields.ts'
import { keysAt, schemasAt } from './schema-at.ts'

type Issue = z.core.$ZodIssue
type Schema = z.core.$ZodType

interface Found extends Problem {
  /** Path of the key that an unknown one stands for. */
  readonly meant?: string
}

/**
 * `error` comes from a parse with `reportInput: true`. A misspelt key and the key that is missing for it are one Problem, as
 * are two bounds that one value breaks.
 */
export function schemaProblems(schema: z.ZodType, error: z.ZodError): Problem[] {
  const found = error.issues.flatMap(issue => problemsOf(schema, issue, ''))
  const misspelt = new Set(found.map(({ meant }) => meant))
  const once = new Map(found.map(problem => [`${problem.code} ${problem.path}`, problem]))
  return [...once.values()]
    .filter(({ code, path }) => code !== 'value.missing' || !misspelt.has(path))
    .map(({ meant, ...problem }) => problem)
}

function problemsOf(schema: Schema, issue: Issue, parent: string): Found[] {
  const path = deepPath(parent, issue.path as (string | number)[])
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => unknownKey(key, path, keysAt(schema, issue.path)))
    case 'invalid_type':
      return [issue.input === undefined ? missing(issue, path) : wrongType([issue.expected], path)]
    case 'invalid_value':
      return [issue.input === undefined ? missing(issue, path) : notAllowed(issue.values, issue.input, path)]
    case 'invalid_union':
      return unionProblems(schema, issue, path)
    case 'too_small':
    case 'too_big':
      return [outOfBounds(issue, path)]
    case 'invalid_key':
      return [{ code: 'key.invalid', path, reason: `this key ${issue.issues[0]?.message ?? 'is not allowed'}` }]
    default:
      return [{ code: 'value.invalid', path, reason: issue.message }]
  }
}

function unionProblems(schema: Schema, issue: z.core.$ZodIssueInvalidUnion, path: string): Found[] {
  if (issue.errors.length === 0) return [badDiscriminator(issue, path)]
  if (issue.input === undefined) return [missing({ path: issue.path, expected: 'unknown' }, path)]
  const union = schemasAt(schema, issue.path).find(
    candidate => candidate instanceof z.ZodUnion && candidate.options.length === issue.errors.length,
  )
  const hint = union && markOf(union)?.reference && referenceHint
  const forms = issue.errors.map((issues, index) =>
    formOf((union as z.ZodUnion | undefined)?.options[index] ?? z.unknown(), issues, issue.input),
  )
  const ofItsType = forms.filter(form => !form.isOtherType)
  if (ofItsType.length === 0) return [{ ...noForm(issue, path), ...(hint && { hint }) }]
  const best = bestForms(ofItsType)
  if (best.length > 1 && best.every(({ missing }) => missing !== undefined))
    return [{ ...needsOneOf(best, path), ...(hint && { hint }) }]
  return best[0]!.issues.flatMap(inner => problemsOf(best[0]!.option, inner, path))
}

const referenceHint =
  'Write { name: … } for a resource of this bundle, { external: … } for a live one by its display name.'

/** `id` is how a reference is stored, not how it is written. */
const needsOneOf = (forms: readonly Form[], path: string): Found => ({
  code: 'value.missing',
  path,
  reason: `needs one of ${forms.flatMap(({ missing }) => (missing === 'id' ? [] : missing)).join(', ')}`,
})

function noForm({ errors, input }: z.core.$ZodIssueInvalidUnion, path: string): Found {
  const roots = errors.flat().filter(issue => issue.path.length === 0)
  const values = roots.flatMap(issue => (issue.code === 'invalid_value' ? issue.values : []))
  const expected = roots.flatMap(issue => (issue.code === 'invalid_type' ? issue.expected : []))
  if (values.length > 0 && typeof input === 'string') return notAllowed(values, input, path)
  return wrongType([...values.map(String), ...expected], path)
}

function badDiscriminator(issue: z.core.$ZodIssueInvalidUnion, path: string): Found {
  const { discriminator = '', options = [] } = issue as { discriminator?: string; options?: z.util.Primitive[] }
  const given = (issue.input as Readonly<Record<string, unknown>> | undefined)?.[discriminator]
  return given === undefined ? missing({ ...issue, values: options }, path) : notAllowed(options, given, path)
}

function unknownKey(key: string, parent: string, known: readonly string[]): Found {
  const meant = nearest(key, known)
  const hint = didYouMean(key, known)
  return {
    code: 'key.unknown',
    path: fieldPath(parent, key),
    reason: `unknown key "${key}"`,
    ...(hint && { hint }),
    ...(meant !== null && { meant: fieldPath(parent, meant) }),
  }
}

interface Wanted {
  readonly path: readonly PropertyKey[]
  readonly expected?: string
  readonly values?: readonly z.util.Primitive[]
}

const missing = ({ path: keys, expected, values }: Wanted, path: string): Found => ({
  code: 'value.missing',
  path,
  reason: [
    `${String(keys.at(-1) ?? 'the value')} is missing`,
    ...(values
      ? [`it must be ${oneOf(values)}`]
      : expected && expected !== 'unknown'
        ? [`it must be ${words(expected)}`]
        : []),
  ].join('; '),
})

const wrongType = (expected: readonly string[], path: string): Found => ({
  code: 'value.type',
  path,
  reason: `must be ${[...new Set(expected.map(words))].join(' or ')}`,
})

function notAllowed(values: readonly z.util.Primitive[], input: unknown, path: string): Found {
  const hint = typeof input === 'string' ? didYouMean(input, values.map(String)) : undefined
  return { code: 'value.not-allowed', path, reason: `must be ${oneOf(values)}`, ...(hint && { hint }) }
}

const oneOf = (values: readonly z.util.Primitive[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`

function outOfBounds(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, path: string): Found {
  const isSmall = issue.code === 'too_small'
  const bound = Number(isSmall ? issue.minimum : issue.maximum)
  const atLeast = isSmall ? 'at least' : 'at most'
  switch (issue.origin) {
    case 'string':
    case 'array':
    case 'set': {
      const code = isSmall ? 'value.too-short' : 'value.too-long'
      const what = issue.origin === 'string' ? 'character' : 'entry'
      const many = issue.origin === 'string' ? 'characters' : 'entries'
      const reason =
        isSmall && bound === 1 ? 'must not be empty' : `must have ${atLeast} ${bound} ${bound === 1 ? what : many}`
      return { code, path, reason }
    }
    default: {
      const limit = issue.inclusive === false ? (isSmall ? 'more than' : 'less than') : atLeast
      return { code: 'value.range', path, reason: `must be ${limit} ${bound}, got ${String(issue.input)}` }
    }
  }
}

const typeWords: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
}

const words = (expected: string): string => typeWords[expected] ?? expected
