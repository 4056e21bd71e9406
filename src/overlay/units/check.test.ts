import { describe, expect, it } from 'vitest'
import { checkUnit } from './check.ts'
import { unit } from './units.fake.ts'

const check = (text: string, dropIns: Record<string, string> = {}) =>
  checkUnit({ name: unit('web.service'), text, dropIns, path: 'systemdUnitsByName.web' })

describe('checkUnit', () => {
  it('finds nothing wrong with a plain unit', () => {
    expect(check('[Service]\nExecStart=/a\n', { '1.conf': '[Service]\nUser=a\n' })).toEqual({
      problems: [],
      warnings: [],
    })
  })

  it('gathers what is wrong in all texts, each at its place', () => {
    const { problems, warnings } = check('[Service\nExecStart=/a\n', {
      '1.conf': 'User=a\n',
      '2.conf': 'x\n[Service]\n',
    })
    expect(problems.map(({ code, path }) => [code, path])).toEqual([
      ['unit.syntax', 'systemdUnitsByName.web.templateInline'],
      ['unit.syntax', 'systemdUnitsByName.web.dropIns["1.conf"]'],
    ])
    expect(warnings.map(({ path }) => path)).toEqual(['systemdUnitsByName.web.dropIns["2.conf"]'])
  })

  it('refuses a unit without content, which would be a mask', () => {
    for (const text of ['', '# nothing\n']) expect(check(text).problems).toMatchObject([{ code: 'unit.empty' }])
  })

  it('sees contradictions between base and drop-in', () => {
    const { problems } = check('[Unit]\nX-StopIfChanged=true\n', { '1.conf': '[Service]\nX-StopIfChanged=false\n' })
    expect(problems).toMatchObject([{ code: 'unit.policy-conflict' }])
  })
})
