// That an undo after a fault at any call gives the old /etc is in etc.property.test.ts; here is what others do meanwhile.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { faultyFiles } from '../../lib/files.fake.ts'
import { ownsNothing } from './entry.ts'
import { type FakeMachine, fakeMachine, snapshotEtc, t, unsynced } from './etc.fake.ts'
import type { EtcPlan } from './plan.ts'
import { undoEtc } from './undo.ts'

let machine: FakeMachine
beforeEach(() => {
  machine = fakeMachine()
})
afterEach(() => machine.remove())

const etc = (path: string) => join(machine.layout.etc, path)
const undo = (plan: EtcPlan, files = unsynced) =>
  undoEtc([...plan.before, ...plan.switch, ...plan.after], { files, layout: machine.layout })

it('changes nothing when nothing was done', () => {
  machine.write('a', 'theirs')
  const plan = machine.plan(
    machine.want({ a: { text: 'x', replaceExisting: true }, 'b/c': { text: 'y' } }),
    ownsNothing,
  )
  const before = snapshotEtc(machine.layout)
  undo(plan)
  expect(snapshotEtc(machine.layout)).toEqual(before)
  expect(fs.existsSync(machine.layout.static)).toBe(false)
})

it('puts static back to where it led', () => {
  const first = machine.want({ a: { text: '1' } })
  const owned = machine.apply(first)
  const plan = machine.plan(machine.want({ a: { text: '2' } }), owned)
  machine.carryOut(plan)
  undo(plan)
  expect(fs.readFileSync(etc('a'), 'utf8')).toBe('1')
})

it('leaves what someone else put in the place of ours, and undoes the rest', () => {
  const plan = machine.plan(machine.want({ a: { text: 'x' }, 'b/c': { text: 'y' } }), ownsNothing)
  machine.carryOut(plan)
  fs.rmSync(etc('a'))
  machine.write('a', 'theirs')
  undo(plan)
  expect(fs.readdirSync(machine.layout.etc)).toEqual(['a'])
  expect(fs.readFileSync(etc('a'), 'utf8')).toBe('theirs')
})

it('says what it cannot give back, keeps it, and undoes the rest', () => {
  machine.write('a', 'theirs')
  const plan = machine.plan(machine.want({ a: { text: 'x', replaceExisting: true }, b: { text: 'y' } }), ownsNothing)
  machine.carryOut(plan)
  fs.rmSync(etc('a'))
  machine.write('a', 'in the way')
  expect(() => undo(plan)).toThrow(expect.objectContaining({ code: 'etc.undo-incomplete' }))
  expect(fs.readdirSync(machine.layout.etc)).toEqual(['a'])
  expect(fs.readFileSync(join(machine.layout.backups, 'a'), 'utf8')).toBe('theirs')
  fs.rmSync(etc('a'))
  undo(plan)
  expect(fs.readFileSync(etc('a'), 'utf8')).toBe('theirs')
})

it('goes on after an error, tells it, and can be called again', () => {
  const plan = machine.plan(machine.want({ a: { text: 'x' }, b: { text: 'y' } }), ownsNothing)
  machine.carryOut(plan)
  const files = faultyFiles(unsynced, { failAt: 3, code: 'EIO' })
  expect(() => undo(plan, files)).toThrow(expect.objectContaining({ code: 'etc.undo-incomplete' }))
  expect(fs.readdirSync(machine.layout.etc)).toHaveLength(1)
  undo(plan)
  expect(fs.readdirSync(machine.layout.etc)).toEqual([])
})

it('leaves an edit that was to be overwritten and was not reached', () => {
  const wanted = machine.want({ a: { text: 'x', mode: 0o600 } })
  const owned = machine.apply(wanted)
  machine.write('a', 'edited', 0o600)
  undo(machine.plan(wanted, owned, { overwriteDrift: new Set([t('a')]) }))
  expect(fs.readFileSync(etc('a'), 'utf8')).toBe('edited')
})
