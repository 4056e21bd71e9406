// A collection with Prepares, Applies and rollbacks at the same time. The collector is the real one; before each of its file
// calls the others may take some of their steps, so that every order of calls of several processes can come about.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RefusedError } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import { writeNew } from '../../../lib/write-new.ts'
import { currentNumber, setCurrent } from '../../generations.ts'
import { statePath } from '../../layout.ts'
import { isStateName, type StateName } from '../../names.ts'
import { readRecord, recordPath, type StateRecord, writeRecord } from '../record.ts'
import { makeStore, type TestStore } from '../store.fake.ts'
import { writeTempRoots } from '../temp-roots.ts'
import { moveToTrash } from '../trash.ts'
import { quickCheck } from '../verify.ts'
import { collectGarbage } from './collect.ts'
import type { TakeLock } from './lock.ts'

const rounds = 50

it(`no state that is prepared, applied or rolled back to is ever collected, in 20 × ${rounds} interleavings`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.noShrink(fc.integer({ min: 1 })), async order => {
      const random = randomFrom(order)
      const world = aWorld()
      try {
        for (let round = 0; round < rounds; round++) await interleave(world, random)
      } finally {
        world.store.remove()
      }
    }),
    { numRuns: 20, seed: Number(process.env.CAIRN_SEED ?? Date.now()) },
  )
}, 120_000)

async function interleave(world: World, random: (below: number) => number) {
  const { store, etcs } = world
  const actors = Array.from({ length: 1 + random(3) }, () =>
    random(4) === 0
      ? rollback(world, 1 + random(world.lastGeneration))
      : prepare(world, etcs[random(etcs.length)]!, random(2) === 0),
  )
  const step = () => {
    const actor = actors[random(actors.length)]
    if (actor?.next().done) actors.splice(actors.indexOf(actor), 1)
  }
  const takeLock: TakeLock = async (_, { name }) => {
    if (name === 'apply' && world.locks.has(name)) throw new RefusedError('lock.busy', 'busy')
    while (world.locks.has(name)) step()
    world.locks.add(name)
    return { release: () => world.locks.delete(name) }
  }
  const patience = [2, 8, 32][random(3)]!
  const files = interrupted(store.files, () => random(patience) === 0 && step())
  const { failed } = await collectGarbage(
    { ...store, files },
    { processes: () => [], takeLock, ...(random(2) && { keep: random(3) }) },
  )
  expect(failed).toEqual([])
  while (actors.length > 0) step()

  const names = readdirSync(store.layout.states).filter(name => name !== '.trash')
  expect(names.filter(name => !isStateName(name))).toEqual([])
  assertWhole(world, names as StateName[], 'in the end')
  assertWhole(world, closure(generation(world, currentNumber(store.files, store.layout)!)!), 'the current generation')
}

interface World {
  readonly store: TestStore
  readonly etcs: readonly StateRecord[]
  readonly records: ReadonlyMap<StateName, StateRecord>
  readonly locks: Set<string>
  /** Two processes that install the same state are not what this is about. */
  readonly installing: Set<StateName>
  lastGeneration: number
}

function aWorld(): World {
  const store = makeStore()
  const tools = ['a', 'b', 'c'].map(name => store.addState(name))
  const etcs = [0, 1, 2].map(index =>
    store.addState(`etc${index}`, undefined, [tools[index]!.state, tools[(index + 1) % 3]!.state]),
  )
  store.addGeneration(1, etcs[0]!.state)
  const records = new Map([...tools, ...etcs].map(record => [record.state, record]))
  return { store, etcs, records, locks: new Set(), installing: new Set(), lastGeneration: 1 }
}

function assertWhole({ store, records }: World, states: readonly StateName[], when: string) {
  const { files, layout } = store
  const whole = states.filter(
    state => files.lstat(recordPath(layout, state)) && quickCheck(files, layout, records.get(state)!),
  )
  expect({ when, whole }).toEqual({ when, whole: states })
}

function generation({ store, records }: World, number: number): StateRecord | null {
  const link = join(store.layout.generations, String(number), 'etc')
  const state = store.files.lstat(link) && store.files.readlink(link).split('/').find(isStateName)
  return state ? records.get(state)! : null
}

const closure = (etc: StateRecord) => [...etc.references, etc.state]

function* take(locks: Set<string>, name: string): Generator<void> {
  while (locks.has(name)) yield
  locks.add(name)
}

/** Here and below, a yield stands wherever another process can come between two calls. */
function* prepare(world: World, etc: StateRecord, apply: boolean): Generator<void> {
  const { store, locks } = world
  const wanted = closure(etc)
  yield* take(locks, 'gc')
  const roots = writeTempRoots(store, wanted)
  yield
  locks.delete('gc')
  yield
  for (const state of wanted) yield* install(world, state)
  assertWhole(world, wanted, 'prepared')
  yield
  if (apply) {
    yield* take(locks, 'apply')
    const number = ++world.lastGeneration
    yield* switchTo(world, etc, () => store.addGeneration(number, etc.state))
    locks.delete('apply')
  }
  assertWhole(world, wanted, 'before its temp roots go')
  store.files.unlink(roots)
}

function* rollback(world: World, number: number): Generator<void> {
  const { files, layout } = world.store
  yield* take(world.locks, 'apply')
  yield
  const etc = generation(world, number)
  if (etc) yield* switchTo(world, etc, () => setCurrent(files, layout, number))
  world.locks.delete('apply')
}

/** Under the apply lock. */
function* switchTo(world: World, etc: StateRecord, commit: () => void): Generator<void> {
  const { files, layout } = world.store
  const journal = join(layout.journal, 'open.json')
  yield
  assertWhole(world, closure(etc), 'before the journal')
  writeNew(files, journal, JSON.stringify({ to: etc.state }))
  yield
  assertWhole(world, closure(etc), 'journal open')
  commit()
  yield
  files.unlink(journal)
  yield
  assertWhole(world, closure(etc), 'current')
}

function* install({ store, records, installing }: World, state: StateName): Generator<void> {
  const { files, layout } = store
  while (installing.has(state)) yield
  if (readRecord(files, layout, state, () => {})) return
  installing.add(state)
  yield
  const { name } = records.get(state)!
  const fresh = join(layout.states, `.${name}-tmp-1`)
  files.mkdir(fresh)
  yield
  writeNew(files, join(fresh, 'file'), `content of ${name}`, 0o444)
  files.chmod(fresh, 0o555)
  yield
  if (files.lstat(statePath(layout, state))) moveToTrash(files, layout, state)
  yield
  files.rename(fresh, statePath(layout, state))
  yield
  writeRecord(files, layout, records.get(state)!)
  yield
  installing.delete(state)
}

/** Calls `between` before every call. */
function interrupted(files: Files, between: () => void): Files {
  return Object.fromEntries(
    Object.entries(files).map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        between()
        if (name === 'write' && (args[1] as Uint8Array).length > 100_000) return // the reserve, which costs most of the time
        return (call as (...args: unknown[]) => unknown)(...args)
      },
    ]),
  ) as unknown as Files
}

/** Whole numbers below n; the same for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
