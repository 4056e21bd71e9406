// The name that a resource has on the platform: spec.name, or metadata.name when that is absent or empty.
import { withoutControls } from '../../lib/redact.ts'
import type { Kind } from '../../resources/kind.ts'
import { type Complaint, displayNameCharacters, displayNameLength, displayNamePattern, valueType } from './problems.ts'
import { textOfNumber } from './values.ts'

export interface DisplayNameRead {
  /** Null when there is none that could be compared. */
  readonly displayName: string | null
  readonly isWritten: boolean
  readonly complaints: readonly Complaint[]
}

const path = 'spec.name'

export function readDisplayName(
  { displayName: rule }: Kind,
  value: unknown,
  { name, isOpen }: { name: string | null; isOpen: boolean },
): DisplayNameRead {
  const isWritten = value !== undefined && value !== ''
  const text = typeof value === 'number' ? textOfNumber(value) : isWritten ? value : name
  if (text === null && !isWritten) return { displayName: null, isWritten, complaints: [] }
  if (typeof text !== 'string')
    return { displayName: null, isWritten, complaints: isOpen ? [] : [valueType(path, 'a string', value)] }
  if (isOpen) return { displayName: text, isWritten, complaints: [] }
  const at = isWritten ? {} : ({ at: 'key' } as const)
  if (text.length < rule.least || text.length > rule.most)
    return { displayName: text, isWritten, complaints: [{ ...displayNameLength(path, text, rule), ...at }] }
  if (!text.isWellFormed() || withoutControls(text) !== text)
    return { displayName: text, isWritten, complaints: [{ ...displayNameCharacters(path), ...at }] }
  if (rule.pattern && !rule.pattern.test(text))
    return { displayName: text, isWritten, complaints: [{ ...displayNamePattern(path, text, rule.pattern), ...at }] }
  return { displayName: text, isWritten, complaints: [] }
}
