import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { defaultLimits, type Source } from '../model/source.ts'
import { readDocuments } from './documents.ts'
import { readText, toldBy, valuesOf } from './read.fake.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 100),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

const read = (sources: readonly Source[], limits = {}) => readDocuments(sources, { ...defaultLimits, ...limits })

describe('several sources', () => {
  it('are one bundle: resources are counted over all of them, and what is wrong in one hides no other', () => {
    const told = read([
      { name: 'a.yaml', content: 'kind: A\n---\n\tkind: B\n' },
      { name: 'b.json', content: '{"a": 1,}' },
      { name: 'c.jsonnet', content: '{}' },
      { name: 'd.yaml', content: Buffer.from([0x61, 0x3a, 0x0a, 0x62, 0xff, 0xfe]) },
      { name: 'stdin', content: '[{"kind": "C", "a": 1, "a": 2}, {"kind": "D"}]' },
      { name: 'e.yaml', content: '' },
    ])
    expect(toldBy(told)).toEqual([
      'yaml.tab resources[1] a.yaml:3:1',
      'json.syntax b.json:1:9',
      'jsonnet.not-evaluated c.jsonnet:1:1',
      'source.not-utf8 d.yaml:2:2',
      'key.duplicate resources[2].a stdin:1:24',
    ])
    expect(told.documents.map(({ index, file, value }) => [index, file, (value as { kind: string }).kind])).toEqual([
      [0, 'a.yaml', 'A'],
      [2, 'stdin', 'C'],
      [3, 'stdin', 'D'],
    ])
  })

  it('that were evaluated have no places', () => {
    const content = '[{"a": 1, "a": 2}, {"b": 12345678901234567890}]'
    const told = read([{ name: 'a.jsonnet', content, encoding: 'json', evaluated: true }])
    expect(toldBy(told)).toEqual(['key.duplicate resources[0].a', 'value.range resources[1].b'])
    expect(told.documents[0]!.locate('a')).toBeUndefined()
    const yaml = read([{ name: 'a.jsonnet', content: 'a: 1', encoding: 'yaml', evaluated: true }])
    expect(yaml.documents[0]!.locate('a')).toBeUndefined()
  })
})

describe('bytes', () => {
  it('are UTF-8, with or without a byte order mark', () => {
    expect(valuesOf(readText(Buffer.from('\uFEFFa: grün 🪨\n')))).toEqual([{ a: 'grün 🪨' }])
    expect(valuesOf(readText(Buffer.from('\uFEFF{"a": "\uFFFD"}'), 'f.json'))).toEqual([{ a: '\uFFFD' }])
  })

  it('that are not are told at the first wrong one, even behind a replacement character', () => {
    const bytes = Buffer.concat([Buffer.from('a: \uFFFD\nbä: '), Buffer.from([0xc3, 0x28])])
    expect(toldBy(readText(bytes))).toEqual(['source.not-utf8 f.yaml:2:5'])
    const cut = Buffer.concat([Buffer.from('\uFEFFa: \uFFFD'), Buffer.from('\uFFFD').subarray(0, 2)])
    expect(toldBy(readText(cut))).toEqual(['source.not-utf8 f.yaml:1:5'])
  })
})

describe('the limits', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ name: `${at}.yaml`, content: `n: ${at}` }))

  it('of files: those within it are read', () => {
    const told = read(many(4), { files: 3 })
    expect(toldBy(told)).toEqual(['limit.files'])
    expect(valuesOf(told)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
    expect(read(many(3), { files: 3 }).problems).toEqual([])
  })

  it('of bytes in a file, text or not, and in all of them', () => {
    const sources: Source[] = [
      { name: 'a.yaml', content: 'a: "äö"' },
      { name: 'b.yaml', content: Buffer.from('a: 123456') },
      { name: 'c.yaml', content: 'c: 1' },
    ]
    expect(read(sources, { fileBytes: 9 }).problems).toEqual([])
    const told = read(sources, { fileBytes: 8 })
    expect(toldBy(told)).toEqual(['limit.file-bytes a.yaml:1:1', 'limit.file-bytes b.yaml:1:1'])
    expect(valuesOf(told)).toEqual([{ c: 1 }])
    expect(toldBy(read(sources, { requestBytes: 21 }))).toEqual(['limit.request-bytes'])
    expect(read(sources, { requestBytes: 22 }).problems).toEqual([])
  })

  it('of resources, over all files and in lists', () => {
    const sources = [...many(2), { name: 'l.json', content: '[1, 2]' }]
    expect(read(sources, { resources: 4 }).problems).toEqual([])
    const told = read(sources, { resources: 3 })
    expect(toldBy(told)).toEqual(['limit.resources'])
    expect(valuesOf(told)).toEqual([{ n: 0 }, { n: 1 }, 1])
  })
})

describe('properties', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
  )
  const resource = fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(leaf, fc.array(leaf), fc.dictionary(fc.string(), leaf, { noNullPrototype: true })),
    { noNullPrototype: true },
  )

  /** Quotes `<<`, which in plain spelling is the merge key. */
  const written = (value: unknown) => stringify(value, { compat: 'yaml-1.1' })

  it('YAML and JSON twins read equal', () => {
    fc.assert(
      fc.property(fc.array(resource, { maxLength: 4 }), resources => {
        const json = read([{ name: 'a.json', content: JSON.stringify(resources, null, 2) }])
        const stream = resources.map(value => `---\n${written(value)}`).join('')
        const yaml = read([{ name: 'a.yaml', content: stream }])
        const list = read([{ name: 'a.yaml', content: written(resources) }])
        expect(json.problems).toEqual([])
        expect(valuesOf(json)).toEqual(resources)
        expect([yaml.problems, valuesOf(yaml)]).toEqual([[], resources])
        expect([list.problems, valuesOf(list)]).toEqual([[], resources])
      }),
      parameters,
    )
  })

  it('the order of the files changes nothing but the count', () => {
    const content = fc.constantFrom('a: 1\n---\nb: 2', '[{"c": 1}]', 'd: "x\n---\ne: 1', '', '{"f": 1,}', 'g: 1\ng: 2')
    const sources = fc
      .array(content, { maxLength: 5 })
      .map(all => all.map((text, at) => ({ name: `${at}`, content: text })))
    const shown = (all: readonly Source[]) => {
      const { documents, problems } = read(all)
      return {
        documents: documents.map(({ file, value }) => JSON.stringify([file, value])).sort(),
        problems: problems.map(({ code, source }) => JSON.stringify([code, source])).sort(),
      }
    }
    fc.assert(
      fc.property(sources, fc.infiniteStream(fc.nat()), (all, order) => {
        const ranks = new Map(all.map(source => [source, order.next().value]))
        const shuffled = all.toSorted((a, b) => ranks.get(a)! - ranks.get(b)!)
        expect(shown(shuffled)).toEqual(shown(all))
      }),
      parameters,
    )
  })
})
