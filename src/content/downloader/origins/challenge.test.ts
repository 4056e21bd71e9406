import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseChallenges } from './challenge.ts'

const read = (header: string) =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)])

describe('a challenge', () => {
  it.each([
    ['Basic', [['basic', {}]]],
    ['Basic realm="a b", charset=UTF-8', [['basic', { realm: 'a b', charset: 'UTF-8' }]]],
    [
      'Bearer realm="https://auth.example/token",service="r",scope="repository:a/b:pull,push"',
      [['bearer', { realm: 'https://auth.example/token', service: 'r', scope: 'repository:a/b:pull,push' }]],
    ],
    ['BEARER Realm = "x"', [['bearer', { realm: 'x' }]]],
    ['Bearer realm="say \\"hello\\""', [['bearer', { realm: 'say "hello"' }]]],
    ['Bearer realm="first", realm="second"', [['bearer', { realm: 'first' }]]],
    [
      'Negotiate YWJj==, Basic realm="x", Bearer realm="y",scope=z',
      [
        ['negotiate', {}],
        ['basic', { realm: 'x' }],
        ['bearer', { realm: 'y', scope: 'z' }],
      ],
    ],
    ['Bearer realm="open', [['bearer', {}]]],
    ['realm="x"', []],
    ['', []],
    [',,, ', []],
    ['"', []],
  ])('%s', (header, challenges) => {
    expect(read(header)).toEqual(challenges)
  })

  it('of any text is read without failing', () => {
    const seed = process.env.CAIRN_SEED === undefined ? {} : { seed: Number(process.env.CAIRN_SEED) }
    const text = fc.oneof(
      fc.string(),
      fc
        .array(fc.constantFrom('Bearer', 'Basic', ' ', ',', '=', '"', '\\', 'realm', 'é', '\n', '/'))
        .map(parts => parts.join('')),
    )
    fc.assert(
      fc.property(text, header => {
        for (const { scheme } of parseChallenges(header)) expect(header.toLowerCase()).toContain(scheme)
      }),
      { numRuns: Number(process.env.CAIRN_RUNS ?? 300), ...seed },
    )
  })
})
