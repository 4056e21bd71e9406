import { expect, it } from 'vitest'
import { stalenessOf } from './staleness.ts'
import type { VerifiedFile } from './verified-file.ts'

const now = new Date('2026-03-10T00:00:00.000Z')
const settings = { rehash: 'changed', quarantine: 0 } as const
const checked = (checkedAt?: string): { files: VerifiedFile[] } => ({
  files: [{ path: '/a', mediaType: 'x/y', mark: { size: 1, mtimeMs: 1, ino: 1 }, checkedAt }],
})

it('is due after a week, and not before', () => {
  expect(stalenessOf(checked('2026-03-03T00:00:00.001Z'), settings, now)).toBe(null)
  expect(stalenessOf(checked('2026-03-03T00:00:00.000Z'), settings, now)).toBe('old')
})

it('is due when it was never seen, unless nothing is to be hashed', () => {
  expect(stalenessOf(checked(), settings, now)).toBe('old')
  expect(stalenessOf(checked(), { ...settings, rehash: 'off' }, now)).toBe(null)
})

it('is not due because the clock stands in the past', () => {
  expect(stalenessOf(checked('2026-03-03T00:00:00.000Z'), settings, new Date(0))).toBe(null)
})

it('is due when somebody asks for all that was hashed before a time, whatever else is set', () => {
  const asked = { ...settings, rehash: 'off', checkedSince: '2026-03-09T00:00:00.000Z' } as const
  expect(stalenessOf(checked('2026-03-08T23:59:59.999Z'), asked, now)).toBe('asked')
  expect(stalenessOf(checked('2026-03-09T00:00:00.000Z'), asked, now)).toBe(null)
})

it('answers one question once, also when its time lies in the future', () => {
  const asked = { ...settings, checkedSince: '2027-01-01T00:00:00.000Z' }
  const after = { ...checked('2026-03-10T00:00:00.000Z'), checkedFor: asked.checkedSince }
  expect(stalenessOf(after, asked, now)).toBe(null)
})
