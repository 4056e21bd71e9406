import { afterEach, beforeEach, expect, it } from 'vitest'
import { findProgram, run } from '../../../lib/run.ts'
import { makeStore, type TestStore, testStateName } from '../store.fake.ts'
import { describeRoot } from './root.ts'
import { whyAlive } from './why.ts'

let store: TestStore
beforeEach(() => {
  store = makeStore()
})
afterEach(() => store.remove())

const why = (state: Parameters<typeof whyAlive>[0], processes: Parameters<typeof whyAlive>[2] = () => []) =>
  whyAlive(state, store, processes)?.map(({ cause, chain }) => [describeRoot(cause), ...chain])

it('names each root and the shortest way from it, down to pid and file', () => {
  const tool = store.addState('tool').state
  const unit = store.addState('unit', undefined, [tool]).state
  const etc = store.addState('etc', undefined, [unit, tool]).state
  store.addGeneration(6, etc)
  store.addGeneration(7, etc)
  const text = `/cairn/states/${unit}/bin`
  expect(why(tool, () => [{ pid: 4242, name: 'nginx', file: '/proc/4242/maps', text }])).toEqual([
    ['generation 6', etc, tool],
    ['generation 7 (current)', etc, tool],
    ['process 4242 (nginx): /proc/4242/maps', unit, tool],
  ])
})

it('gives no reason for a state that the next collection removes, and null for one that is not there', () => {
  const unused = store.addState('unused').state
  expect(why(unused)).toEqual([])
  expect(why(testStateName('nowhere'))).toBeUndefined()
})

it('does not count the command line that asks, nor that of the shell above it', async () => {
  const unused = store.addState('unused').state
  const ask = `
    import { whyAlive } from '${new URL('./why.ts', import.meta.url)}'
    import { realClock } from '${new URL('../../../lib/clock.ts', import.meta.url)}'
    import { realFiles } from '${new URL('../../../lib/files.ts', import.meta.url)}'
    const layout = ${JSON.stringify(store.layout)}
    console.log(JSON.stringify(whyAlive(process.argv[1], { files: realFiles, layout, clock: realClock })))`
  const line = `"$NODE" --input-type=module -e "$ASK" ${unused}; true`
  const asked = await run(findProgram('sh')!, ['-c', line], { env: { NODE: process.execPath, ASK: ask } })
  expect(asked).toMatchObject({ code: 0, stdout: '[]\n' })
})
