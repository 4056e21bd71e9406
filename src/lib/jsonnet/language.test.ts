import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resultOf } from './evaluate.fake.ts'

const seed = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}
const runs = { numRuns: Number(process.env.CAIRN_RUNS ?? 50) }

describe('literals', () => {
  it.each([
    ['[null, true, false]', [null, true, false]],
    ['[0, 1.5, 1e3, 12.5e-1, 1_000, 1_0.2_5]', [0, 1.5, 1000, 1.25, 1000, 10.25]],
    [`['a\\'b', "a\\"b", '\\\\ \\/ \\b\\f\\n\\r\\t \\u00e9']`, ["a'b", 'a"b', '\\ / \b\f\n\r\t é']],
    ["'\\uD83D\\uDE00'", '😀'],
    [`[@'C:\\x ''y''', @"a""b"]`, ["C:\\x 'y'", 'a"b']],
    ['|||\n    one\n      two\n\n    three\n  |||', 'one\n  two\n\nthree\n'],
    ['|||-\n  one\n  two\n|||', 'one\ntwo'],
    ['|||\n\tone ||| two\n|||', 'one ||| two\n'],
    ['# a\n// b\n/* c\n d */ 1', 1],
    ['\uFEFF{ a: 1 }', { a: 1 }],
  ])('reads %j', (text, value) => {
    expect(resultOf(text)).toEqual(value)
  })

  it('reads all JSON as itself', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), json => {
        const text = JSON.stringify(json)
        expect(JSON.stringify(sorted(resultOf(text)))).toBe(JSON.stringify(sorted(JSON.parse(text))))
      }),
      { ...seed, ...runs },
    )
  })
})

/** JSON objects have no order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, sorted(item)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe('operators', () => {
  it.each([
    ['1 + 2 * 3 - 4 / 2', 5],
    ['(1 + 2) * 3', 9],
    ['-2 - -3', 1],
    ['-7 % 3', -1],
    ['1 << 2 + 1', 8],
    ['5 & 3 | 4 ^ 1', 5],
    ['~5', -6],
    ['1 < 2 == true', true],
    ['1 + 1 == 2 && !(3 < 2) || error "not reached"', true],
    ['false && error "not reached"', false],
    ['"a" + 1 + null + [1, {}] + { b: "c" }', 'a1null[1, { }]{"b": "c"}'],
    [
      'std.map(std.toString, [1.5, 0.1, -0.25, 1e21, 1e-7, 2102092632279444.25])',
      ['1.5', '0.10000000000000001', '-0.25', '1000000000000000000000', '9.9999999999999995e-08', '2102092632279444.2'],
    ],
    ['[1] + [2]', [1, 2]],
    ['[1, 2] < [1, 3] && "a" < "b" && [] < [0]', true],
    ['"\\uffff" < "😀"', true],
    ['{ a: 1, h:: 2 } == { a: 1 }', true],
    ['[1, [2]] != [1, [3]]', true],
    ['"a" in { a:: 1 }', true],
    ['if 1 > 2 then "never"', null],
    ['-1 >> 1', -1],
  ])('%s', (text, value) => {
    expect(resultOf(text)).toEqual(value)
  })
})

describe('functions and variables', () => {
  it.each([
    ['local a = b, b = 2; a', 2],
    [
      'local f(x, y=x + 1) = [x, y]; [f(1), f(1, 5), f(y=0, x=9)]',
      [
        [1, 2],
        [1, 5],
        [9, 0],
      ],
    ],
    ['local f(a=b, b=1) = a; f()', 1],
    ['(function(x) function(y) x - y)(5)(3)', 2],
    ['local even(n) = n == 0 || odd(n - 1), odd(n) = n != 0 && even(n - 1); even(100)', true],
    ['local x = 1; local x = x2, x2 = 2; x', 2],
    ['local never = error "lazy"; [1, never][0]', 1],
    ['local f(never) = 1; f(error "lazy")', 1],
    ['[1, 2, 3,][2]', 3],
    ['assert 1 < 2 : "never"; 3', 3],
    ['1 + local x = 2; x + 1', 4],
    ['local f(n, a) = if n == 0 then a else f(n - 1, a + n) tailstrict; f(50000, 0)', 1250025000],
    ['std.length(function(a, b=1) a)', 2],
    ['function(a=1) { a: a }', { a: 1 }],
  ])('%s', (text, value) => {
    expect(resultOf(text)).toEqual(value)
  })

  it('evaluates a lazy value once, however often it is used', () => {
    const traces: string[] = []
    const text = 'local x = std.trace("computed", 1); [x, x, { a: x }]'
    expect(resultOf(text, {}, { onTrace: line => traces.push(line) })).toEqual([1, 1, { a: 1 }])
    expect(traces).toEqual(['TRACE: main.jsonnet:1:11 computed'])
  })
})

describe('arrays', () => {
  it.each([
    ['[1, 2, 3, 4][1:3]', [2, 3]],
    ['[1, 2, 3, 4][::2]', [1, 3]],
    ['[1, 2, 3, 4][-2:]', [3, 4]],
    ['[1, 2, 3, 4][:-1]', [1, 2, 3]],
    ['[1, 2][5:]', []],
    ['"a😀bc"[1:3]', '😀b'],
    ['"a😀bc"[::2]', 'ab'],
    ['"a😀bc"[1]', '😀'],
    ['[x + y for x in ["a", "b"] for y in ["1", "2"] if x + y != "a2"]', ['a1', 'b1', 'b2']],
    ['[f() for f in [function() i for i in [1, 2]]]', [1, 2]],
    ['[x for x in []]', []],
  ])('%s', (text, value) => {
    expect(resultOf(text)).toEqual(value)
  })
})

describe('objects', () => {
  it.each([
    ['{ a: 1, "b c": 2, ["d" + "e"]: 3, [null]: 4 }', { a: 1, 'b c': 2, de: 3 }],
    ['{ a: $.b.c, b: { c: self.d, d: 5 } }', { a: 5, b: { c: 5, d: 5 } }],
    ['{ f(x, y=2):: x * y, a: self.f(3) }', { a: 6 }],
    ['{ h:: 1, v::: 2, n: 3 } + { h: 4, v: 5, n:: 6 }', { v: 5 }],
    ['{ h:: 1 } + { h::: 2 }', { h: 2 }],
    ['{ a: { x: 1 } } + { a+: { y: 2 }, b+: [1] } { b+: [2] }', { a: { x: 1, y: 2 }, b: [1, 2] }],
    ['{ a: 1, b: self.a } { a: 2 }', { a: 2, b: 2 }],
    ['{ a: 1 } + { a: super.a + 1, b: super["a"] } + { a: super.a * 10 }', { a: 20, b: 1 }],
    ['{ a: "a" in super } + { a: "a" in super, b: "b" in super }', { a: true, b: false }],
    ['{ local x = 1, local f(y) = x + y, a: f(1), local z = self.a, b: z }', { a: 2, b: 2 }],
    ['{ assert self.a > 1, a: 1 } + { a: 2 }', { a: 2 }],
    ['{ [k]: k + "!" for k in ["a", "b"] }', { a: 'a!', b: 'b!' }],
    ['{ local v = k + k, [k]+: v, local w = v for k in ["a"] }', { a: 'aa' }],
    ['{ [k]: $.b0 for k in ["a"] } + { b0:: 1 }', { a: 1 }],
    ['local o = { x+: 1 }; { x: 0 } + o + o', { x: 2 }],
    ['{ local outer = self, a: 1, b: { a: 2, c: outer.a } }.b.c', 1],
    ['std.objectFields({ "__proto__": 1, constructor: 2 })', ['__proto__', 'constructor']],
    ['{ a: error "lazy", b: 1 }.b', 1],
    ['{ local a = 1, b: { a: 2, c: a } }.b.c', 1],
    ['{ a: null }.a', null],
    ['(({ a: 1 } + { b: 2 }) + ({ c: self.a } + { a: 3 })).c', 3],
  ])('%s', (text, value) => {
    expect(resultOf(text)).toEqual(value)
  })

  it('keeps a field that is called like the prototype a field', () => {
    const value = resultOf('{ "__proto__": { polluted: true } }') as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(['__proto__'])
  })

  it('takes a sum of thousands of objects', () => {
    const sum = 'std.foldl(function(o, i) o + { ["k" + i]: i }, std.range(1, 5000), {})'
    expect(resultOf(`std.length(${sum})`)).toBe(5000)
  })
})

describe('imports', () => {
  const files = {
    'lib.libsonnet': '{ twice(x): x * 2, file: std.thisFile, other: import "other.libsonnet" }',
    'other.libsonnet': '{ back: (import "lib.libsonnet").file }',
    'note.txt': 'a\nb',
    'bytes.bin': new Uint8Array([0, 255, 10]),
  }
  it.each([
    ['(import "lib.libsonnet").twice(4)', 8],
    ['(import "lib.libsonnet").file + std.thisFile', 'lib.libsonnetmain.jsonnet'],
    ['(import "lib.libsonnet").other.back', 'lib.libsonnet'],
    ['importstr "note.txt"', 'a\nb'],
    ['importbin "bytes.bin"', [0, 255, 10]],
  ])('%s', (text, value) => {
    expect(resultOf(text, files)).toEqual(value)
  })

  it('reads and evaluates a file once', () => {
    const traces: string[] = []
    const text = '[import "t.libsonnet", import "t.libsonnet"]'
    resultOf(text, { 't.libsonnet': 'std.trace("read", 1)' }, { onTrace: line => traces.push(line) })
    expect(traces).toHaveLength(1)
  })
})
