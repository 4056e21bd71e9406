import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ParsedUnit, parseUnit, printUnit } from './parse.ts'

const where = { path: 'systemdUnitsByName.web.templateInline' }
const seed = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}

/** Sections, keys and values, without their lines. */
const contentOf = ({ sections }: ParsedUnit) =>
  sections.map(({ name, entries }) => [name, ...entries.map(([key, value]) => `${key}=${value}`)])

describe('parseUnit', () => {
  it.each<[string, string, string[][]]>([
    [
      'sections and keys',
      '[Unit]\nA=1\n[Service]\nB=2\n',
      [
        ['Unit', 'A=1'],
        ['Service', 'B=2'],
      ],
    ],
    ['comments of both kinds', '# a\n[Unit]\n  ; b\nA=1 # not one\n', [['Unit', 'A=1 # not one']]],
    ['keys that repeat, in order', '[S]\nE=a\nE=\nE=b\n', [['S', 'E=a', 'E=', 'E=b']]],
    ['sections that repeat', '[A]\nx=1\n[B]\n[A]\nx=2\n', [['A', 'x=1'], ['B'], ['A', 'x=2']]],
    ['space round the equals sign', '[A]\n \tkey \t= \t value \t\n', [['A', 'key=value']]],
    ['further equals signs', '[A]\nE=K=V=W\n', [['A', 'E=K=V=W']]],
    ['a continuation, joined by one space', '[A]\nE=a\\\nb\n', [['A', 'E=a b']]],
    ['the space of continued lines as it is', '[A]\nE=a \\\n  b\n', [['A', 'E=a    b']]],
    ['comments inside a continuation', '[A]\nE=a \\\n# no\n ; no\nb\n', [['A', 'E=a  b']]],
    ['a blank line as the end of a continuation', '[A]\nE=a \\\n\nF=b\n', [['A', 'E=a', 'F=b']]],
    ['a continuation that the file ends', '[A]\nE=a \\', [['A', 'E=a']]],
    ['a continuation before a last comment', '[A]\nE=a \\\n# no', [['A', 'E=a']]],
    ['two backslashes as they are', '[A]\nE=a\\\\\nF=b\n', [['A', 'E=a\\\\', 'F=b']]],
    ['escapes and quotes as they are', '[A]\nE="a\\x2db" \\x20\n', [['A', 'E="a\\x2db" \\x20']]],
    ['CRLF and lone CR', '[A]\r\nE=a\r\nF=b\rG=c', [['A', 'E=a', 'F=b', 'G=c']]],
    ['a byte order mark', '\uFEFF[A]\nE=a\n', [['A', 'E=a']]],
    ['spaces that systemd does not strip', '[A]\nE=\u00a0a\u00a0\n', [['A', 'E=\u00a0a\u00a0']]],
    ['nothing', '', []],
  ])('reads %s', (_, text, value) => {
    const { unit, problems, warnings } = parseUnit(text, where)
    expect(contentOf(unit)).toEqual(value)
    expect([...problems, ...warnings]).toEqual([])
  })

  it('knows the line on which each key and section starts', () => {
    const { unit } = parseUnit('\n[A]\n# c\nE=a \\\n b\nF=c\n', where)
    expect(unit.sections).toEqual([
      {
        name: 'A',
        line: 2,
        entries: [
          ['E', 'a   b', 4],
          ['F', 'c', 6],
        ],
      },
    ])
  })

  it('warns of lines that systemd ignores', () => {
    const { unit, problems, warnings } = parseUnit('X=1\n[A]\nnonsense\n=x\nE=a\n', where)
    expect(contentOf(unit)).toEqual([['A', 'E=a']])
    expect(problems).toEqual([])
    expect(warnings.map(({ code, reason }) => [code, reason.slice(0, 6)])).toEqual([
      ['unit.ignored-line', 'line 1'],
      ['unit.ignored-line', 'line 3'],
      ['unit.ignored-line', 'line 4'],
    ])
  })

  it('refuses a unit without any section, and every broken header', () => {
    expect(parseUnit('# c\nExecStart=/x\n', { ...where, file: 'web.service' }).problems).toMatchObject([
      { code: 'unit.syntax', path: where.path, source: { file: 'web.service', line: 2, column: 1 } },
    ])
    expect(parseUnit('[A\nB=1\n[\n[C]\nD=1', where).problems.map(({ reason }) => reason.slice(0, 6))).toEqual([
      'line 1',
      'line 3',
    ])
  })

  it('refuses what is not UTF-8 and names the line', () => {
    const bytes = Buffer.concat([Buffer.from('[A]\nB=ü\nC='), Buffer.from([0xff]), Buffer.from('\nD=1')])
    for (const input of [bytes, '[A]\nB=ü\nC=\ud800\n'])
      expect(parseUnit(input, where).problems).toMatchObject([
        { code: 'unit.encoding', reason: expect.stringMatching(/^line 3/) },
      ])
    expect(parseUnit('[A]\nB=\0', where).problems).toMatchObject([{ code: 'unit.encoding' }])
    expect(parseUnit(Buffer.from('\uFEFF[A]\nB=ü'), where).unit.sections[0]?.entries).toEqual([['B', 'ü', 2]])
  })

  it('takes a megabyte, also in continued lines, and refuses a line that systemd would', () => {
    const long = parseUnit(`[A]\nE=${'word \\\n'.repeat(150_000)}end\n`, where)
    expect(long.unit.sections[0]?.entries[0]?.[1].length).toBe(900_003)
    expect(parseUnit(`[A]\nE=${'x'.repeat(1024 * 1024)}`, where).problems).toMatchObject([{ code: 'unit.syntax' }])
  })
})

describe('printUnit', () => {
  it('writes what reads the same again, whatever it was', () => {
    const pieces = fc.constantFrom(
      '[A]',
      '[',
      ']',
      '=',
      'key',
      'v',
      ' ',
      '\t',
      '\n',
      '\r',
      '\\',
      '#',
      ';',
      '\uFEFF',
      'ü',
      '\\\n',
      '\n[B]\nk=',
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 40 }).map(all => `[S]\n${all.join('')}`),
        text => {
          const { unit } = parseUnit(text, where)
          expect(contentOf(parseUnit(printUnit(unit), where).unit)).toEqual(contentOf(unit))
        },
      ),
      { numRuns: 2_000, ...seed },
    )
  })

  it('keeps a last backslash from joining the next line', () => {
    const { unit } = parseUnit('[A]\nE=a\\ \nF=b\n', where)
    expect(printUnit(unit)).toBe('[A]\nE=a\\ \nF=b\n')
  })
})
