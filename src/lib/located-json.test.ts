import { describe, expect, it } from 'vitest'
import { fieldPath, readJson } from './located-json.ts'

const text = `{
  "a.b": { "list": [1, { "x": true }] },
  "plain": 2
}`

describe('readJson', () => {
  it('finds the line and column of any value, and of the nearest parent of one that is not there', () => {
    const { locate } = readJson({ file: 'f.json', text })
    expect(locate('["a.b"].list[1].x')).toEqual({ file: 'f.json', line: 2, column: 26 })
    expect(locate('["a.b"].list[1].missing')).toEqual({ file: 'f.json', line: 2, column: 24 })
    expect(locate('plain')).toEqual({ file: 'f.json', line: 3, column: 3 })
    expect(locate('nowhere.at.all')).toEqual({ file: 'f.json', line: 1, column: 1 })
    expect(locate('plain', 'value')).toEqual({ file: 'f.json', line: 3, column: 12 })
    expect(locate('["a.b"].list[0]', 'value')).toEqual({ file: 'f.json', line: 2, column: 21 })
  })

  it('takes a byte order mark, refuses comments and trailing commas', () => {
    expect(readJson({ file: 'f', text: '\uFEFF{}' }).value).toEqual({})
    expect(readJson({ file: 'f', text: '{} // no' }).problems).toMatchObject([{ code: 'json.syntax' }])
    expect(readJson({ file: 'f', text: '[1,]' }).problems).toMatchObject([{ code: 'json.syntax' }])
  })

  it('finds duplicate keys at any depth', () => {
    const { problems } = readJson({ file: 'f', text: '{"a": [{"k": 1, "k": 2}]}' })
    expect(problems).toMatchObject([{ code: 'key.duplicate', path: 'a[0].k' }])
  })

  it('pollutes no prototype', () => {
    const { value } = readJson({ file: 'f', text: '{"__proto__": {"polluted": true}}' })
    expect(Object.hasOwn(value as object, '__proto__')).toBe(true)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('fieldPath', () => {
  it('writes names that are no identifiers in brackets', () => {
    expect(fieldPath(fieldPath(fieldPath('', 'a'), 'b.c'), 0)).toBe('a["b.c"][0]')
  })
})
