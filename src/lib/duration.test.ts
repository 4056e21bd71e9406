import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { durationOrProblem, parseDuration, printDuration } from './duration.ts'

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
    ['2w1d', 1_296_000_000],
    ['1m500ms', 60_500],
    ['0s', 0],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '90', 's', '1.5h', '30m1h', '1h1h', '-5s', '5 s', '99999999999999d', '1H'])('refuses "%s"', text => {
    expect(durationOrProblem(text, 'checks[0].within')).toMatchObject({
      code: 'duration.invalid',
      path: 'checks[0].within',
    })
  })

  it('throws the problem for those who do not gather', () => {
    expect(() => parseDuration('soon', 'spec.every')).toThrow(expect.objectContaining({ code: 'input.invalid' }))
  })

  it('prints what it reads back as the same number', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000_000), ms => parseDuration(printDuration(ms)) === ms),
      { ...(process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}) },
    )
  })

  it('prints the shortest spelling', () => {
    expect(printDuration(5_400_000)).toBe('1h30m')
    expect(printDuration(0)).toBe('0s')
    expect(printDuration(parseDuration('2w'))).toBe('14d')
  })
})
