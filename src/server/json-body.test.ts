import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acceptedType, bodyType } from './accept.ts'
import { readJsonBody } from './json-body.ts'

const read = (text: string, depth = 10) => readJsonBody(Buffer.from(text), { depth })
const seed = process.env.CAIRN_SEED === undefined ? {} : { seed: Number(process.env.CAIRN_SEED) }
const runs = { numRuns: Number(process.env.CAIRN_RUNS ?? 200), ...seed }

describe('a JSON body', () => {
  it('is read as JSON.parse reads it, whatever is in it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), value => {
        const text = JSON.stringify(value)
        if (/\\u0000|\\ud[89a-f]|__proto__/.test(text)) return
        expect(read(text)).toEqual({ value: JSON.parse(text), text })
      }),
      runs,
    )
  })

  it('counts depth over objects and lists, and not in text', () => {
    expect(read('[[{"a":[1]}]]', 4)).toHaveProperty('value')
    expect(read('[[{"a":[1]}]]', 3)).toMatchObject({ problem: { code: 'limit.depth' } })
    expect(read('["[[[[[[\\"[[[["]', 1)).toHaveProperty('value')
  })

  it('takes the same key in two objects, and the same text as key and value', () => {
    expect(read('{"a":{"a":"a"},"b":["a",{"a":1}]}')).toHaveProperty('value')
  })

  it('takes a pair of surrogates and refuses half of one', () => {
    expect(read('["\\ud83d\\ude00"]')).toHaveProperty('value')
    expect(read('["\\ude00\\ud83d"]')).toHaveProperty('problem')
    expect(read('["\\\\u0000"]')).toHaveProperty('value')
    expect(read('["\\\\\\u0000"]')).toHaveProperty('problem')
  })
})

describe('content types', () => {
  const offered = ['application/json', 'application/yaml']

  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/yaml', 'application/yaml'],
    ['application/*;q=0.5, application/yaml', 'application/yaml'],
    ['application/json;q=0.1, application/yaml;q=0.2', 'application/yaml'],
    ['application/json;q=0, */*', 'application/yaml'],
    ['text/html', null],
    ['application/json;q=0', null],
    ['rubbish', null],
  ])('%s is answered with %s', (header, type) => {
    expect(acceptedType(header, offered)).toBe(type)
  })

  it('of a body are bare and in UTF-8', () => {
    expect(bodyType('Application/JSON; charset="UTF-8"')).toBe('application/json')
    expect(bodyType('application/json; charset=utf-16')).toBeNull()
    expect(bodyType(undefined)).toBeNull()
  })
})
