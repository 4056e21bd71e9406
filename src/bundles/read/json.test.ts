import { describe, expect, it } from 'vitest'
import { readText, toldBy, valuesOf } from './read.fake.ts'

const read = (text: string) => readText(text, 'f.json')

describe('JSON', () => {
  it('is one resource or a list of them', () => {
    expect(valuesOf(read('{"kind": "A"}'))).toEqual([{ kind: 'A' }])
    expect(valuesOf(read('[{"kind": "A"}, 1, null, {}]'))).toEqual([{ kind: 'A' }, 1, null, {}])
    expect(valuesOf(read('[]'))).toEqual([])
    expect(valuesOf(read(' \n'))).toEqual([])
    expect(valuesOf(read('\uFEFF{}'))).toEqual([{}])
  })

  it('knows the places of keys and values', () => {
    const [, document] = read('[\n  {},\n  {"kind": "A", "spec": [1, 2]}\n]').documents
    expect(document!.locate('')).toMatchObject({ line: 3, column: 3 })
    expect(document!.locate('kind', 'key')).toMatchObject({ line: 3, column: 4 })
    expect(document!.locate('kind')).toMatchObject({ line: 3, column: 12 })
    expect(document!.locate('spec[1]')).toMatchObject({ line: 3, column: 29 })
    expect(document!.locate('spec[7].x')).toMatchObject({ line: 3, column: 25 })
  })

  it('knows where each resource of a list begins, whatever stands before it', () => {
    const { documents } = read('[[1, {"a": [2]}],"a, [\\"b\\\\",\n {"c": ","} , 3]')
    const places = documents.map(document => document.locate('')).map(place => `${place?.line}:${place?.column}`)
    expect(places).toEqual(['1:2', '1:18', '2:2', '2:15'])
  })

  it.each([
    ['{"a": 1, // no\n}', 'json.syntax f.json:1:10'],
    ['{"a": 1,}', 'json.syntax f.json:1:9'],
    ['{"a": 1', 'json.syntax f.json:1:8'],
    ["{'a': 1}", 'json.syntax f.json:1:2'],
    ['{"a": "x\0y"}', 'json.syntax f.json:1:7'],
    ['{"a": NaN}', 'json.syntax f.json:1:7'],
  ])('refuses %j', (text, told) => {
    expect(toldBy(read(text))).toEqual([told])
    expect(read(text).documents).toEqual([])
  })

  it('tells a repeated key and a number that is not exact at their resource', () => {
    const told = read('[{}, {"a": {"b": 1, "b": 12345678901234567890}}, {"c": [1e400]}]')
    expect(toldBy(told)).toEqual([
      'key.duplicate resources[1].a.b f.json:1:21',
      'value.range resources[1].a.b f.json:1:26',
      'value.range resources[2].c[0] f.json:1:57',
    ])
    expect(valuesOf(told)).toEqual([{}, { a: { b: '12345678901234567000' } }, { c: ['Infinity'] }])
    expect(told.documents.map(({ reported }) => reported)).toEqual([undefined, ['a.b', 'a.b'], ['c[0]']])
  })

  it('has keys of any name as keys of their own', () => {
    const [value] = valuesOf(read('{"__proto__": {"polluted": true}, "constructor": 1}')) as [object]
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('may be nested 64 deep and no deeper, without the list of resources', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
    expect(read(nested(64)).problems).toEqual([])
    expect(read(`[${nested(64)}]`).problems).toEqual([])
    expect(toldBy(read(nested(65)))).toEqual(['limit.depth f.json:1:321'])
    expect(toldBy(read(`[${nested(65)}]`))).toEqual(['limit.depth f.json:1:322'])
    expect(read(`"${'['.repeat(100)}"`).problems).toEqual([])
    expect(read('['.repeat(1_000_000)).problems).toMatchObject([{ code: 'limit.depth' }])
  })
})
