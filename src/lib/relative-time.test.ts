import { expect, it } from 'vitest'
import { relativeTime } from './relative-time.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const at = (seconds: number) => relativeTime(new Date(now.getTime() + seconds * 1000), now)

it.each([
  [0, 'just now'],
  [-4, 'just now'],
  [3, 'in 3 s'],
  [-45, '45 s ago'],
  [45, 'in 45 s'],
  [-60, '1 minute ago'],
  [-119, '1 minute ago'],
  [7200, 'in 2 hours'],
  [-3 * 86_400, '3 days ago'],
  [-40 * 86_400, '1 month ago'],
  [-800 * 86_400, '2 years ago'],
])('%d s from now is "%s"', (seconds, words) => {
  expect(at(seconds)).toBe(words)
})
