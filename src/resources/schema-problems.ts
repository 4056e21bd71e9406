// Says in Cairn's words what zod found wrong with a value that a person wrote, and which key was perhaps meant.
import * as z from 'zod'
import { fieldPath } from '../lib/located-json.ts'
import type { Problem } from '../lib/problem.ts'
import { didYouMean } from '../lib/suggest.ts'

export function schemaProblems(schema: z.ZodType, error: z.ZodError): Problem[] {
  return error.issues.flatMap(issue => problemsOf(schema, issue))
}

function problemsOf(schema: z.ZodType, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.reduce<string>((parent, part) => fieldPath(parent, part as string | number), '')
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => {
        const hint = didYouMean(key, keysAt(schema, issue.path))
        return {
          code: 'key.unknown',
          path: fieldPath(path, key),
          reason: `unknown key "${key}"`,
          ...(hint && { hint }),
        }
      })
    case 'invalid_type':
      return [
        issue.input === undefined
          ? {
              code: 'value.missing',
              path,
              reason: `${lastOf(issue.path)} is missing; it must be ${article(issue.expected)}`,
            }
          : { code: 'value.type', path, reason: `must be ${article(issue.expected)}` },
      ]
    case 'invalid_value': {
      const options = issue.values.map(String)
      const hint = typeof issue.input === 'string' ? didYouMean(issue.input, options) : undefined
      return [
        { code: 'value.not-allowed', path, reason: `must be one of ${options.join(', ')}`, ...(hint && { hint }) },
      ]
    }
    case 'invalid_union':
      return [{ code: 'value.type', path, reason: 'fits none of the allowed forms' }]
    default:
      return [{ code: 'value.invalid', path, reason: issue.message }]
  }
}

/** The keys that an object at this place of a value may have. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const [part, ...rest] = path
  if (schema instanceof z.ZodOptional) return keysAt(schema.unwrap(), path)
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.flatMap(option => keysAt(option, path)))]
  if (schema instanceof z.ZodObject) {
    if (part === undefined) return Object.keys(schema.shape)
    const field = schema.shape[String(part)]
    return field ? keysAt(field, rest) : []
  }
  if (part === undefined) return []
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, rest)
  if (schema instanceof z.ZodArray) return keysAt(schema.element, rest)
  return []
}

const article = (expected: string) =>
  expected === 'record' || expected === 'object'
    ? 'an object'
    : /^[aeiou]/.test(expected)
      ? `an ${expected}`
      : `a ${expected}`

const lastOf = (path: readonly PropertyKey[]) => String(path.at(-1) ?? 'the value')
