import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineIndex } from '../../lib/line-index.ts'
import { defaultLimits } from '../model/source.ts'
import type { Text } from './decoder.ts'
import type { Places } from './places.ts'
import { notPlain } from './plain-scalar.ts'
import { plainYamlReader } from './plain-yaml.ts'
import { yamlData } from './yaml-data.ts'
import { parseYaml } from './yaml-syntax.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 500),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

function plain(text: string) {
  const places: Places = new Map()
  const value = plainYamlReader(text, defaultLimits.depth)({ start: 0, end: text.length, places })
  return value === notPlain ? notPlain : { value, places: sorted(places) }
}

function full(text: string) {
  const lineOf = lineIndex(text)
  const input: Text = {
    file: 'f',
    text,
    limits: defaultLimits,
    aliases: { left: 10 },
    placeOf: offset => ({ file: 'f', ...lineOf(offset) }),
  }
  const parsed = parseYaml(input, { start: 0, end: text.length })
  if (parsed.is !== 'document') return parsed
  const places: Places = new Map()
  const { value, problems } = yamlData(parsed.document, input, { start: 0, places })
  return { value, places: sorted(places), ...(problems.length > 0 && { problems }) }
}

const sorted = (places: Places) => [...places].sort(([a], [b]) => (a < b ? -1 : 1))

const common = [
  'a',
  'b-c',
  'x y',
  'Label',
  'true',
  'Null',
  '~',
  '0',
  '-7',
  '12',
  '10.0.0.1',
  '1h30m',
  'a:b',
  'http://x/y',
  'a#b',
  '',
]
const quoted = ['"q"', '"q: r"', "'it''s'", "'# no'", '""', '"\\n"', '"q" z', '"', "'"]
const flows = [
  '[]',
  '{}',
  '[a, 1]',
  '[ a , "b" ]',
  '{ a: 1, b: [x] }',
  '{a: 1}',
  '{a}',
  '[a,]',
  '[a b, -1]',
  '[-]',
  '[a: b]',
  '{"a":1}',
  '[',
  '}',
]
const numbers = [
  '012',
  '-0',
  '1.5',
  '.5',
  '1.',
  '1e3',
  '0x1f',
  '0o7',
  '+1',
  '.inf',
  '-.INF',
  '.nan',
  '1.2.3',
  '12e',
  '1_0',
  '123456789012345678',
]
const odd = [
  '-',
  '--',
  '-a',
  '- a',
  'a: b',
  'a:',
  'a #b',
  '#c',
  '# c',
  '*a',
  '&a',
  '&a b',
  '!t',
  '|',
  '>',
  '<<',
  'a,b',
  'a]',
  'é',
  '\u2028',
  'a\tb',
]
const odder = [
  '\\',
  '@a',
  '%a',
  '`a',
  '?',
  '? a',
  ': a',
  '=',
  '(a)',
  '$a',
  '.',
  '^',
  ';',
  '---',
  '...',
  ',a',
  '\u00a0',
  '\uFEFF',
  'a\rb',
]
const scalar = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...common) },
  fc.constantFrom(...quoted),
  fc.constantFrom(...flows),
  fc.constantFrom(...numbers),
  fc.constantFrom(...odd, ...odder),
)
const key = fc.oneof(
  { weight: 60, arbitrary: fc.stringMatching(/^[a-h]{1,3}$/) },
  fc.constantFrom(
    'a-b',
    'a.b/c',
    '"q r"',
    "'s'",
    'k l',
    '1',
    '1.0',
    'true',
    '<<',
    'constructor',
    '__proto__',
    '?',
    '-',
    '-x',
    '"',
    '[a]',
  ),
)
const tail = fc.oneof(
  { weight: 40, arbitrary: fc.constant('') },
  fc.constantFrom(' ', ' # c', '\r', ' \r', '\t', '#', ' x'),
)

/** Lines of a block collection, as people write it and a little otherwise. */
const lines = fc.letrec<{ map: string[]; list: string[]; entry: string[]; item: string[] }>(tie => ({
  map: fc.array(tie('entry'), { minLength: 1, maxLength: 3 }).map(entries => entries.flat()),
  list: fc.array(tie('item'), { minLength: 1, maxLength: 3 }).map(items => items.flat()),
  entry: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(key, fc.constantFrom(': ', ': ', ': ', ':   ', ':', ' : '), scalar, tail).map(all => [all.join('')]),
    fc
      .tuple(key, tail, fc.nat(2), fc.oneof(tie('map'), tie('list')))
      .map(([name, end, by, inner]) => [`${name}:${end}`, ...indented(inner, by)]),
  ),
  item: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(scalar, tail).map(([value, end]) => [`- ${value}${end}`]),
    fc.tuple(fc.nat(2), fc.oneof(tie('map'), tie('list'))).map(([by, inner]) => ['-', ...indented(inner, by)]),
    fc.oneof(tie('map'), tie('list')).map(([first, ...rest]) => [`- ${first}`, ...indented(rest, 2)]),
  ),
}))

const indented = (inner: readonly string[], by: number) => inner.map(line => ' '.repeat(by) + line)

/** One line more, or one that is moved. */
const disturb = fc.option(
  fc.tuple(fc.nat(9), fc.constantFrom('', '# c', '    # c', '  a: b', 'x', '   x', '\t', '- y', ' ', '  - z')),
  { freq: 3 },
)
const anyText = fc.tuple(fc.oneof(lines.map, lines.list), disturb).map(([all, change]) => {
  if (change) all.splice(Math.min(change[0], all.length), 0, change[1])
  return `${all.join('\n')}\n`
})

describe('the fast reader of YAML', () => {
  it('reads nothing that the whole parser reads otherwise or not at all', () => {
    fc.assert(
      fc.property(anyText, text => {
        const fast = plain(text)
        if (fast !== notPlain) expect(fast).toEqual(full(text))
      }),
      { ...parameters, examples: [['a: "q"#c\n'], ['a: [x]#c\n'], ['- a\n b\n'], ['a: b\n  c: d\n'], ['a:#c\n']] },
    )
  })

  const plainScalar = fc.oneof(
    fc.stringMatching(/^[a-zA-Z][\w ./-]{0,8}[a-z0-9]$/),
    fc.integer({ min: -1_000_000, max: 1_000_000 }),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('10.0.0.1', '1h30m', '', 'it is # no comment', "it's"),
  )
  const name = fc.stringMatching(/^[a-z][a-zA-Z0-9_]{0,6}$/)
  const data = fc.letrec<{ node: unknown; map: unknown }>(tie => ({
    node: fc.oneof(
      { weight: 3, arbitrary: plainScalar },
      tie('map'),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    ),
    map: fc.dictionary(name, tie('node'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  })).map

  it('reads everything that is written as people mostly write it', () => {
    fc.assert(
      fc.property(data, value => {
        const text = written(value, '')
        expect(plain(text)).toMatchObject({ value })
        expect(plain(text)).toEqual(full(text))
        const crlf = text.replaceAll('\n', '\r\n')
        expect(plain(crlf)).toEqual(full(crlf))
      }),
      { ...parameters, numRuns: Math.ceil(parameters.numRuns / 4) },
    )
  })

  it('hands back what is nested deeper than the limit', () => {
    const nested = (depth: number) => Array.from({ length: depth }, (_, at) => `${' '.repeat(at)}a:`).join('\n')
    expect(plain(`${nested(64)}\n`)).not.toBe(notPlain)
    expect(plain(`${nested(65)}\n`)).toBe(notPlain)
    expect(plain(`a: ${'['.repeat(64)}${']'.repeat(64)}\n`)).toBe(notPlain)
  })
})

function written(value: unknown, indent: string): string {
  if (Array.isArray(value))
    return value
      .map(item => `${indent}-${isCollection(item) ? `\n${written(item, `${indent}  `)}` : ` ${scalarText(item)}\n`}`)
      .join('')
  return Object.entries(value as object)
    .map(
      ([key, item]) =>
        `${indent}${key}:${isCollection(item) ? `\n${written(item, `${indent}  `)}` : ` ${scalarText(item)}\n`}`,
    )
    .join('')
}

const isCollection = (value: unknown) => typeof value === 'object' && value !== null

const scalarText = (value: unknown) =>
  typeof value === 'string' && !/^[a-zA-Z0-9][\w./-]*$/.test(value) ? `'${value.replaceAll("'", "''")}'` : String(value)
