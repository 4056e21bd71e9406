import { describe, expect, it } from 'vitest'
import { problemOf } from './evaluate.fake.ts'

/** Where a program fails: `line:column`. */
const placeOf = (text: string) => {
  const { code, source } = problemOf(text)
  return [code, `${source?.line}:${source?.column}`]
}

describe('what is not Jsonnet', () => {
  it.each([
    ['', '1:1'],
    ['[1, 2', '1:6'],
    ['{ a: 1\n  b: 2 }', '2:3'],
    ['{ a 1 }', '1:5'],
    ['{ a: 1, a: 2 }', '1:9'],
    ['{ local x = 1, local x = 2 }', '1:22'],
    ['1 +', '1:4'],
    ['1 === 2', '1:3'],
    ['(1', '1:3'],
    ['1 2', '1:3'],
    ['"open', '1:1'],
    ["@'open", '1:1'],
    ['@x', '1:1'],
    ['"\\q"', '1:2'],
    ['"\\u12x4"', '1:2'],
    ['|||\nnot indented\n|||', '2:1'],
    ['|||\n  no end', '1:1'],
    ['||| x', '1:1'],
    ['1 /* open', '1:3'],
    ['01', '1:1'],
    ['1.', '1:1'],
    ['1__0', '1:1'],
    ['`', '1:1'],
    ['if true', '1:8'],
    ['local x = 1; y', '1:14'],
    ['local x = 1, x = 2; x', '1:14'],
    ['function(x, x) x', '1:13'],
    ['local f(x) = x; f(x=1, x=2)', '1:24'],
    ['local f(x) = x; f(x=1, 2)', '1:24'],
    ['self', '1:1'],
    ['[$]', '1:2'],
    ['{ a: 1 } + super.a', '1:12'],
    ['"a" in super', '1:5'],
    ['super', '1:6'],
    ['import "a" + "b"', '1:8'],
    ['[x for x in [1] y]', '1:17'],
    ['[1, x for x in [1]]', '1:7'],
    ['{ [k]:: 1 for k in ["a"] }', '1:3'],
    ['{ a: 1 for k in ["a"] }', '1:3'],
    ['{ f(x)+: 1 }', '1:3'],
    ['[1][]', '1:6'],
    ['[1][1:2:3:4]', '1:11'],
  ])('%j fails at %s', (text, place) => {
    expect(placeOf(text)).toEqual(['jsonnet.syntax', place])
  })

  it('guesses what a name was to be', () => {
    expect(problemOf('local replicas = 1; replica')).toMatchObject({ hint: 'did you mean "replicas"?' })
  })
})

describe('what fails while it runs', () => {
  it.each([
    ['error "why"', '1:1'],
    ['[1,\n  error { a: 1 }]', '2:3'],
    ['1 + null', '1:1'],
    ['{ a: 1 - "b" }', '1:6'],
    ['[] < {}', '1:1'],
    ['!1', '1:1'],
    ['2 * (1 / 0)', '1:6'],
    ['5 % 0', '1:1'],
    ['1e308 * 10', '1:1'],
    ['1 << -1', '1:1'],
    ['9007199254740993 & 1', '1:1'],
    ['if 1 then 2', '1:4'],
    ['true && 1', '1:9'],
    ['[1][1]', '1:5'],
    ['[1][0.5]', '1:5'],
    ['"a".b', '1:4'],
    ['{ a: 1 }.b', '1:9'],
    ['{ a: 1 }[1]', '1:10'],
    ['null[0]', '1:6'],
    ['{ a: super.b }', '1:6'],
    ['local f(x) = x; f()', '1:17'],
    ['local f(x) = x; f(1, 2)', '1:17'],
    ['local f(x) = x; f(y=1)', '1:17'],
    ['local f(x) = x; f(1, x=1)', '1:17'],
    ['1(2)', '1:1'],
    ['{ ["a"]: 1, ["a"]: 2 }', '1:13'],
    ['{ [1]: 2 }', '1:3'],
    ['{ [k]: 1 for k in ["a", "a"] }', '1:3'],
    ['assert false; 1', '1:1'],
    ['{ assert self.a > 1 : "small", a: 1 }', '1:3'],
    ['[x for x in 5]', '1:13'],
    ['[x for x in [1] if 5]', '1:20'],
    ['[1, 2][::0]', '1:1'],
    ['std.sqrt(-1)', '1:1'],
    ['{ a: std.parseInt("x") }', '1:6'],
    ['std.extVar("missing")', '1:1'],
    ['(function() 1) == (function() 2)', '1:1'],
    ['{ f: function() 1 }', '1:1'],
    ['import "missing"', '1:1'],
  ])('%j fails at %s', (text, place) => {
    const code = text.startsWith('import') ? 'jsonnet.import' : 'jsonnet.failed'
    expect(placeOf(text)).toEqual([code, place])
  })

  it('says what the program says', () => {
    expect(problemOf('error "a " + { b: 1 }')).toMatchObject({ reason: 'a {"b": 1}' })
    expect(problemOf('assert 1 > 2 : "too small"; 1')).toMatchObject({ reason: 'too small' })
  })

  it('tells the calls and fields that led there, the nearest first', () => {
    const files = { 'lib.libsonnet': '{ check(x):: if x < 0 then error "negative" else x }' }
    const text = 'local lib = import "lib.libsonnet";\n{ out: { deep: lib.check(-1) } }'
    expect(problemOf(text, files)).toEqual({
      code: 'jsonnet.failed',
      path: '',
      reason: 'negative',
      hint: 'evaluated for main.jsonnet:2:16 (check), from main.jsonnet:2:10 (field deep)',
      source: { file: 'lib.libsonnet', line: 1, column: 28 },
    })
  })

  it('names the file that is wrong, and not the one that imports it', () => {
    expect(problemOf('import "bad"', { bad: '\n\n  [1' }).source).toEqual({ file: 'bad', line: 3, column: 5 })
  })
})

describe('what would not end', () => {
  it.each([
    'local f(x) = f(x + 1) + 1; f(0)',
    'local a = a; a',
    '{ a: self.b, b: self.a }',
    'local a = [a]; a',
    'local a = { b: a }; a == a',
    'local a = [a]; a < a',
    'local a = [a]; "" + a',
    'local a = [a]; std.prune(a)',
    'local a = [a]; std.flattenDeepArray(a)',
    'local a = [a]; std.deepJoin(a)',
    'local a = [a]; std.manifestPython(a)',
    'local a = ["x", a]; std.manifestXmlJsonml(a)',
    'local f(n) = std.map(function(x) f(x), [n + 1])[0]; f(0)',
    'local a = { b+: a }; a',
    '{ a: self { b: 1 } }',
    'local fix(f) = f(fix(f)); fix(function(x) x + 1)',
  ])('%s', text => {
    expect(problemOf(text)).toMatchObject({ code: 'jsonnet.recursion', source: { file: 'main.jsonnet', line: 1 } })
  })

  it('takes recursion up to the limit, and a higher limit when asked', () => {
    const count = (n: number) => `local f(n) = if n == 0 then 0 else 1 + f(n - 1); f(${n})`
    expect(problemOf(count(500))).toMatchObject({ code: 'jsonnet.recursion' })
    expect(problemOf(count(50), {}, { limits: { depth: 20 } })).toMatchObject({ code: 'jsonnet.recursion' })
  })

  it.each([
    ['brackets', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'jsonnet.syntax'],
    ['parentheses', '('.repeat(5000), 'jsonnet.syntax'],
    ['signs', `${'- '.repeat(5000)}1`, 'jsonnet.syntax'],
    ['a long sum', `1${' + 1'.repeat(50_000)}`, 'jsonnet.recursion'],
  ])('refuses a text that is nested too deeply: %s', (_, text, code) => {
    expect(problemOf(text)).toMatchObject({ code })
  })

  it('finds files that need one another', () => {
    const files = { a: '(import "b") + 1', b: '(import "a") + 1' }
    expect(problemOf('import "a"', files)).toMatchObject({ code: 'jsonnet.recursion', source: { file: 'b' } })
  })

  it('stops after so many steps', () => {
    const limits = { steps: 10_000 }
    const problem = { code: 'jsonnet.too-long' }
    expect(problemOf('local l(n) = l(n + 1) tailstrict; l(0)', {}, { limits })).toMatchObject(problem)
    expect(problemOf('[x + y for x in std.range(1, 200) for y in std.range(1, 200)]', {}, { limits })).toMatchObject(
      problem,
    )
    expect(problemOf('std.foldl(function(a, b) a + b, std.range(1, 9000), 0)', {}, { limits })).toMatchObject(problem)
  })
})

describe('what would be too large', () => {
  it.each([
    'std.range(1, 1e9)',
    'std.makeArray(1e9, function(i) i)',
    'std.repeat("abc", 1e9)',
    'std.repeat([1], 1e9)',
    '"%1000000000d" % 1',
    '"%.*d" % [1e9, 1]',
    'local double(s, n) = if n == 0 then s else double(s + s, n - 1); double("ab", 60)',
    'local double(s, n) = if n == 0 then s else double(s + s, n - 1); double([1], 60)',
    'std.strReplace(std.repeat("a", 1e5), "a", std.repeat("b", 1e5))',
    'std.join(std.repeat("a", 1e5), std.makeArray(1e3, function(i) "b"))',
    'local a = std.repeat("x", 1e6); [a for i in std.range(1, 100)]',
    '"%.400f" % 1',
  ])('%s', text => {
    const limits = { outputBytes: 1_000_000 }
    expect(problemOf(text, {}, { limits })).toMatchObject({
      code: 'jsonnet.too-large',
      source: { file: 'main.jsonnet' },
    })
  })

  it('counts the bytes of the result', () => {
    const limits = { outputBytes: 1_000 }
    expect(problemOf('[std.repeat("é", 300), std.repeat("é", 300)]', {}, { limits })).toMatchObject({
      code: 'jsonnet.too-large',
    })
  })
})
