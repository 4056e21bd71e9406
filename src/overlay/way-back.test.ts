import { describe, expect, it } from 'vitest'
import type { UnitName } from './names.ts'
import { notFound } from './systemd/status.ts'
import type { UnitStatus } from './systemd/systemd.ts'
import { noUnitActions } from './units/action.ts'
import { startAgain } from './way-back.ts'

const [web, mail] = ['web.service', 'mail.service'] as UnitName[] as [UnitName, UnitName]
const live = (states: Record<string, UnitStatus['active']>) =>
  new Map(Object.entries(states).map(([unit, active]) => [unit as UnitName, { ...notFound(unit as UnitName), active }]))

describe('startAgain', () => {
  it('starts what ran before and no longer does, though nothing else asks for it', () => {
    expect(startAgain(noUnitActions, [mail, web], live({ [mail]: 'inactive', [web]: 'failed' })).start).toEqual([
      { name: mail, reason: 'ran before' },
      { name: web, reason: 'ran before' },
    ])
  })

  it('leaves alone what runs, and what the plan takes care of already', () => {
    const plan = { ...noUnitActions, start: [{ name: web, reason: 'new' }] }
    expect(startAgain(plan, [mail, web], live({ [mail]: 'active', [web]: 'inactive' }))).toEqual(plan)
  })
})
