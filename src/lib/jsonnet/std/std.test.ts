import { describe, expect, it } from 'vitest'
import { problemOf, resultOf } from '../evaluate.fake.ts'

const cases: readonly (readonly [string, unknown])[] = [
  // types.ts
  [
    'std.map(std.type, [null, true, 1, "s", [], {}, std.type])',
    ['null', 'boolean', 'number', 'string', 'array', 'object', 'function'],
  ],
  ['[std.isArray([]), std.isArray("")]', [true, false]],
  ['[std.isBoolean(false), std.isBoolean(0)]', [true, false]],
  ['[std.isFunction(std.type), std.isFunction({})]', [true, false]],
  ['[std.isNull(null), std.isNull(0)]', [true, false]],
  ['[std.isNumber(1), std.isNumber("1")]', [true, false]],
  ['[std.isObject({}), std.isObject([])]', [true, false]],
  ['[std.isString(""), std.isString(1)]', [true, false]],
  ['[std.length("a😀"), std.length([1]), std.length({ a: 1, b:: 2 })]', [2, 1, 1]],
  ['std.toString({ a: [1, null] })', '{"a": [1, null]}'],
  ['std.equals({ a: [1] }, { a: [1] })', true],
  ['[std.primitiveEquals(1, 1), std.primitiveEquals(1, "1")]', [true, false]],
  ['[std.__compare(1, 2), std.__compare("b", "a"), std.__compare([1], [1])]', [-1, 1, 0]],
  ['std.assertEqual({ a: 1 }, { a: 1 })', true],
  ['[std.mod(7, 4), std.mod("%s", 1)]', [3, '1']],
  ['std.format("%s-%d", ["a", 2])', 'a-2'],
  ['std.trace("text", 5)', 5],
  ['std.extVar("who")', 'you'],
  ['std.native("none")', null],
  // math.ts
  ['[std.abs(-2), std.abs(2)]', [2, 2]],
  ['[std.sign(-9), std.sign(0), std.sign(0.5)]', [-1, 0, 1]],
  ['[std.max(1, 2), std.min(1, 2)]', [2, 1]],
  ['[std.clamp(-3, 0, 5), std.clamp(4, 0, 5), std.clamp(7, 0, 5)]', [0, 4, 5]],
  ['std.pow(2, -1)', 0.5],
  ['std.floor(std.exp(1) * 1000)', 2718],
  ['[std.log(1), std.floor(std.log(10) * 1000)]', [0, 2302]],
  ['[std.log2(8), std.round(std.log10(1000))]', [3, 3]],
  ['std.sqrt(16)', 4],
  ['[std.sin(0), std.cos(0), std.tan(0)]', [0, 1, 0]],
  ['[std.asin(0), std.acos(1), std.atan(0), std.atan2(0, 1)]', [0, 0, 0, 0]],
  ['std.hypot(3, 4)', 5],
  ['[std.deg2rad(180) == std.pi, std.rad2deg(std.pi)]', [true, 180]],
  ['[std.floor(-1.5), std.ceil(-1.5), std.round(2.5), std.round(-2.5)]', [-2, -1, 3, -2]],
  ['[std.isEven(4), std.isOdd(4), std.isInteger(4.5), std.isDecimal(4.5)]', [true, false, false, true]],
  [
    '[std.exponent(8), std.mantissa(8), std.mantissa(-3), std.exponent(5e-324), std.exponent(0)]',
    [4, 0.5, -0.75, -1073, 0],
  ],
  ['std.modulo(-7, 4)', -3],
  ['[std.xor(true, false), std.xnor(true, false)]', [true, false]],
  // strings.ts
  ['[std.codepoint("😀"), std.char(128512)]', [128512, '😀']],
  ['[std.substr("a😀bc", 1, 2), std.substr("abc", 2, 9), std.substr("abc", 5, 1)]', ['😀b', 'c', '']],
  ['[std.findSubstr("aa", "aaaa"), std.findSubstr("b", "😀b"), std.findSubstr("", "a")]', [[0, 1, 2], [1], []]],
  ['[std.startsWith("abc", "ab"), std.endsWith("abc", "ab")]', [true, false]],
  ['[std.stripChars("xaxx", "x"), std.lstripChars("xax", "x"), std.rstripChars("xax", "x")]', ['a', 'ax', 'xa']],
  ['std.trim(" \\t a b\\n\\u00a0")', 'a b'],
  [
    '[std.split("a/_b/_", "/_"), std.splitLimit("a,b,c", ",", 1), std.splitLimitR("a,b,c", ",", 1)]',
    [
      ['a', 'b', ''],
      ['a', 'b,c'],
      ['a,b', 'c'],
    ],
  ],
  ['std.splitLimitR("a,b", ",", -1)', ['a', 'b']],
  ['std.strReplace("a.b.c", ".", "$&")', 'a$&b$&c'],
  ['[std.isEmpty(""), std.isEmpty("a")]', [true, false]],
  ['[std.asciiUpper("aé"), std.asciiLower("AÉ"), std.equalsIgnoreCase("Ab", "aB")]', ['Aé', 'aÉ', true]],
  ['std.stringChars("a😀")', ['a', '😀']],
  ['std.lines(["a", null, "b"])', 'a\nb\n'],
  ['std.deepJoin(["a", ["b", ["c"]]])', 'abc'],
  ['std.escapeStringJson("\\"\\u0001\\u009f\\n")', '"\\"\\u0001\\u009f\\n"'],
  ['std.escapeStringPython("x")', '"x"'],
  [`std.escapeStringBash("it's")`, `'it'"'"'s'`],
  ['std.escapeStringDollars("$a$")', '$$a$$'],
  [`[std.escapeStringXML("<'&\\">"), std.escapeStringXml("<")]`, ['&lt;&apos;&amp;&quot;&gt;', '&lt;']],
  ['[std.parseInt("-012"), std.parseOctal("755"), std.parseHex("fF")]', [-12, 493, 255]],
  ['std.resolvePath("a/b", "c")', 'a/c'],
  // arrays.ts
  ['std.makeArray(3, function(i) i * i)', [0, 1, 4]],
  ['[std.range(1, 3), std.range(2, 1)]', [[1, 2, 3], []]],
  ['[std.repeat([1, 2], 2), std.repeat("ab", 2), std.repeat("a", 0)]', [[1, 2, 1, 2], 'abab', '']],
  ['[std.slice([1, 2, 3], 0, 3, 2), std.slice("abc", 1, null, null)]', [[1, 3], 'bc']],
  ['[std.member([1], 1), std.member("abc", "bc"), std.contains([1], 2)]', [true, true, false]],
  ['[std.count([1, 2, 1], 1), std.find(1, [1, 2, 1])]', [2, [0, 2]]],
  ['[std.map(function(x) x + 1, [1]), std.map(function(c) c + c, "ab")]', [[2], ['aa', 'bb']]],
  ['std.mapWithIndex(function(i, x) [i, x], ["a"])', [[0, 'a']]],
  ['std.filter(function(x) x > 1, [1, 2])', [2]],
  ['std.filterMap(function(x) x > 1, function(x) x * 2, [1, 2])', [4]],
  ['[std.flatMap(function(x) [x, x], [1]), std.flatMap(function(c) c + c, "ab")]', [[1, 1], 'aabb']],
  ['[std.foldl(function(a, x) a + x, ["a", "b"], ""), std.foldr(function(x, a) a + x, ["a", "b"], "")]', ['ab', 'ba']],
  ['[std.join(",", ["a", null, "b"]), std.join([0], [[1], [2]])]', ['a,b', [1, 0, 2]]],
  [
    '[std.flattenArrays([[1], [[2]]]), std.flattenDeepArray([[1, []], [[2]]])]',
    [
      [1, [2]],
      [1, 2],
    ],
  ],
  [
    '[std.reverse([1, 2]), std.reverse("ab")]',
    [
      [2, 1],
      ['b', 'a'],
    ],
  ],
  ['[std.all([true, false]), std.all([]), std.any([false, true]), std.any([])]', [false, true, true, false]],
  ['[std.sum([1, 2]), std.sum([]), std.avg([1, 2])]', [3, 0, 1.5]],
  ['[std.minArray([2, 1]), std.maxArray([{ k: 1, n: 1 }, { k: 1, n: 2 }], keyF=function(x) x.k).n]', [1, 1]],
  ['[std.minArray([], onEmpty=0), std.maxArray("abc")]', [0, 'c']],
  ['[std.removeAt([1, 2, 3], 1), std.remove([1, 2, 1], 1), std.remove([1], 5)]', [[1, 3], [2, 1], [1]]],
  // sets.ts
  [
    '[std.sort([2, 1]), std.sort(["b", "a"], keyF=function(x) x), std.sort([{ k: 2 }, { k: 1 }], function(x) x.k)[0].k]',
    [[1, 2], ['a', 'b'], 1],
  ],
  [
    '[std.uniq([1, 1, 2, 1]), std.set([2, 1, 2])]',
    [
      [1, 2, 1],
      [1, 2],
    ],
  ],
  [
    '[std.setMember(2, [1, 2, 3]), std.setMember(5, [1]), std.setMember({ k: 1 }, [{ k: 1 }], function(x) x.k)]',
    [true, false, true],
  ],
  ['[std.setUnion([1, 3], [2, 3]), std.setInter([1, 2], [2, 3]), std.setDiff([1, 2], [2])]', [[1, 2, 3], [2], [1]]],
  // objects.ts
  [
    '[std.get({ a: 1 }, "a"), std.get({}, "a"), std.get({}, "a", 2), std.get({ a:: 1 }, "a", 2, false)]',
    [1, null, 2, 2],
  ],
  [
    'local o = { a: 1, h:: 2 }; [std.objectHas(o, "h"), std.objectHasAll(o, "h"), std.objectHasEx(o, "h", false)]',
    [false, true, false],
  ],
  [
    'local o = { b: 1, a: 2, h:: 3 }; [std.objectFields(o), std.objectFieldsAll(o), std.objectFieldsEx(o, true)]',
    [
      ['a', 'b'],
      ['a', 'b', 'h'],
      ['a', 'b', 'h'],
    ],
  ],
  ['local o = { b: 1, h:: 3 }; [std.objectValues(o), std.objectValuesAll(o)]', [[1], [1, 3]]],
  [
    'local o = { b: 1, h:: 3 }; [std.objectKeysValues(o), std.length(std.objectKeysValuesAll(o))]',
    [[{ key: 'b', value: 1 }], 2],
  ],
  ['std.objectRemoveKey({ a: 1, b: 2 }, "a")', { b: 2 }],
  ['std.mapWithKey(function(k, v) k + v, { a: 1 })', { a: 'a1' }],
  ['std.mergePatch({ a: { b: 1, c: 2 }, d: 1 }, { a: { b: null }, d: null, e: { f: null } })', { a: { c: 2 }, e: {} }],
  ['std.prune({ a: [null, {}, 1], b: { c: [] }, d: "" })', { a: [1], d: '' }],
  // encoding.ts
  ['[std.encodeUTF8("é"), std.decodeUTF8([195, 169])]', [[195, 169], 'é']],
  [
    '[std.base64("hi"), std.base64([255]), std.base64Decode("aGk="), std.base64DecodeBytes("/w==")]',
    ['aGk=', '/w==', 'hi', [255]],
  ],
  ['std.md5("")', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['std.sha1("")', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ['std.sha256("")', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['std.substr(std.sha512(""), 0, 16)', 'cf83e1357eefb8bd'],
  ['std.substr(std.sha3(""), 0, 16)', 'a69f73cca23a9ac5'],
  [`std.parseJson('{"a": [1, null]}')`, { a: [1, null] }],
  [
    '[std.parseYaml("a: [1, x]"), std.parseYaml("a: 1\\n---\\nb: 2"), std.parseYaml("")]',
    [{ a: [1, 'x'] }, [{ a: 1 }, { b: 2 }], null],
  ],
  // manifest.ts
  ['std.manifestJson({ a: [1], b: {} })', '{\n    "a": [\n        1\n    ],\n    "b": {\n\n    }\n}'],
  ['std.manifestJsonMinified({ a: [1, {}] })', '{"a":[1,{}]}'],
  ['std.manifestJsonEx({ a: 1 }, " ", "\\n", "=")', '{\n "a"=1\n}'],
  ['std.manifestYamlDoc({ a: [1, [2]], b: "x\\ny\\n", c: {} })', '"a":\n- 1\n-\n  - 2\n"b": |\n  x\n  y\n"c": {}'],
  ['std.manifestYamlDoc({ a: [1], yes: 1, "1e5": 1, "1.5": 1 }, true, false)', '"1.5": 1\n1e5: 1\na:\n  - 1\n"yes": 1'],
  ['std.manifestYamlStream([1, {}])', '---\n1\n---\n{}\n...\n'],
  ['std.manifestYamlStream([1], c_document_end=false)', '---\n1\n'],
  [
    'std.manifestToml({ a: 1, b: { c: "x" }, d: [{ e: [1, [2]] }] })',
    'a = 1\n\n[b]\n  c = "x"\n\n[[d]]\n  e = [\n    1,\n    [ 2 ]\n  ]',
  ],
  ['std.manifestTomlEx({ "a b": [{ x: 1 }, 2] }, "")', '"a b" = [\n{ x = 1 },\n2\n]'],
  ['std.manifestIni({ main: { a: 1 }, sections: { s: { b: ["x", "y"] } } })', 'a = 1\n[s]\nb = x\nb = y\n'],
  ['std.manifestPython({ a: [true, null, 1.5] })', '{"a": [True, None, 1.5]}'],
  ['std.manifestPythonVars({ a: "x", b: false })', 'a = "x"\nb = False\n'],
  ['std.manifestXmlJsonml(["a", { b: 1 }, "t", ["c"]])', '<a b="1">t<c></c></a>'],
]

describe('the standard library', () => {
  it.each(cases)('%s', (text, value) => {
    expect(resultOf(text, {}, { extVars: { who: 'you' } })).toEqual(value)
  })

  it('has a case here for each of its functions', () => {
    const names = resultOf('[f for f in std.objectFieldsAll(std) if std.isFunction(std[f])]') as string[]
    const texts = cases.map(([text]) => text).join('\n')
    expect(names.filter(name => !new RegExp(`std\\.${name}\\b`).test(texts))).toEqual([])
  })

  it('leaves elements that it need not know unevaluated', () => {
    expect(resultOf('std.length(std.map(function(x) error "lazy", [1, 2]))')).toBe(2)
    expect(resultOf('std.reverse([1, error "lazy"])[1]')).toBe(1)
    expect(resultOf('std.objectHas({ a: error "lazy" }, "a")')).toBe(true)
    expect(resultOf('std.foldl(function(a, x) a, [error "lazy"], 1)')).toBe(1)
    expect(resultOf('std.get({ a: 1 }, "a", error "lazy")')).toBe(1)
  })

  it('can be extended, and shadowed', () => {
    expect(resultOf('local my = std + { twice(x): x * 2 }; my.twice(std.max(1, 2))')).toBe(4)
    expect(resultOf('local std = { length(x): "mine" }; std.length([])')).toBe('mine')
  })

  it.each([
    ['std.noSuchThing(1)', 'the object has no field noSuchThing'],
    ['std.length(1)', 'std.length: number has no length'],
    ['std.abs("a")', 'std.abs: n must be number, and is string'],
    ['std.substr("a", 0, -1)', 'std.substr: len must not be negative, and is -1'],
    ['std.makeArray(1.5, function(i) i)', 'std.makeArray: sz must be a whole number, and is 1.5'],
    ['std.join(",", [1])', 'std.join: arr must hold strings, and there is number'],
    ['std.filter(function(x) 1, [1])', 'std.filter: the filter must give a boolean, and gave number'],
    ['std.base64("😀")', 'std.base64: input has characters above 255; encode it with std.encodeUTF8'],
    ['std.base64([256])', 'std.base64: the array must hold bytes: whole numbers from 0 to 255'],
    ['std.base64DecodeBytes("a=b=")', 'std.base64DecodeBytes: str is not base64'],
    ['std.minArray([])', 'std.minArray: arr is empty'],
    ['std.assertEqual("a", { b: 1 })', 'std.assertEqual: "a" != {"b": 1}'],
    ['std.manifestTomlEx({ a: null }, "")', 'null cannot be written as TOML'],
    ['std.parseHex("0x1")', 'std.parseHex: "0x1" is not a number of base 16'],
    ['std.char(-1)', 'std.char: there is no code point -1'],
    ['std.sort([1, "a"])', 'comparison does not go with string and number'],
    ['std.sum(["a"])', 'std.sum: arr must hold numbers'],
  ])('%s fails: %s', (text, reason) => {
    expect(problemOf(text)).toMatchObject({ code: 'jsonnet.failed', reason })
  })

  it.each([
    'std.parseJson("{")',
    'std.parseYaml("a: [")',
    'std.parseYaml("a: .inf")',
    'std.map(1, [])',
    'std.manifestJson(std.type)',
    'std.manifestYamlDoc(std.type)',
    'std.manifestPython(std.type)',
    'std.manifestXmlJsonml([1])',
    'std.manifestIni({})',
    'std.splitLimit("a", "", 1)',
    'std.strReplace("a", "", "b")',
    'std.all([1])',
    'std.modulo(1, 0)',
    'std.char(1e9)',
    'std.parseYaml("a: &a [1]\\nb: " + std.manifestJsonMinified([]) + "\\nc: *missing")',
    'std.repeat("a", -1)',
  ])('%s fails', text => {
    expect(problemOf(text).code).toBe('jsonnet.failed')
  })
})

describe('formats', () => {
  it.each([
    ['"%d|%5d|%-5d|%05d|%+d|% d|%i" % [1, 2, 3, 4, 5, 6, 7.9]', '1|    2|3    |00004|+5| 6|7'],
    ['"%x|%X|%#x|%o|%#o|%d" % [255, 255, 255, 8, 8, -3.9]', 'ff|FF|0xff|10|010|-3'],
    [
      '"%f|%.2f|%8.3f|%.0f|%#.0f|%05.1f|%+.1f" % [1.5, 2.345, 3.14159, 7.5, 8, 6.25, 0.99]',
      '1.500000|2.35|   3.142|8|8.|006.3|+1.0',
    ],
    ['"%e|%.2E|%g|%g|%G" % [12345.678, 0, 0.0001, 1234567, 1e-10]', '1.234568e+04|0.00E+00|0.0001|1.23457e+06|1E-10'],
    ['"%s|%5s|%-5s|%c%c|%%" % [{ a: 1 }, "x", "y", 65, "b"]', '{"a": 1}|    x|y    |Ab|%'],
    ['"%*d|%.*f|%-*s|" % [4, 1, 2, 3.14159, 3, "x"]', '   1|3.14|x  |'],
    ['"%(a)s %(b)03d %% %(h)s" % { a: "x", b: 7, h:: 1 }', 'x 007 % 1'],
    ['"%s" % [[1, 2]]', '[1, 2]'],
    ['"%5s" % "😀"', '    😀'],
    ['"%ld %hd %Lf" % [1, 2, 3]', '1 2 3.000000'],
  ])('%s', (text, value) => {
    expect(resultOf(text)).toBe(value)
  })

  it.each([
    '"%s" % []',
    '"%s" % [1, 2]',
    '"%d" % "a"',
    '"%q" % 1',
    '"%" % 1',
    '"%(a)s" % {}',
    '"%s" % {}',
    '"%*s" % { a: 1 }',
    '"%c" % "ab"',
    '"%c" % 1e9',
    '"%(a" % {}',
  ])('%s fails', text => {
    expect(problemOf(text).code).toBe('jsonnet.failed')
  })
})
