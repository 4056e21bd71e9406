import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeTree } from '../../../lib/durable.ts'
import { faultyFiles } from '../../../lib/files.fake.ts'
import { type Files, realFiles } from '../../../lib/files.ts'
import { acquireLock } from '../../../lib/lock.ts'
import { setCurrent } from '../../generations.ts'
import { statePath } from '../../layout.ts'
import type { StateName } from '../../names.ts'
import { dedupStates } from '../dedup.ts'
import { listingPath } from '../listing.ts'
import { recordPath } from '../record.ts'
import { makeStore, type TestStore, testStateName } from '../store.fake.ts'
import { registerTempRoots } from '../temp-roots.ts'
import { verifyStates } from '../verify.ts'
import { type CollectOptions, collectGarbage } from './collect.ts'

let store: TestStore
beforeEach(() => {
  store = makeStore()
})
afterEach(() => store.remove())

const collect = (options: CollectOptions = {}, files: Files = realFiles) =>
  collectGarbage({ ...store, files }, { processes: () => [], ...options })
const isThere = (state: StateName) => existsSync(statePath(store.layout, state))

describe('a collection', () => {
  it('removes directory, record and listing of what nothing uses, and says what it freed', async () => {
    const tool = store.addState('tool')
    const used = store.addState('used')
    store.addGeneration(1, used.state)
    expect(await collect()).toEqual({
      dryRun: false,
      generations: [],
      generationsHeld: false,
      states: [{ state: tool.state, size: tool.size, why: 'unused' }],
      garbage: [],
      spared: [],
      failed: [],
      kept: 1,
      freedBytes: tool.size,
    })
    expect(isThere(tool.state)).toBe(false)
    expect(existsSync(recordPath(store.layout, tool.state))).toBe(false)
    expect(existsSync(listingPath(store.layout, tool.state))).toBe(false)
    expect(readdirSync(store.layout.trash)).toEqual([])
    expect(verifyStates(realFiles, store.layout, [used])).toEqual([])
  })

  it('does nothing the second time', async () => {
    store.addState('tool')
    await collect()
    expect(await collect()).toMatchObject({ states: [], garbage: [], freedBytes: 0, kept: 0 })
  })

  it('works on a machine where nothing was ever prepared', async () => {
    rmSync(store.root, { recursive: true })
    expect(await collect({ dryRun: true })).toMatchObject({ states: [], kept: 0 })
    expect(existsSync(store.root)).toBe(false)
    expect(await collect()).toMatchObject({ states: [], kept: 0 })
  })

  it('removes old generations with what only they used, and keeps the current one', async () => {
    const states = [1, 2, 3, 4].map(number => store.addState(`etc${number}`).state)
    for (const [index, state] of states.entries()) store.addGeneration(index + 1, state)
    expect(await collect({ keep: 2 })).toMatchObject({ generations: [1, 2], kept: 2 })
    expect(readdirSync(store.layout.generations).sort()).toEqual(['3', '4'])
    expect(states.map(isThere)).toEqual([false, false, true, true])
  })

  it('goes by when a generation was made', async () => {
    const [old, fresh, current] = ['old', 'fresh', 'current'].map(name => store.addState(name).state)
    store.addGeneration(1, old!, new Date(Date.now() - 10 * 86_400_000))
    store.addGeneration(2, fresh!)
    store.addGeneration(3, current!)
    expect((await collect({ olderThanMs: 7 * 86_400_000 })).generations).toEqual([1])
    expect(isThere(old!)).toBe(false)
  })

  it('shows in a dry run what the run itself then does, and changes nothing', async () => {
    const shared = store.addState('shared').state
    for (const generation of [1, 2, 3, 4])
      store.addGeneration(generation, store.addState(`etc${generation}`, undefined, [shared]).state)
    store.addState('unused', undefined, [store.addState('deep').state])
    mkdirSync(join(store.layout.states, testStateName('unrecorded')))
    mkdirSync(join(store.layout.states, '.broken-tmp-123abc'))
    mkdirSync(join(store.layout.trash, 'left'), { recursive: true })
    writeFileSync(join(store.layout.trash, 'left/file'), '12345')
    const options = { keep: 2, maxFreed: 60 }
    const files = faultyFiles(realFiles)
    const shown = await collect({ ...options, dryRun: true }, files)
    expect(files.log).toEqual([])
    expect(shown.states.length).toBeGreaterThan(2)
    expect(await collect(options)).toEqual({ ...shown, dryRun: false })
  })

  it('stops when enough is freed and goes on from there next time', async () => {
    for (const name of ['a', 'b', 'c']) store.addState(name)
    expect((await collect({ maxFreed: 1 })).states).toHaveLength(1)
    expect((await collect()).states).toHaveLength(2)
  })

  it('is refused while another one runs', async () => {
    const path = join(store.layout.locks, 'collector')
    const lock = await acquireLock(path, { command: 'cairn node gc', clock: store.clock })
    await expect(collect()).rejects.toMatchObject({ code: 'lock.busy' })
    lock.release()
  })

  it('tells of each state when it is gone', async () => {
    const told: unknown[] = []
    const states = Array.from({ length: 70 }, (_, index) => store.addState(`tool${index}`).state)
    await collect({ onRemoved: removed => told.push('state' in removed && [removed.state, isThere(removed.state)]) })
    expect(told.sort()).toEqual(states.map(state => [state, false]).sort())
  })

  it('goes past what cannot be removed, reports it, and takes it up again', async () => {
    const stuck = store.addState('stuck').state
    const other = store.addState('other').state
    const files: Files = {
      ...realFiles,
      rmdir: path => {
        if (path.includes(stuck)) throw Object.assign(new Error('EBUSY: busy'), { code: 'EBUSY' })
        realFiles.rmdir(path)
      },
    }
    const report = await collect({}, files)
    expect(report.states.map(({ state }) => state)).toEqual([other])
    expect(report.failed).toEqual([{ path: statePath(store.layout, stuck), reason: 'EBUSY: busy' }])
    expect((await collect()).garbage).toMatchObject([{ what: 'leftover trash' }])
    expect(readdirSync(store.layout.trash)).toEqual([])
  })
})

describe('generations that are to go stay, with their states, when', () => {
  let states: StateName[]
  beforeEach(() => {
    states = [1, 2, 3, 4].map(number => store.addState(`etc${number}`).state)
    for (const [index, state] of states.entries()) store.addGeneration(index + 1, state)
  })
  /** Something happens after the plan, just before the collector gets the machine's lock. */
  const justBefore = (happen: () => void): CollectOptions => ({
    keep: 1,
    takeLock: async (_, { name }) => {
      if (name === 'apply') happen()
      return { release: () => {} }
    },
  })
  const allStay = async (options: CollectOptions) => {
    expect(await collect(options)).toMatchObject({ generations: [], generationsHeld: true, states: [] })
    expect(states.map(isThere)).toEqual([true, true, true, true])
  }

  it('a rollback to one of them came first', () => allStay(justBefore(() => setCurrent(store.files, store.layout, 1))))

  it('an apply left its journal open since', () =>
    allStay(justBefore(() => writeFileSync(join(store.layout.journal, 'one.json'), '{}'))))

  it('an apply holds the lock of the machine', async () => {
    const lock = await acquireLock(join(store.layout.locks, 'apply'), {
      command: 'cairn node apply',
      clock: store.clock,
    })
    await allStay({ keep: 1 })
    lock.release()
    expect((await collect({ keep: 1 })).generations).toEqual([1, 2])
  })
})

describe('roots', () => {
  it('a reference that stands only in a config file keeps a state alive', async () => {
    const tool = store.addState('tool').state
    const etc = store.addState('etc', { 'tool.conf': `run = /cairn/states/${tool}/bin/tool\n` }, [])
    // Its record is lost, so that only the bytes of the file lead to the tool.
    store.addGeneration(1, etc.state)
    rmSync(recordPath(store.layout, etc.state))
    expect(await collect()).toMatchObject({ states: [], kept: 2 })
    expect(isThere(tool)).toBe(true)
  })

  it('the target of etc/static stays, though no generation has it', async () => {
    const etc = store.addState('etc').state
    symlinkSync(`../states/${etc}/etc`, store.layout.static)
    expect((await collect()).states).toEqual([])
  })

  it('both sides of an open journal stay, and so do all generations', async () => {
    const [old, next] = ['old', 'next'].map(name => store.addState(name).state)
    for (const generation of [1, 2, 3]) store.addGeneration(generation, store.addState(`etc${generation}`).state)
    const journal = { schema: 1, from: { etcState: old }, to: { etcState: next } }
    writeFileSync(join(store.layout.journal, 'one.json'), JSON.stringify(journal))
    expect(await collect({ keep: 1 })).toMatchObject({ states: [], generations: [], generationsHeld: true })
  })

  it('a generation whose link is lost keeps what its manifest names', async () => {
    const etc = store.addState('etc').state
    store.addGeneration(1, etc)
    rmSync(join(store.layout.generations, '1/etc'))
    expect((await collect()).states).toEqual([])
  })

  it('temp roots of a live process hold, those of a dead one do not and are removed', async () => {
    const [held, lost] = ['held', 'lost'].map(name => store.addState(name).state)
    const roots = await registerTempRoots([held!], store, { command: 'test' })
    const dead = { pid: 2 ** 22 + 1, startTime: '1', bootId: store.clock.bootId(), states: [lost] }
    writeFileSync(join(store.layout.tempRoots, '4194305-1-abc.json'), JSON.stringify(dead))
    expect((await collect()).states).toMatchObject([{ state: lost }])
    expect(readdirSync(store.layout.tempRoots)).toHaveLength(1)
    roots.release()
    expect((await collect()).states).toMatchObject([{ state: held }])
  })
})

describe('garbage', () => {
  it('of killed installs goes, that of a running one stays', async () => {
    mkdirSync(join(store.layout.states, '.dead-tmp-1a2b3c'))
    mkdirSync(join(store.layout.states, '.live-tmp-1a2b3c'))
    mkdirSync(join(store.layout.states, testStateName('live')))
    mkdirSync(join(store.layout.states, testStateName('dead')))
    const roots = await registerTempRoots([testStateName('live')], store, { command: 'test' })
    const report = await collect()
    expect(report.garbage).toMatchObject([{ what: 'unfinished install' }])
    expect(report.states).toMatchObject([{ state: testStateName('dead'), why: 'no record' }])
    expect(readdirSync(store.layout.states).sort()).toEqual(['.live-tmp-1a2b3c', '.trash', testStateName('live')])
    roots.release()
  })

  it('are writes that a killed install began long ago; one of just now may be about to get its name', async () => {
    const { records, configs } = store.layout
    const old = [join(records, '.cairn-tmp-1a2b3c-dead.json'), join(configs, '.cairn-tmp-1a2b3c-v1.json')]
    for (const path of old) {
      writeFileSync(path, '{}')
      utimesSync(path, 1, 1)
    }
    writeFileSync(join(records, '.cairn-tmp-4d5e6f-live.json'), '{}')
    const { garbage } = await collect()
    expect(garbage).toEqual(old.map(path => ({ path, what: 'unfinished install', size: 0 })))
    expect(readdirSync(records)).toEqual(['.cairn-tmp-4d5e6f-live.json'])
    expect(readdirSync(configs)).toEqual([])
  })

  it('that is not Cairn’s stays', async () => {
    mkdirSync(join(store.layout.states, 'lost+found'))
    writeFileSync(join(store.layout.states, '.hidden'), '')
    await collect()
    expect(readdirSync(store.layout.states).sort()).toEqual(['.hidden', 'lost+found'])
  })

  it('of records: one without its directory goes, a corrupt one is put aside', async () => {
    const [gone, corrupt] = ['gone', 'corrupt'].map(name => store.addState(name).state)
    for (const state of [gone!, corrupt!]) removeTree(realFiles, statePath(store.layout, state))
    writeFileSync(recordPath(store.layout, corrupt!), '{')
    await collect()
    expect(readdirSync(store.layout.records)).toEqual([`${corrupt}.json.corrupt`])
  })

  it('in the pool goes when no state has the content any more', async () => {
    const one = store.addState('one', { data: 'x'.repeat(5000) })
    const two = store.addState('two', { data: 'x'.repeat(5000) })
    dedupStates(realFiles, store.layout, [one.state, two.state])
    store.addGeneration(1, two.state)
    const names = () => readdirSync(store.layout.pool, { recursive: true }).filter(name => String(name).includes('/'))
    await collect()
    expect(names()).toHaveLength(1)
    expect(verifyStates(realFiles, store.layout, [two])).toEqual([])
    rmSync(join(store.layout.generations, '1'), { recursive: true })
    await collect()
    expect(names()).toEqual([])
  })
})
