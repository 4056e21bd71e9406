import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UnitStatus } from '../systemd/systemd.ts'
import type { UnitPlan } from './action.ts'
import { unitsOfInterest } from './plan.ts'
import { aStatus, aTree, planOf, unit } from './units.fake.ts'

const parameters = { numRuns: 500, ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }) }

const names = [
  'a.service',
  'b.service',
  'a.socket',
  'a.timer',
  'a.target',
  'srv.mount',
  'w@.service',
  'w@1.service',
  'x-a.service',
]
const lines = [
  ...[
    '[Unit]',
    '[Service]',
    '[Socket]',
    '[Timer]',
    '[Install]',
    'ExecStart=/a',
    'ExecStart=/b',
    'ExecStart=',
    'Type=oneshot',
  ],
  ...[
    'Requires=b.service',
    'PartOf=a.service',
    'Wants=a.service',
    'ListenStream=1',
    'Accept=yes',
    'ExecReload=/r',
    'Description=x',
  ],
  ...[
    'X-StopIfChanged=false',
    'X-ReloadIfChanged=true',
    'X-RestartIfChanged=false',
    'X-StopOnRemoval=false',
    'X-OnlyManualStart=1',
  ],
  ...[
    'X-NotSocketActivated=1',
    'X-StopOnReconfiguration=1',
    'RefuseManualStop=1',
    'X-Reload-Triggers=a:0123456789abcdef',
  ],
]
const text = fc.array(fc.constantFrom(...lines), { maxLength: 5 }).map(all => `[Service]\n${all.join('\n')}`)
const file = fc.oneof(
  { weight: 5, arbitrary: text },
  fc.constantFrom('-> /dev/null', '-> a.service', '-> b.service', ''),
)
const path = fc.oneof(
  fc.constantFrom(...names),
  fc.constantFrom('a.service.d/1.conf', 'w@.service.d/1.conf', 'x-.service.d/1.conf', 'service.d/1.conf', 'README'),
  fc.constantFrom('a.target.wants/b.service', 'multi-user.target.wants/a.service', 'm.target.requires/w@1.service'),
)
const tree = fc.dictionary(path, file, { maxKeys: 8 })
const states: UnitStatus['active'][] = [
  'active',
  'reloading',
  'inactive',
  'failed',
  'activating',
  'deactivating',
  'maintenance',
]
const live = fc
  .dictionary(fc.constantFrom(...names, 'multi-user.target', 'm.target', 'w@2.service'), fc.constantFrom(...states))
  .map(all => Object.entries(all).map(([name, active]) => aStatus(name, { active })))
const start = fc.subarray(names)
const scene = fc.record({ old: tree, new: tree, live, start })

const listsOf = (plan: UnitPlan) => [plan.stop, plan.reload, plan.restart, plan.start, plan.skip]

describe('planUnits', () => {
  it('plans nothing between equal trees', () => {
    fc.assert(
      fc.property(scene, given => {
        expect(listsOf(planOf({ ...given, new: given.old }).units).flat()).toEqual([])
        expect(unitsOfInterest({ old: aTree(given.old), new: aTree(given.old) }, [])).toEqual([])
      }),
      parameters,
    )
  })

  it('has each unit in one list at most, sorted, with a reason of one line', () => {
    fc.assert(
      fc.property(scene, given => {
        const lists = listsOf(planOf(given).units)
        const all = lists.flat()
        expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
        for (const list of lists) expect(list.map(({ name }) => name)).toEqual(list.map(({ name }) => name).sort())
        for (const { reason } of all) expect(reason).toMatch(/^[^\n]+$/)
      }),
      parameters,
    )
  })

  it('stops, reloads and restarts only what runs, and starts only what does not, hidden targets and dependents apart', () => {
    const running = ['active', 'reloading', 'activating']
    fc.assert(
      fc.property(scene, given => {
        const runs = (name: string) => running.includes(given.live.find(status => status.unit === name)?.active ?? '')
        const { stop, reload, restart, start } = planOf(given).units
        for (const { name } of [...stop, ...reload, ...restart]) expect(runs(name)).toBe(true)
        for (const { name, hidden, reason } of start)
          expect(runs(name)).toBe(hidden === true || reason.startsWith('needs '))
      }),
      parameters,
    )
  })

  it('gives the same plan in any order of files', () => {
    const reversed = (files: Record<string, string>) => Object.fromEntries(Object.entries(files).reverse())
    fc.assert(
      fc.property(scene, given => {
        expect(planOf({ ...given, old: reversed(given.old), new: reversed(given.new) })).toEqual(planOf(given))
      }),
      parameters,
    )
  })

  it('needs to know no more of the machine than it asks for', () => {
    fc.assert(
      fc.property(scene, given => {
        const active = given.live.filter(status => status.active !== 'inactive').map(status => status.unit)
        const asked = new Set(unitsOfInterest({ old: aTree(given.old), new: aTree(given.new) }, active))
        const seen = given.live.filter(status => asked.has(unit(status.unit)))
        expect(planOf({ ...given, live: seen }).units).toEqual(planOf(given).units)
      }),
      parameters,
    )
  })
})
