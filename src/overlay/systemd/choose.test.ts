// Where there is no service manager to talk to. The others are tried on a machine, in test/systemd.test.ts.
import { expect, it } from 'vitest'
import type { UnitName } from '../names.ts'
import { openSystemd } from './choose.ts'

const units = ['multi-user.target', 'web.service'] as UnitName[]

it.each([
  { root: '/somewhere', noSystemd: false },
  { root: '', noSystemd: true },
])('does nothing with %o, and counts the standard targets as up', async which => {
  const systemd = await openSystemd(which)
  expect(systemd.kind).toBe('offline')
  const shown = await systemd.show(units)
  expect(units.map(unit => shown.get(unit)?.active)).toEqual(['active', 'inactive'])
  expect(await systemd.active()).toContain('multi-user.target')
  expect(await systemd.run([{ do: 'start', unit: units[1]!, timeoutMs: 1 }])).toEqual([
    { do: 'start', unit: 'web.service', ok: true, detail: '' },
  ])
  expect((await systemd.show(units)).get(units[1]!)?.active).toBe('inactive')
})
