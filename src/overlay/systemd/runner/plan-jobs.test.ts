import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UnitName } from '../../names.ts'
import type { JobVerb } from '../systemd.ts'
import { readDefinitions } from './definitions.ts'
import { planJobs } from './plan-jobs.ts'

const seed = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}

/** Units by their [Unit] section; those with a `*` are up. */
function plan(units: Record<string, string>, ...jobs: [JobVerb, string][]) {
  const name = (key: string) => key.replace('*', '') as UnitName
  const up = new Set(
    Object.keys(units)
      .filter(key => key.endsWith('*'))
      .map(name),
  )
  const tree = new Map(
    Object.entries(units).map(([key, text]) => [name(key), { text: `[Unit]\n${text}\n[Service]\nExecStart=/bin/a\n` }]),
  )
  const view = { definitions: readDefinitions(tree), isUp: (unit: UnitName) => up.has(unit) }
  return planJobs(
    jobs.map(([verb, unit]) => ({ do: verb, unit: unit as UnitName })),
    view,
  )
}

/** `start a.service after b.service!`: the mark says that it needs it. */
const printed = (...args: Parameters<typeof plan>) =>
  plan(...args)
    .map(({ do: verb, unit, waitsFor, needs }) =>
      [verb, unit, ...waitsFor.toSorted().map(other => `after ${other}${needs.includes(other) ? '!' : ''}`)].join(' '),
    )
    .sort()

describe('jobs', () => {
  it('start what the unit wants and requires, and leave alone what is up', () => {
    const units = {
      'a.service': 'Wants=b.service d.service\nRequires=c.service',
      'b.service': '',
      'c.service': '',
      'd.service*': '',
    }
    expect(printed(units, ['start', 'a.service'])).toEqual(['start a.service', 'start b.service', 'start c.service'])
  })

  it('wait in the order of After= and Before=, and need what they require', () => {
    const units = {
      'a.service': 'Requires=b.service\nAfter=b.service',
      'b.service': '',
      'c.service': 'Before=b.service',
    }
    expect(printed(units, ['start', 'a.service'], ['start', 'c.service'])).toEqual([
      'start a.service after b.service!',
      'start b.service after c.service',
      'start c.service',
    ])
  })

  it('go down in the opposite order, with what cannot be without them', () => {
    const units = {
      'a.service*': 'Requires=b.service\nAfter=b.service',
      'b.service*': '',
      'c.service': 'Requires=b.service',
    }
    expect(printed(units, ['stop', 'b.service'])).toEqual(['stop a.service', 'stop b.service after a.service'])
  })

  it('stop before something ordered against it starts', () => {
    const units = { 'a.service': 'After=b.service', 'b.service*': '' }
    expect(printed(units, ['start', 'a.service'], ['stop', 'b.service'])).toEqual([
      'start a.service after b.service',
      'stop b.service',
    ])
  })

  it('pass over what is wanted and missing, and stumble over what is required and missing', () => {
    const units = { 'a.service': 'Wants=gone.service\nRequires=lost.service' }
    expect(printed(units, ['start', 'a.service'])).toEqual([
      'start a.service after lost.service!',
      'start lost.service',
    ])
  })

  it('do what was asked for a unit, also when another one pulls it in', () => {
    const units = { 'a.service': 'Wants=b.service', 'b.service': '' }
    expect(printed(units, ['start', 'a.service'], ['stop', 'b.service'])).toEqual(['start a.service', 'stop b.service'])
  })

  it('never wait in a circle', () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map(letter => `${letter}.service`)
    const section = fc
      .record({ After: fc.subarray(names), Before: fc.subarray(names), Requires: fc.subarray(names) })
      .map(keys =>
        Object.entries(keys)
          .map(([key, value]) => `${key}=${value.join(' ')}`)
          .join('\n'),
      )
    const units = fc
      .tuple(...names.map(() => section))
      .map(texts => Object.fromEntries(names.map((name, index) => [name, texts[index]!])))
    const verbs = fc.array(fc.constantFrom<JobVerb>('start', 'stop', 'restart'), { minLength: 5, maxLength: 5 })
    fc.assert(
      fc.property(units, verbs, (texts, [...asked]) => {
        const steps = plan(texts, ...names.map((name, index): [JobVerb, string] => [asked[index]!, name]))
        const done = new Set<UnitName>()
        for (let round = 0; round < steps.length; round++)
          for (const { unit, waitsFor } of steps) if (waitsFor.every(other => done.has(other))) done.add(unit)
        expect(done.size).toBe(steps.length)
      }),
      seed,
    )
  })
})
