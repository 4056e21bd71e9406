import { describe, expect, it } from 'vitest'
import type { UnitName } from '../../names.ts'
import { Cannot } from './cannot.ts'
import { readEnvironment, readEnvironmentFile } from './environment.ts'

const unit = 'web.service' as UnitName

describe('Environment=', () => {
  it('takes several assignments, quoted ones among them; the later of two counts', () => {
    expect(readEnvironment(['A=1 "B=two words" C=', 'A=3 D=x=y'], unit)).toEqual({
      A: '3',
      B: 'two words',
      C: '',
      D: 'x=y',
    })
  })

  it('replaces specifiers but no variables', () => {
    expect(readEnvironment(['A=%n B=$A'], unit)).toEqual({ A: 'web.service', B: '$A' })
  })

  it.each(['novalue', '1A=b', '=b'])('refuses %s', value => {
    expect(() => readEnvironment([value], unit)).toThrow(Cannot)
  })
})

describe('an EnvironmentFile', () => {
  it('has comments, quotes of both kinds, escapes and continued lines', () => {
    const text = [
      '# comment',
      '; comment',
      '',
      'PLAIN = a b  ',
      `SINGLE='a "b" \\n'`,
      String.raw`DOUBLE="a \"b\" \n"`,
      String.raw`BARE=a\ b`,
      'LONG=a\\',
      'b',
      'not an assignment',
      'EMPTY=',
    ].join('\n')
    expect(readEnvironmentFile(text)).toEqual({
      PLAIN: 'a b',
      SINGLE: 'a "b" \\n',
      DOUBLE: 'a "b" \\n',
      BARE: 'a b',
      LONG: 'ab',
      EMPTY: '',
    })
  })
})
