import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { faultyFiles } from '../../lib/files.fake.ts'
import { acquireLock } from '../../lib/lock.ts'
import { makeStore, type TestStore, testStateName } from './store.fake.ts'
import { liveTempRoots, registerTempRoots, sweepTempRoots } from './temp-roots.ts'

let store: TestStore
beforeEach(() => {
  store = makeStore()
})
afterEach(() => store.remove())

const names = Array.from({ length: 300 }, (_, index) => testStateName(`tool${index}`))
const options = { command: 'test' }
const live = () => liveTempRoots(store).flatMap(({ states }) => states)

it('holds many states with one lock and one file, until released', async () => {
  const files = faultyFiles(store.files)
  const roots = await registerTempRoots(names, { ...store, files }, options)
  expect(live()).toEqual(names)
  expect(files.log.filter(call => call.startsWith('rename'))).toHaveLength(1)
  expect(files.log.filter(call => call.includes('locks/gc'))).toHaveLength(1)
  roots.release()
  roots.release()
  expect(live()).toEqual([])
  expect(readdirSync(store.layout.tempRoots)).toEqual([])
})

it('keeps registrations of one process apart', async () => {
  const one = await registerTempRoots([names[0]!], store, options)
  const two = await registerTempRoots([names[0]!], store, options)
  one.release()
  expect(live()).toEqual([names[0]])
  two.release()
})

it('waits while a collector holds the lock', async () => {
  const lock = await acquireLock(join(store.layout.locks, 'gc'), { command: 'cairn node gc', clock: store.clock })
  const registering = registerTempRoots([names[0]!], store, options)
  await store.clock.sleep(30)
  expect(live()).toEqual([])
  lock.release()
  ;(await registering).release()
})

it('ignores what dead processes left and sweeps it, with what they did not finish', async () => {
  const roots = await registerTempRoots([names[0]!], store, options)
  const [mine] = readdirSync(store.layout.tempRoots)
  const left = { pid: process.pid, startTime: '1', bootId: store.clock.bootId(), states: [names[1]] }
  writeFileSync(join(store.layout.tempRoots, 'reused-pid.json'), JSON.stringify(left))
  writeFileSync(join(store.layout.tempRoots, 'cut-short.json'), '{"pid":')
  writeFileSync(join(store.layout.tempRoots, '.cairn-tmp-x.json'), '')
  expect(live()).toEqual([names[0]])
  sweepTempRoots(store)
  expect(readdirSync(store.layout.tempRoots)).toEqual([mine])
  roots.release()
})
