import { describe, expect, it } from 'vitest'
import { policyOf, policyProblems } from './policy.ts'
import { effectiveOf } from './units.fake.ts'

const where = { path: 'systemdUnitsByName.w' }
const read = (text: string) => effectiveOf({ 'w.service': `[Service]\nExecReload=/r\n${text}` }, 'w.service')
const codes = (text: string) => policyProblems(read(text), where).map(({ code }) => code)

describe('policyOf', () => {
  it.each([
    ['', 'stop-start'],
    ['X-ReloadIfChanged=true', 'reload'],
    ['X-RestartIfChanged=no', 'keep-old'],
    ['X-StopIfChanged=0', 'restart'],
    ['X-SwitchMethod=reload', 'reload'],
    ['X-SwitchMethod=restart', 'restart'],
    ['X-SwitchMethod=stop-start', 'stop-start'],
    ['X-SwitchMethod=keep-old', 'keep-old'],
    ['X-ReloadIfChanged=true\nX-RestartIfChanged=false', 'reload'],
    ['X-RestartIfChanged=false\nX-StopIfChanged=false', 'keep-old'],
    ['X-StopIfChanged=false\nX-StopIfChanged=true', 'stop-start'],
  ])('reads %j as %s, in either section', (text, onChange) => {
    expect(policyOf(read(text)).onChange).toBe(onChange)
    expect(policyOf(read(`[Unit]\n${text}`)).onChange).toBe(onChange)
    expect(codes(text)).toEqual([])
  })

  it('reads the other keys, and their defaults', () => {
    expect(policyOf(read(''))).toMatchObject({
      stopOnRemoval: true,
      stopOnReconfiguration: false,
      onlyManualStart: false,
      notSocketActivated: false,
    })
    const all = 'X-StopOnRemoval=off\nX-StopOnReconfiguration=1\nX-OnlyManualStart=YES\nX-NotSocketActivated=t'
    expect(policyOf(read(all))).toMatchObject({
      stopOnRemoval: false,
      stopOnReconfiguration: true,
      onlyManualStart: true,
      notSocketActivated: true,
    })
  })
})

describe('policyProblems', () => {
  it.each([
    'X-SwitchMethod=reload\nX-RestartIfChanged=false',
    'X-SwitchMethod=reload\nX-ReloadIfChanged=false',
    'X-SwitchMethod=restart\nX-StopIfChanged=true',
    'X-SwitchMethod=stop-start\nX-StopIfChanged=false',
    'X-SwitchMethod=keep-old\nX-ReloadIfChanged=true',
    'X-StopIfChanged=true\n[Unit]\nX-StopIfChanged=false',
    'X-SwitchMethod=restart\n[Unit]\nX-SwitchMethod=reload',
  ])('refuses the contradiction %j', text => {
    expect(codes(text)).toContain('unit.policy-conflict')
  })

  it('takes the same said twice', () => {
    expect(codes('X-SwitchMethod=restart\nX-StopIfChanged=false\n[Unit]\nX-StopIfChanged=no')).toEqual([])
  })

  it('refuses values that mean nothing', () => {
    expect(codes('X-SwitchMethod=later\nX-StopOnRemoval=maybe')).toEqual(['unit.policy-value', 'unit.policy-value'])
  })

  it('refuses to reload what cannot be reloaded', () => {
    const unit = effectiveOf({ 'w.service': '[Service]\nX-ReloadIfChanged=true\n' }, 'w.service')
    expect(policyProblems(unit, where)).toMatchObject([{ code: 'unit.cannot-reload' }])
  })
})
