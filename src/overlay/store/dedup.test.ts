import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { removeTree } from '../../lib/durable.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { statePath } from '../layout.ts'
import type { StateName } from '../names.ts'
import { dedupStates, sweepPool } from './dedup.ts'
import { recordPath } from './record.ts'
import { makeStore, type TestStore } from './store.fake.ts'
import { verifyStates } from './verify.ts'

let store: TestStore
beforeEach(() => {
  store = makeStore()
})
afterEach(() => store.remove())

const large = 'x'.repeat(5000)
const program = `#!${large}`
const dedup = (states: StateName[], files: Files = realFiles) => dedupStates(files, store.layout, states)
const inode = (state: StateName, path: string) => lstatSync(store.pathIn(state, path)).ino
const pool = () =>
  readdirSync(store.layout.pool, { recursive: true, withFileTypes: true }).filter(each => each.isFile())

it('makes equal files of two states one inode, and both states stay sound', () => {
  const one = store.addState('one', { 'share/data': large, 'share/other': `${large}1` })
  const two = store.addState('two', { 'lib/copy': large })
  expect(dedup([one.state, two.state])).toEqual({ linked: 1, savedBytes: 5000, skipped: 0 })
  expect(inode(one.state, 'share/data')).toBe(inode(two.state, 'lib/copy'))
  expect(lstatSync(store.pathIn(two.state, 'lib')).mtimeMs).toBe(1000)
  expect(verifyStates(realFiles, store.layout, [one, two])).toEqual([])
})

it('does nothing the second time', () => {
  const one = store.addState('one', { data: large })
  const two = store.addState('two', { data: large })
  dedup([one.state, two.state])
  const files = faultyFiles(realFiles)
  expect(dedup([one.state, two.state], files)).toEqual({ linked: 0, savedBytes: 0, skipped: 0 })
  expect(files.log).toEqual([])
})

it('keeps a program apart from a file with the same bytes', () => {
  const one = store.addState('one', { run: program })
  const two = store.addState('two', { run: program })
  chmodSync(store.pathIn(two.state, 'run'), 0o444)
  expect(dedup([one.state, two.state]).linked).toBe(0)
  expect(inode(one.state, 'run')).not.toBe(inode(two.state, 'run'))
  expect(
    pool()
      .map(({ name }) => name.length)
      .sort(),
  ).toEqual([64, 65])
})

it('leaves small files and states without record alone', () => {
  const one = store.addState('one', { small: 'x'.repeat(4095), data: large })
  const two = store.addState('two', { small: 'x'.repeat(4095), data: large })
  rmSync(recordPath(store.layout, two.state))
  expect(dedup([one.state, two.state])).toEqual({ linked: 0, savedBytes: 0, skipped: 0 })
})

it.each(['EMLINK', 'ENOSPC', 'EXDEV'] as const)('skips a file on %s and goes on with the next', code => {
  const one = store.addState('one', { a: large, b: `${large}b` })
  const two = store.addState('two', { a: large, b: `${large}b` })
  dedup([one.state])
  const files = faultyFiles(realFiles, { failAt: 1, code })
  expect(dedup([two.state], files)).toEqual({ linked: 1, savedBytes: 5001, skipped: 1 })
  expect(files.log[0]).toMatch(/^link /)
  expect(verifyStates(realFiles, store.layout, [one, two])).toEqual([])
})

it('does not let a damaged file in the pool take the place of a good one', () => {
  const one = store.addState('one', { data: large })
  const two = store.addState('two', { data: large })
  dedup([one.state])
  const damaged = store.pathIn(one.state, 'data')
  chmodSync(damaged, 0o644)
  writeFileSync(damaged, 'y'.repeat(5000))
  expect(dedup([two.state]).linked).toBe(0)
  expect(readFileSync(store.pathIn(two.state, 'data'), 'utf8')).toBe(large)
  const three = store.addState('three', { data: large })
  expect(dedup([three.state]).linked).toBe(1)
  expect(inode(three.state, 'data')).toBe(inode(two.state, 'data'))
})

it('crashed at any step, leaves every state sound', () => {
  const steps = faultyFiles(realFiles)
  for (let crashAt = 1; crashAt <= steps.calls + 1; crashAt++) {
    const one = store.addState(`one-${crashAt}`, { data: large })
    const two = store.addState(`two-${crashAt}`, { data: large })
    if (crashAt === 1) {
      dedup([one.state, two.state], steps)
      continue
    }
    try {
      dedup([one.state, two.state], faultyFiles(realFiles, { crashAt: crashAt - 1 }))
    } catch {}
    const damage = verifyStates(realFiles, store.layout, [one, two])
    // Without root a directory has to be opened for the rename; a crash in that moment leaves its mode, which verify names.
    expect(damage.flatMap(state => state.damage).filter(({ what }) => what !== 'mode')).toEqual([])
  }
})

it('the sweep removes the names of contents that no state has any more', () => {
  const one = store.addState('one', { a: large, b: `${large}b` })
  const two = store.addState('two', { a: large })
  dedup([one.state, two.state])
  expect(pool()).toHaveLength(2)
  removeTree(realFiles, statePath(store.layout, one.state))
  sweepPool(realFiles, store.layout)
  expect(pool()).toHaveLength(1)
  expect(verifyStates(realFiles, store.layout, [two])).toEqual([])
})
