// Says in Cairn's words what zod found wrong, and keeps of a faulty config what is right.
import type { z } from 'zod'
import { fieldPath } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import { didYouMean } from '../../lib/suggest.ts'
import { checkSchema } from '../../resources/check.ts'
import {
  fieldsAt,
  type OverlayConfig,
  overlayConfigSchema,
  packageSchema,
  unitSchema,
} from '../../resources/overlay-config.ts'

export function schemaProblems(error: z.ZodError): Problem[] {
  return error.issues.flatMap(issue => problemsOf(issue))
}

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.reduce<string>((parent, part) => fieldPath(parent, part as string | number), '')
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => {
        const hint = didYouMean(key, fieldsAt(issue.path))
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

/** The entries that are right by themselves, so that the rules that span fields can look at them as well. */
export function understood(value: unknown): OverlayConfig {
  const root = isRecord(value) ? value : {}
  const whole = overlayConfigSchema.safeParse(root)
  if (whole.success) return whole.data
  return {
    version: typeof root.version === 'string' ? root.version : 'unreadable',
    packageByNames: entriesThatFit(packageSchema, root.packageByNames),
    systemdUnitsByName: entriesThatFit(unitSchema, root.systemdUnitsByName),
    checks: Array.isArray(root.checks) ? root.checks.flatMap(check => checkSchema.safeParse(check).data ?? []) : [],
  }
}

function entriesThatFit<T extends z.ZodType>(schema: T, value: unknown): Record<string, z.infer<T>> {
  if (!isRecord(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]) => {
      const parsed = schema.safeParse(entry)
      return parsed.success ? [[name, parsed.data]] : []
    }),
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const article = (expected: string) =>
  expected === 'record' || expected === 'object'
    ? 'an object'
    : /^[aeiou]/.test(expected)
      ? `an ${expected}`
      : `a ${expected}`

const lastOf = (path: readonly PropertyKey[]) => String(path.at(-1) ?? 'the config')
