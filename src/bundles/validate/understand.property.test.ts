import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/json.ts'
import { defaultLimits } from '../model/source.ts'
import { testKinds } from './kinds.fake.ts'
import { type Context, understand } from './understand.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 100),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

const context: Context = { kinds: testKinds, env: { known: 'value' }, options: {}, limits: defaultLimits }

const understandValues = (values: readonly unknown[], more: Partial<Context> = {}) =>
  understand(
    {
      documents: values.map((value, index) => ({ value, index, file: 'a.json', locate: () => undefined })),
      problems: [],
      warnings: [],
    },
    { ...context, ...more },
  )

const name = fc.constantFrom('a1', 'b1', 'c1', 'a_1', 'a-1', 'Bad', '')
const target = fc.oneof(
  fc.record({ kind: fc.constantFrom('Mark', 'Store', 'Disk'), name }, { requiredKeys: ['name'] }),
  fc.record({ external: fc.constant('Live') }),
)

/** Often right, so that all levels are reached. */
const resource = fc.record(
  {
    kind: fc.constantFrom('Mark', 'Store', 'Disk', 'RuleA', 'RuleB', 'Group', 'Makr'),
    metadata: fc.record({ name, movedFrom: name }, { requiredKeys: ['name'] }),
    spec: fc.record(
      {
        name: fc.constantFrom('Shown', 'shown too', 'a1'),
        size: fc.constantFrom('1GiB', '1024MiB', 5, 'big', { envRef: { key: 'known' } }, { envRef: { key: 'none' } }),
        url: fc.constantFrom('u', 42, { envRef: { key: 'known', type: 'string' } }),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        store: target,
        basedOn: target,
        every: fc.constantFrom('60s', '1m'),
        threshold: fc.double({ noNaN: true, noDefaultInfinity: true }),
        tags: fc.array(fc.constantFrom('x', 'y', 'z')),
        stores: fc.dictionary(fc.constantFrom('Shown', 'a1', '__proto__'), fc.constant({})),
        associations: fc.uniqueArray(target, { selector: item => JSON.stringify(item) }),
        password: fc.constantFrom({ secretRef: { key: 'k' } }, 'clear'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['kind', 'metadata'] },
)

describe('understanding', () => {
  it('never throws, whatever JSON it is given', () => {
    const anything = fc.oneof(fc.jsonValue(), resource, fc.record({ ...anyShape(), spec: fc.jsonValue() }))
    fc.assert(
      fc.property(
        fc.array(anything, { maxLength: 6 }),
        fc.constantFrom('error', 'warn'),
        fc.boolean(),
        (values, unknownKeys, skipValidation) => {
          const { problems, bundle, invalid } = understandValues(values, { options: { unknownKeys, skipValidation } })
          for (const { kind, name } of bundle.resources) expect(invalid).not.toContain(`${kind.family}/${name}`)
          if (problems.length === 0) expect(bundle.resources).toHaveLength(values.length)
        },
      ),
      parameters,
    )
  })

  it('gives the same bundle and summary in any order of documents and keys', () => {
    const shuffled = fc
      .uniqueArray(resource, { maxLength: 8, selector: identity })
      .chain(values => fc.tuple(fc.constant(values), fc.shuffledSubarray(values, { minLength: values.length })))
    fc.assert(
      fc.property(shuffled, ([values, others]) => {
        const one = understandValues(values)
        const other = understandValues(others.map(turned))
        expect(other.bundle).toEqual(one.bundle)
        expect(JSON.stringify(other.summary)).toBe(JSON.stringify(one.summary))
        expect(other.missingEnvRefs).toEqual(one.missingEnvRefs)
        expect([...other.invalid].sort()).toEqual([...one.invalid].sort())
      }),
      parameters,
    )
  })

  it('gives another hash when anything is different that decides what is applied', () => {
    const disk = (spec: Json, metadata: Json = {}) => ({
      kind: 'Disk',
      metadata: { name: 'x', ...(metadata as object) },
      spec,
    })
    const one = { size: '1GiB', share: 0.5 }
    const hash = (value: unknown) => {
      const { bundle, problems } = understandValues([value, { kind: 'Mark', metadata: { name: 'm1' } }])
      expect(problems).toEqual([])
      return bundle.hash
    }
    const different = [
      disk(one),
      disk({ ...one, share: 0.25 }),
      disk({ ...one, name: 'shown' }),
      disk({ ...one, associations: [{ kind: 'Mark', name: 'm1' }] }),
      disk(one, { movedFrom: 'old' }),
      disk(one, { lifecycle: { onRemove: 'retain' } }),
    ]
    expect(new Set(different.map(hash)).size).toBe(different.length)
    expect(hash(disk({ share: 0.5, size: '1024MiB', format: 'raw', name: '' }))).toBe(hash(disk(one)))
  })
})

function anyShape() {
  return {
    kind: fc.constantFrom('Mark', 'Store', 'Disk', 'Group'),
    metadata: fc.record({ name, lifecycle: fc.jsonValue() }),
  }
}

const identity = ({ kind, metadata }: { kind: string; metadata: { name: string } }) =>
  `${kind.replace(/^Rule.$/, 'RuleFamily')} ${metadata.name}`

/** The same value with the keys of all mappings the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, turned(item)]),
  )
}
