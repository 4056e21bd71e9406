import { describe, expect, it } from 'vitest'
import { disk, documents, mark, store, told, understandText } from './understand.fake.ts'
import { checkRows } from './understand.suite.ts'

describe('values from outside', () => {
  const sized = (ref: string) => `kind: Disk\nmetadata: { name: x }\nspec:\n  size: { envRef: ${ref} }\n`
  checkRows([
    ['refuses an envRef without key', sized('{}'), ['env.malformed Disk/x.spec.size.envRef.key 4:11']],
    [
      'refuses an envRef with an extra key',
      sized('{ key: s, defualt: 1 }'),
      ['env.malformed Disk/x.spec.size.envRef.defualt 4:29'],
      '"default"',
    ],
    [
      'refuses an envRef of an unknown type',
      sized('{ key: s, type: bytes }'),
      ['env.malformed Disk/x.spec.size.envRef.type 4:35'],
    ],
    [
      'refuses a default that is a list',
      sized('{ key: s, default: [1] }'),
      ['env.malformed Disk/x.spec.size.envRef.default 4:38'],
    ],
    ['refuses an envRef that is text', sized('s'), ['env.malformed Disk/x.spec.size.envRef 4:19']],
    [
      'refuses what stands beside an envRef',
      'kind: Disk\nmetadata: { name: x }\nspec:\n  size: { envRef: { key: s }, extra: 1 }\n',
      ['env.malformed Disk/x.spec.size.extra 4:31'],
    ],
    [
      'checks a value against the type',
      sized('{ key: s, type: size }'),
      ['env.type Disk/x.spec.size 4:9'],
      undefined,
      { env: { s: 'big' } },
    ],
    [
      'checks a default against the type',
      sized('{ key: s, type: size, default: big }'),
      ['env.type Disk/x.spec.size 4:9'],
    ],
    [
      'checks a value against the field',
      sized('{ key: s }'),
      ['env.type Disk/x.spec.size 4:9'],
      undefined,
      { env: { s: true } },
    ],
    [
      'refuses a value that is no scalar',
      sized('{ key: s }'),
      ['env.type Disk/x.spec.size 4:9'],
      undefined,
      { env: { s: ['1GiB'] } },
    ],
    [
      'keeps the code of what the field refuses',
      sized('{ key: s }'),
      ['value.invalid Disk/x.spec.size 4:9'],
      undefined,
      { env: { s: 'big' } },
    ],
    [
      'checks a name from outside',
      mark('{ envRef: { key: n } }'),
      ['name.invalid resources[0].metadata.name 2:19'],
      'Write foo.',
      { env: { n: 'Foo' } },
    ],
    ['does not complain of a value that is missing', sized('{ key: s }'), []],
  ])

  it.each([
    ['string', 'text', 'text'],
    ['string', 1e21, '1000000000000000000000'],
    ['string', true, null],
    ['integer', 3, 3],
    ['integer', '-3', -3],
    ['integer', '3.5', null],
    ['integer', '9007199254740993', null],
    ['number', '3.5', 3.5],
    ['number', '1e3', 1000],
    ['number', '', null],
    ['number', 'NaN', null],
    ['number', '1e999', null],
    ['boolean', 'true', true],
    ['boolean', false, false],
    ['boolean', 'yes', null],
    ['duration', '1h30m', '1h30m'],
    ['duration', 'soon', null],
    ['size', '10GB', '10GB'],
    ['size', 4096, '4096'],
    ['size', 'big', null],
    ['time', '2026-11-16T01:02:03Z', '2026-11-16T01:02:03Z'],
    ['time', '2026-13-16T01:02:03Z', null],
    ['time', 'now', null],
  ])('reads, as %s, the value %j as %j', (type, value, read) => {
    const text = mark('edge').concat(`spec: { description: { envRef: { key: k, type: ${type} } } }\n`)
    const { problems, bundle } = understandText(text, { env: { k: value }, options: { skipValidation: true } })
    if (read === null) expect(told(problems)).toEqual(['env.type Mark/edge.spec.description 3:22'])
    else expect(bundle.resources[0]?.envRefs[0]?.value).toBe(read)
  })

  it('prefers a value to the default, and the default to a placeholder', () => {
    const text = documents(
      disk('a', '  notes: { x: { envRef: { key: k, default: fallback } } }\n'),
      disk('b', '  notes: { x: { envRef: { key: other, default: fallback } } }\n'),
      disk('c', '  notes: { x: { envRef: { key: none, type: string } } }\n'),
    )
    const { bundle, summary, missingEnvRefs, problems } = understandText(text, { env: { k: 'given' } })
    expect(problems).toEqual([])
    expect(bundle.resources.map(({ spec }) => spec.notes)).toEqual([
      { x: 'given' },
      { x: 'fallback' },
      { x: 'env-none' },
    ])
    expect(missingEnvRefs).toEqual(['none'])
    expect(summary.missingEnvRefs).toEqual(['none'])
    expect(summary.resources.map(({ envReferences }) => envReferences)).toEqual([
      [{ resource: 'Disk/a', path: 'spec.notes.x', key: 'k', value: 'given', default: 'fallback' }],
      [{ resource: 'Disk/b', path: 'spec.notes.x', key: 'other', value: 'fallback', default: 'fallback' }],
      [{ resource: 'Disk/c', path: 'spec.notes.x', key: 'none', type: 'string', value: 'env-none' }],
    ])
  })

  it('shows a resource whose required field is still missing, with its defaults', () => {
    const { bundle, problems } = understandText(sized('{ key: s }'))
    expect(problems).toEqual([])
    expect(bundle.resources[0]?.spec).toEqual({ size: 'env-s', format: 'raw' })
  })

  it('follows a name from outside to those that refer to it', () => {
    const ref = '{ envRef: { key: NAME } }'
    const text = documents(store(ref), disk('x', `  store: { name: ${ref} }\n`), disk('y', '  store: { name: main }\n'))
    expect(understandText(text, { env: { NAME: 'main' } }).problems).toEqual([])
    const open = understandText(text)
    expect(open.problems).toEqual([])
    expect(open.bundle.resources.map(({ name }) => name)).toEqual(['x', 'y', 'env-NAME'])
  })

  it('takes values in the lifecycle and in names', () => {
    const { bundle, problems } = understandText(
      'kind: Mark\nmetadata:\n  name: { envRef: { key: n } }\n  lifecycle: { onRemove: { envRef: { key: r } } }\nspec: { name: { envRef: { key: d } } }\n',
      { env: { n: 42, r: 'retain', d: 'shown' } },
    )
    expect(problems).toEqual([])
    expect(bundle.resources[0]).toMatchObject({ name: '42', displayName: 'shown', lifecycle: { onRemove: 'retain' } })
    expect(bundle.resources[0]?.envRefs.map(({ path }) => path)).toEqual([
      'metadata.lifecycle.onRemove',
      'metadata.name',
      'spec.name',
    ])
  })

  it('warns of values that nobody uses', () => {
    const { problems, warnings } = understandText(sized('{ key: size, default: 1GiB }'), { env: { siez: '1GiB' } })
    expect(problems).toEqual([])
    expect(told(warnings)).toEqual(['env.unused env'])
    expect(warnings[0]?.hint).toContain('"size"')
  })
})
