import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UnitName } from '../../names.ts'
import { Cannot } from './cannot.ts'
import { readCommandLines, substitute } from './command-line.ts'
import { splitWords } from './words.ts'

const unit = 'web@blue.service' as UnitName
const seed = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}
const wordsOf = (value: string) => readCommandLines(value, unit).map(({ words }) => words)

describe('splitting into words', () => {
  it.each([
    ['a  b\tc', ['a', 'b', 'c']],
    [`"a b" 'c "d"' e`, ['a b', 'c "d"', 'e']],
    [`--title="a b"c`, ['--title=a bc']],
    [`'' ""`, ['', '']],
    [String.raw`a\x20b \t \u00e9 \101 \s`, ['a b', '\t', 'é', 'A', ' ']],
    [String.raw`"a\"b" 'a\'b' a\\b`, ['a"b', "a'b", 'a\\b']],
    ['', []],
  ])('reads %s', (value, words) => {
    expect(splitWords(value).map(({ text }) => text)).toEqual(words)
  })

  it.each(['"open', "'", String.raw`\q`, 'a\\', String.raw`\x00`])('refuses %s', value => {
    expect(() => splitWords(value)).toThrow(Cannot)
  })

  it('gives back any words that were quoted', () => {
    const quote = (word: string) => `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), words => {
        expect(splitWords(words.map(quote).join(' ')).map(({ text }) => text)).toEqual(words)
      }),
      seed,
    )
  })
})

describe('command lines', () => {
  it('are several when a lone semicolon stands between them', () => {
    expect(wordsOf(String.raw`/bin/a 1 ; /bin/b ';' \; x;y`)).toEqual([
      ['/bin/a', '1'],
      ['/bin/b', ';', ';', 'x;y'],
    ])
  })

  it('have the parts of the unit name filled in', () => {
    expect(wordsOf('/bin/a %n %N %p %i 100%%')).toEqual([['/bin/a', unit, 'web@blue', 'web', 'blue', '100%']])
  })

  it('say by their prefix what a failure counts for and whether variables are replaced', () => {
    const [command] = readCommandLines('-:@/bin/a b', unit)
    expect(command).toEqual({ words: ['/bin/a', 'b'], mayFail: true, substitutes: false, namesItself: true })
  })

  it.each([
    ['/bin/a %t', 'expand %t'],
    ['/bin/a 50%', 'expand %'],
    ['+/bin/a', 'change privileges (the prefix "+" of /bin/a)'],
    ['!!/bin/a', 'change privileges (the prefix "!" of /bin/a)'],
    ['-', 'run a command without a program ("-")'],
  ])('are refused by name: %s', (value, message) => {
    expect(() => readCommandLines(value, unit)).toThrow(new Cannot(message))
  })
})

describe('variables', () => {
  const environment = { A: 'one', LIST: ' x  y ', EMPTY: '' }

  it.each([
    [['$A'], ['one']],
    [['$LIST'], ['x', 'y']],
    [['$EMPTY', '$MISSING'], []],
    [[`\${LIST}`], [' x  y ']],
    [[`a\${A}b\${MISSING}c`], ['aonebc']],
    [
      ['a$A', '$A/b'],
      ['a$A', '$A/b'],
    ],
    [
      ['$$A', 'price: $$5'],
      ['$A', 'price: $5'],
    ],
    [['kill -HUP $MAINPID'], ['kill -HUP $MAINPID']],
  ])('turn %j into %j', (words, result) => {
    expect(substitute(words, environment)).toEqual(result)
  })
})
