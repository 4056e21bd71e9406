import { chmodSync, lstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fakeDoor } from '../../content/door.fake.ts'
import { CairnError } from '../../lib/errors.ts'
import { Crash, faultyFiles } from '../../lib/files.fake.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { silentProgress } from '../../lib/progress.ts'
import { statePath } from '../layout.ts'
import { dedupStates } from './dedup.ts'
import { stateNameOf } from './fingerprint.ts'
import type { Package } from './package.ts'
import { readRecord, recordPath, type StateRecord, writeRecord } from './record.ts'
import { repairStates } from './repair.ts'
import { makeStore, type TestStore } from './store.fake.ts'
import { verifyStates } from './verify.ts'

let store: TestStore
beforeEach(() => {
  store = makeStore()
})
afterEach(() => store.remove())

const large = 'x'.repeat(5000)

/** A package and its state, installed from the same content. */
function install(name: string, content: string): { pkg: Package; record: StateRecord } {
  const pkg: Package = {
    kind: 'source',
    name,
    version: '1',
    inputs: content,
    references: [],
    build: async directory => {
      writeFileSync(join(directory, 'data'), content)
      return {}
    },
  }
  const made = store.addState(name, { data: content })
  const record = { ...made, state: stateNameOf(pkg) }
  store.files.rename(statePath(store.layout, made.state), statePath(store.layout, record.state))
  rmSync(recordPath(store.layout, made.state))
  writeRecord(realFiles, store.layout, record)
  return { pkg, record }
}

function damage(record: StateRecord) {
  const file = store.pathIn(record.state, 'data')
  chmodSync(file, 0o644)
  writeFileSync(file, 'y'.repeat(5000))
}

const repair = (records: StateRecord[], packages: Package[], files: Files = realFiles) =>
  repairStates(
    records,
    { ...store, files, content: fakeDoor(), progress: silentProgress, signal: new AbortController().signal },
    record => packages.find(pkg => stateNameOf(pkg) === record.state) ?? null,
  )
const sound = (...records: StateRecord[]) => verifyStates(realFiles, store.layout, records).length === 0
const litter = () => readdirSync(store.layout.states).filter(name => name.startsWith('.') && name !== '.trash')

it('builds a damaged state again and leaves nothing else behind', async () => {
  const { pkg, record } = install('tool', large)
  damage(record)
  expect(await repair([record], [pkg])).toEqual({ repaired: [record.state], notRepaired: [] })
  expect(sound(record)).toBe(true)
  expect(litter()).toEqual([])
  expect(readdirSync(store.layout.trash)).toEqual([])
  expect(readdirSync(store.layout.tempRoots)).toEqual([])
})

it('repairs a state whose directory is gone', async () => {
  const { pkg, record } = install('tool', large)
  chmodSync(statePath(store.layout, record.state), 0o755)
  rmSync(statePath(store.layout, record.state), { recursive: true })
  expect((await repair([record], [pkg])).repaired).toEqual([record.state])
  expect(sound(record)).toBe(true)
})

it('breaks the link to a damaged file that states share, and the pool forgets it', async () => {
  const one = install('one', large)
  const two = install('two', large)
  dedupStates(realFiles, store.layout, [one.record.state, two.record.state])
  damage(one.record)
  expect(sound(two.record)).toBe(false)

  await repair([one.record], [one.pkg])
  expect(sound(one.record)).toBe(true)
  const inode = lstatSync(store.pathIn(one.record.state, 'data')).ino
  expect(inode).not.toBe(lstatSync(store.pathIn(two.record.state, 'data')).ino)

  const three = install('three', large)
  dedupStates(realFiles, store.layout, [three.record.state])
  expect(sound(three.record)).toBe(true)
  expect((await repair([two.record], [two.pkg])).repaired).toEqual([two.record.state])
  expect(sound(one.record, two.record, three.record)).toBe(true)
})

it('says what it could not repair and why, repairs the rest, and leaves the damaged ones as they are', async () => {
  const unknown = install('unknown', large)
  const changed = install('changed', large)
  const unreachable = install('unreachable', large)
  const good = install('good', large)
  const all = [unknown.record, changed.record, unreachable.record, good.record]
  for (const record of all) damage(record)
  const report = await repair(all, [
    { ...changed.pkg, build: install('newer', 'new release').pkg.build },
    {
      ...unreachable.pkg,
      build: async () => {
        throw new CairnError('source.not-found', 'https://example.org/tool answers 404')
      },
    },
    good.pkg,
  ])
  expect(report).toEqual({
    repaired: [good.record.state],
    notRepaired: [
      { state: unknown.record.state, reason: 'no kept generation says what it is made of' },
      { state: changed.record.state, reason: 'its source now gives other bytes than those recorded' },
      { state: unreachable.record.state, reason: 'https://example.org/tool answers 404' },
    ],
  })
  expect(litter()).toEqual([])
  expect(verifyStates(realFiles, store.layout, all).map(({ state }) => state)).toEqual(
    report.notRepaired.map(({ state }) => state),
  )
})

it('crashed at any step, leaves the state as damaged as it was, sound, or without record', async () => {
  let crashes = 0
  for (let crashAt = 1, crashed = true; crashed; crashAt++) {
    const { pkg, record } = install(`tool-${crashAt}`, large)
    damage(record)
    crashed = false
    await repair([record], [pkg], faultyFiles(realFiles, { crashAt })).catch(error => {
      expect(error).toBeInstanceOf(Crash)
      crashed = true
      crashes++
    })
    const recorded = readRecord(realFiles, store.layout, record.state, () => {})
    if (recorded && !sound(recorded)) expect((await repair([recorded], [pkg])).repaired).toEqual([record.state])
    if (!crashed) expect(sound(record)).toBe(true)
  }
  expect(crashes).toBeGreaterThan(10)
})
