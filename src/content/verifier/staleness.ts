// Decides whether good files are due to be hashed again: because somebody asked for all of them, or because it is a week ago.
import type { VerifierSettings } from '../messages.ts'
import type { VerifiedFile } from './verified-file.ts'

export interface Checked {
  readonly files: readonly VerifiedFile[]
  /** The `checkedSince` that was satisfied last: one that lies in the future is satisfied once. */
  readonly checkedFor?: string | undefined
}

const week = 7 * 86_400_000

export function stalenessOf(
  { files, checkedFor }: Checked,
  { rehash, checkedSince }: VerifierSettings,
  now: Date,
): 'asked' | 'old' | null {
  const isAsked = checkedSince !== undefined && checkedSince !== checkedFor
  if (isAsked && files.some(({ checkedAt = '' }) => checkedAt < checkedSince)) return 'asked'
  // A clock that stands before the last check, as after a start in 1970, is no reason for another one.
  const isOld = ({ checkedAt }: VerifiedFile) =>
    checkedAt === undefined || now.getTime() - Date.parse(checkedAt) >= week
  return rehash !== 'off' && files.some(isOld) ? 'old' : null
}
