import { describe, expect, it } from 'vitest'
import type { UnitName } from '../names.ts'
import { inOrder } from './order.ts'
import type { JobVerb } from './systemd.ts'

const job = (verb: JobVerb, unit: string) => ({ do: verb, unit: unit as UnitName, timeoutMs: 1 })
const after = (edges: Record<string, string[]>) =>
  new Map(Object.entries(edges)) as unknown as Map<UnitName, UnitName[]>
const units = (verb: JobVerb, names: string, edges: Record<string, string[]>) =>
  inOrder(
    names.split(' ').map(name => job(verb, name)),
    after(edges),
  )
    .map(({ unit }) => unit)
    .join(' ')

describe('the order of a batch', () => {
  it('is the given one where units do not care', () => {
    expect(units('start', 'c a b', {})).toBe('c a b')
  })

  it('starts predecessors first, through several steps', () => {
    expect(units('start', 'a b c d', { a: ['b'], b: ['c', 'elsewhere'] })).toBe('c b a d')
  })

  it('stops in reverse', () => {
    expect(units('stop', 'c b a', { a: ['b'], b: ['c'] })).toBe('a b c')
  })

  it('stops before anything starts', () => {
    const jobs = [job('start', 'a'), job('stop', 'b'), job('restart', 'c'), job('stop', 'd')]
    expect(inOrder(jobs, after({ b: ['d'] })).map(({ unit }) => unit)).toEqual(['b', 'd', 'a', 'c'])
  })

  it('loses nobody in a cycle', () => {
    expect(units('start', 'a b c', { a: ['b'], b: ['a'], c: ['c'] })).toBe('b a c')
  })
})
