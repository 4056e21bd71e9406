// A choice between forms that a value fits none of: which of them was most likely meant. A key with a fixed value decides, then
// how many keys it knows, then how little is wrong.
import type * as z from 'zod'
import { nearest } from '../lib/suggest.ts'
import { keysAt } from './schema-at.ts'

type Issue = z.core.$ZodIssue
type Schema = z.core.$ZodType

/** One option of a choice, as the value looks to it. */
export interface Form {
  readonly option: Schema
  readonly issues: readonly Issue[]
  readonly isOtherType: boolean
  /** A key with a fixed value, such as `type: prometheus`, says that another form is meant. */
  readonly isOtherKind: boolean
  /** Keys of the value that it knows; one that is nearly known counts half. */
  readonly knownKeys: number
  /** Set when nothing else is wrong than this missing key. */
  readonly missing: string | undefined
}

export function formOf(option: Schema, issues: readonly Issue[], input: unknown): Form {
  const keys = keysAt(option, [])
  const given = typeof input === 'object' && input !== null ? Object.keys(input) : []
  const [only, ...more] = issues
  return {
    option,
    issues,
    isOtherType: issues.some(
      ({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value'),
    ),
    isOtherKind: issues.some(
      issue => issue.code === 'invalid_value' && issue.path.length === 1 && issue.values.length === 1,
    ),
    knownKeys: given.reduce((sum, key) => sum + (keys.includes(key) ? 1 : nearest(key, keys) ? 0.5 : 0), 0),
    missing: only?.path.length === 1 && more.length === 0 && isMissing(only) ? String(only.path[0]) : undefined,
  }
}

const isMissing = (issue: Issue): boolean => issue.code === 'invalid_type' && issue.input === undefined

export function bestForms(forms: readonly Form[]): readonly Form[] {
  const rank = ({ isOtherKind, knownKeys, issues }: Form) => [isOtherKind ? 1 : 0, -knownKeys, issues.length] as const
  const sorted = forms.toSorted((a, b) => {
    const [kindA, keysA, issuesA] = rank(a)
    const [kindB, keysB, issuesB] = rank(b)
    return kindA - kindB || keysA - keysB || issuesA - issuesB
  })
  const first = String(rank(sorted[0]!))
  return sorted.filter(form => String(rank(form)) === first)
}
