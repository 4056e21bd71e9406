import { expect, it } from 'vitest'
import { wantsColour } from './terminal.ts'

it.each([
  ['a terminal', {}, true, true],
  ['a pipe', {}, false, false],
  ['NO_COLOR', { NO_COLOR: '1' }, true, false],
  ['an empty NO_COLOR, which means nothing', { NO_COLOR: '' }, true, true],
  ['FORCE_COLOR on a pipe', { FORCE_COLOR: '1' }, false, true],
  ['FORCE_COLOR over NO_COLOR', { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, false],
  ['TERM=dumb', { TERM: 'dumb' }, true, false],
] as const)('%s decides about colour', (_, env, isTerminal, colour) => {
  expect(wantsColour(env, isTerminal)).toBe(colour)
})
