import { describe, expect, it } from 'vitest'
import type { Document } from '../model/source.ts'
import { readText, toldBy, valuesOf } from './read.fake.ts'

describe('a YAML stream', () => {
  it('holds a resource in each document, and none in an empty one', () => {
    const text = '# head\n---\nkind: A\n---\n# nothing\n---\n--- # c\nkind: B\n...\n# foot\n'
    const read = readText(text)
    expect(valuesOf(read)).toEqual([{ kind: 'A' }, { kind: 'B' }])
    expect(read.documents.map(({ index, file }) => [index, file])).toEqual([
      [0, 'f.yaml'],
      [1, 'f.yaml'],
    ])
    expect(read.problems).toEqual([])
    expect(read.documents.map(({ locate }) => locate(''))).toEqual([
      { file: 'f.yaml', line: 3, column: 1 },
      { file: 'f.yaml', line: 8, column: 1 },
    ])
  })

  it('begins where its first field stands, whoever reads it', () => {
    const places = ['# c\n\n  kind: A\n', '# c\n\n  kind: &a A\n'].map(text => readText(text).documents[0]!.locate(''))
    expect(places).toEqual([
      { file: 'f.yaml', line: 3, column: 3 },
      { file: 'f.yaml', line: 3, column: 3 },
    ])
  })

  it('may be a list of resources, whose items are found where they stand', () => {
    const read = readText('- kind: A\n- kind: B\n  metadata: { name: b }\n---\nkind: C\n')
    expect(valuesOf(read)).toEqual([{ kind: 'A' }, { kind: 'B', metadata: { name: 'b' } }, { kind: 'C' }])
    expect(read.documents[1]!.locate('metadata.name')).toEqual({ file: 'f.yaml', line: 3, column: 21 })
    expect(read.documents[2]!.index).toBe(2)
    expect(valuesOf(readText('[]'))).toEqual([])
  })

  it.each([
    ['null', [null]],
    ['--- ~', [null]],
    ['12', [12]],
    ['--- text', ['text']],
    ['- 1\n- null', [1, null]],
    ['', []],
    ['\n \n', []],
    ['---\n---\n...\n', []],
    ['a: 1\n...\nb: 2\n---\nc: 3', [{ a: 1 }, { b: 2 }, { c: 3 }]],
    ['%YAML 1.2\n---\na: 1\n---\nb: 2', [{ a: 1 }, { b: 2 }]],
    ['--- {a: 1}\n--- |\n  text\n', [{ a: 1 }, 'text\n']],
    ['a: |\n  - - -\n  ...x\n', [{ a: '- - -\n...x\n' }]],
    ['a: 1\r\n---\r\nb: 2\r\n', [{ a: 1 }, { b: 2 }]],
    ['\uFEFFa: 1\n', [{ a: 1 }]],
  ])('%j holds %j', (text, values) => {
    const read = readText(text)
    expect(read.problems).toEqual([])
    expect(valuesOf(read)).toEqual(values)
  })

  it('follows the core schema of YAML 1.2', () => {
    const text =
      'a: no\nb: on\nc: 012\nd: 0o14\ne: 1.50\nf: "1"\ng: ~\nh: 2024-01-01\ni: 1_000\nj: 0x1f\nk: yes\nl: 22:30\n'
    expect(valuesOf(readText(text))).toEqual([
      {
        a: 'no',
        b: 'on',
        c: 12,
        d: 12,
        e: 1.5,
        f: '1',
        g: null,
        h: '2024-01-01',
        i: '1_000',
        j: 31,
        k: 'yes',
        l: '22:30',
      },
    ])
  })

  it('has keys of any name as keys of their own, and pollutes nothing', () => {
    const read = readText('__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}\n1.0: x\nnull: y\n')
    const [value] = valuesOf(read) as [object]
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', '1.0', 'null'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(read.problems).toEqual([])
  })
})

describe('what is wrong in YAML', () => {
  it.each([
    ['a tab that indents', 'kind: Label\nmetadata:\n\tname: a\n', 'yaml.tab resources[0] f.yaml:3:1'],
    ['a tab after spaces', 'a:\n  b: 1\n  \tc: 2\n', 'yaml.tab resources[0] f.yaml:3:3'],
    ['a tab in a flow mapping', 'a: {\n\tb: 1\n}\n', 'yaml.tab resources[0] f.yaml:2:1'],
    ['a tab in a block of text', 'a: |\n  x\n\ty\n', 'yaml.tab resources[0] f.yaml:3:1'],
    ['a quote that is not closed', 'a: 1\nb: "x\nc: 2\n', 'yaml.syntax resources[0] f.yaml:2:4'],
    ['a bracket that is not closed', 'a: [b\nc: d\n', 'yaml.syntax resources[0] f.yaml:2:1'],
    ['two mappings on a line', 'a: b: c\n', 'yaml.syntax resources[0] f.yaml:1:4'],
    ['a list that turns into a mapping', '- a\nb: 1\n', 'yaml.syntax resources[0] f.yaml:2:1'],
    ['text behind the end marker', 'a: 1\n... b\n', 'yaml.syntax resources[0] f.yaml:2:5'],
    ['a NUL', 'a: x\0y\n', 'yaml.character resources[0] f.yaml:1:5'],
    ['a return alone', 'a: 1\rb: 2\n', 'yaml.character resources[0] f.yaml:1:5'],
    ['another version', '%YAML 1.1\n---\na: no\n', 'yaml.version resources[0] f.yaml:1:1'],
    ['a tag of nobody', 'a: !x!y 1\n', 'yaml.tag resources[0] f.yaml:1:4'],
  ])('%s is told once, and there is no value', (_, text, told) => {
    const read = readText(text)
    expect(toldBy(read)).toEqual([told])
    expect(read.documents).toEqual([])
  })

  it.each([
    ['a repeated key', 'a: 1\nb: 2\na: 3\n', 'key.duplicate resources[0].a f.yaml:3:1', { a: 3, b: 2 }],
    ['a repeated key in a flow', 'a: {b: 1, "b": 2}\n', 'key.duplicate resources[0].a.b f.yaml:1:11', { a: { b: 2 } }],
    ['a custom tag', 'a: !ref 5\n', 'yaml.tag resources[0].a f.yaml:1:4', { a: '5' }],
    ['a tag on a mapping', 'a: !m\n  b: 1\n', 'yaml.tag resources[0].a f.yaml:1:4', { a: { b: 1 } }],
    ['a binary tag', 'a: !!binary aGk=\n', 'yaml.tag resources[0].a f.yaml:1:4', { a: 'aGk=' }],
    ['a core tag that fails', 'a: !!int x\n', 'yaml.tag resources[0].a f.yaml:1:4', { a: 'x' }],
    [
      'a merge key',
      'a: &a {b: 1, c: 2}\nd:\n  c: 3\n  <<: *a\n',
      'yaml.merge-key resources[0].d["<<"] f.yaml:4:3',
      { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } },
    ],
    ['a key that is a list', '? [a]\n: b\nc: 1\n', 'yaml.key resources[0] f.yaml:1:3', { c: 1 }],
    ['a key that is missing', ': x\n', 'yaml.key resources[0] f.yaml:1:1', {}],
    ['an alias of nothing', 'a: *b\n', 'yaml.alias resources[0].a f.yaml:1:4', { a: null }],
    ['an alias of itself', 'a: &a [*a]\n', 'yaml.alias resources[0].a[0] f.yaml:1:8', { a: [null] }],
    ['not a number', 'a: .nan\n', 'value.range resources[0].a f.yaml:1:4', { a: '.nan' }],
    ['infinity', 'a: [1, 1e400]\n', 'value.range resources[0].a[1] f.yaml:1:8', { a: [1, '1e400'] }],
    [
      'an integer that is not exact',
      'a: 12345678901234567890\n',
      'value.range resources[0].a f.yaml:1:4',
      { a: '12345678901234567890' },
    ],
  ])('%s is told, and the rest is read', (_, text, told, value) => {
    const read = readText(text)
    expect(toldBy(read)).toEqual([told])
    expect(valuesOf(read)).toEqual([value])
    expect(read.documents[0]!.reported).toEqual([told.split(' ')[1]!.replace(/^resources\[0\]\.?/, '')])
  })

  it('takes the tags of the core schema', () => {
    const read = readText('a: !!str 5\nb: !!int "5"\nc: !!map {}\nd: !!seq []\ne: ! f\n')
    expect(read.problems).toEqual([])
    expect(valuesOf(read)).toEqual([{ a: '5', b: 5, c: {}, d: [], e: 'f' }])
  })

  it('names the first place of a repeated key', () => {
    expect(readText('a: 1\nb: 2\na: 3\n').problems[0]!.reason).toContain('line 1, column 1')
  })

  it('does not repeat what stands in the text', () => {
    expect(JSON.stringify(readText('a: ]\nb: "hunter2" x\n').problems)).not.toContain('hunter2')
  })

  it('in one document hides no other, even when a quote is never closed', () => {
    const read = readText('kind: A\n---\nkind: "B\nspec: 1\n---\nkind: C\n---\n\tx: 1\n')
    expect(toldBy(read)).toEqual(['yaml.syntax resources[1] f.yaml:3:7', 'yaml.tab resources[3] f.yaml:8:1'])
    expect(read.documents.map(({ index, value }) => [index, value])).toEqual([
      [0, { kind: 'A' }],
      [2, { kind: 'C' }],
    ])
  })
})

describe('aliases', () => {
  it('are read as what they repeat, each time anew', () => {
    const read = readText('a: &x {b: [1]}\nc: *x\nd: &x 2\ne: *x\n*x : f\n')
    const [value] = valuesOf(read) as [Record<string, { b: number[] }>]
    expect(value).toEqual({ a: { b: [1] }, c: { b: [1] }, d: 2, e: 2, 2: 'f' })
    expect(value.a!.b).not.toBe(value.c!.b)
    expect(read.documents[0]!.locate('c.b[0]')).toEqual({ file: 'f.yaml', line: 1, column: 12 })
    expect(read.documents[0]!.locate('c')).toEqual({ file: 'f.yaml', line: 2, column: 4 })
  })

  it('count against the limit over all documents, those inside others each time', () => {
    const text = 'a: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]\n'
    expect(readText(text, 'f.yaml', { aliases: 8 }).problems).toEqual([])
    expect(toldBy(readText(text, 'f.yaml', { aliases: 7 }))).toEqual(['limit.aliases resources[0].c[1][1] f.yaml:2:12'])
    const two = `${text}---\nd: &d 1\ne: *d\n`
    expect(toldBy(readText(two, 'f.yaml', { aliases: 8 }))).toEqual(['limit.aliases resources[1].e f.yaml:6:4'])
  })

  it('count more the longer the text is that they repeat', () => {
    const text = `a: &a "${'x'.repeat(10_000)}"\nb: [${'*a, '.repeat(200)}]\n`
    expect(toldBy(readText(text))).toEqual(['limit.aliases resources[0].b[100] f.yaml:2:405'])
  })

  it('cannot be made a bomb, not even by billions of laughs', () => {
    const laughs = Array.from('bcdefghij', (name, at) => `${name}: &${name} [${`*${'abcdefghij'[at]},`.repeat(9)}]`)
    const read = readText(['a: &a [lol]', ...laughs].join('\n'))
    expect(read.problems).toMatchObject([{ code: 'limit.aliases' }])
    expect(read.documents).toEqual([])
  })
})

describe('the depth of a resource', () => {
  const nested = (depth: number) => Array.from({ length: depth }, (_, at) => `${' '.repeat(at)}a:`).join('\n')

  it('may be 64 and not 65, in blocks, flows and aliases', () => {
    expect(readText(nested(64)).problems).toEqual([])
    expect(toldBy(readText(nested(65)))).toEqual([`limit.depth resources[0]${'.a'.repeat(64)} f.yaml:65:65`])
    expect(readText(`a: ${'['.repeat(63)}${']'.repeat(63)}`).problems).toEqual([])
    expect(readText(`a: ${'['.repeat(64)}${']'.repeat(64)}`).problems).toMatchObject([{ code: 'limit.depth' }])
    const lists = (inside: string) => `${'['.repeat(40)}${inside}${']'.repeat(40)}`
    expect(readText(`a: &a ${lists('')}\nb: *a\n`).problems).toEqual([])
    expect(readText(`a: &a ${lists('')}\nb: ${lists('*a')}\n`).problems).toMatchObject([{ code: 'limit.depth' }])
  })

  it('does not count the list that holds the resources', () => {
    expect(readText(`- ${nested(64).replaceAll('\n', '\n  ')}`).problems).toEqual([])
    expect(readText(`- ${nested(65).replaceAll('\n', '\n  ')}`).problems).toMatchObject([{ code: 'limit.depth' }])
  })

  it.each(['[', '- ', '{a: ', '? ', ': ', '- [\n'])('does no harm, however often %j is repeated', text => {
    const { problems } = readText(text.repeat(500_000), 'f.yaml', { fileBytes: 1e7 })
    expect(problems).toHaveLength(1)
    expect(problems[0]!.code).toMatch(/^limit\./)
  })
})

describe('places', () => {
  const text = `# a comment
kind: Label
metadata: { name: web, "a.b": 1 }
spec:
  list:
    - x
    - y: 1
      z:
  text: |
    long
`
  const plain = text.slice(0, text.indexOf('  text'))
  const at = ({ locate }: Document, path: string, part?: 'key' | 'value') => {
    const place = locate(path, part)
    return place && `${place.line}:${place.column}`
  }

  it.each([
    ['by the fast reader', plain],
    ['by the whole parser', text],
  ])('of every key and value are found (%s)', (_, content) => {
    const [document] = readText(`a: 1\n---\n${content}`).documents.slice(1) as [Document]
    const line = (number: number) => number + 2
    expect(at(document, '')).toBe(`${line(2)}:1`)
    expect(at(document, 'kind', 'key')).toBe(`${line(2)}:1`)
    expect(at(document, 'kind', 'value')).toBe(`${line(2)}:7`)
    expect(at(document, 'metadata.name')).toBe(`${line(3)}:19`)
    expect(at(document, 'metadata["a.b"]', 'key')).toBe(`${line(3)}:24`)
    expect(at(document, 'spec.list')).toBe(`${line(6)}:5`)
    expect(at(document, 'spec.list[1]')).toBe(`${line(7)}:7`)
    expect(at(document, 'spec.list[1].y')).toBe(`${line(7)}:10`)
    expect(at(document, 'spec.list[1].z')).toBe(`${line(8)}:7`)
  })

  it('of what is not there are those of the nearest parent', () => {
    const [document] = readText(plain).documents as [Document]
    expect(at(document, 'spec.list[1].q.r[3]', 'value')).toBe('7:7')
    expect(at(document, 'spec.missing', 'key')).toBe('4:1')
    expect(at(document, 'metdata')).toBe('2:1')
  })
})
