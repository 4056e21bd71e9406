import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { closureOf } from './closure.ts'
import { recordPath } from './store/record.ts'
import { makeStore, type TestStore, testStateName } from './store/store.fake.ts'

let store: TestStore
beforeEach(() => {
  store = makeStore()
})
afterEach(() => store.remove())

it('leads from an etc state to all that it needs, and says which of them are not valid', () => {
  const missing = testStateName('missing')
  const tool = store.addState('tool')
  const unit = store.addState('unit', undefined, [tool.state, missing])
  const etc = store.addState('etc', undefined, [unit.state])
  store.addState('other')
  const closure = closureOf(store.files, store.layout, etc.state)
  expect([...closure].map(([state, record]) => [state, record !== null]).sort()).toEqual(
    [
      [etc.state, true],
      [missing, false],
      [tool.state, true],
      [unit.state, true],
    ].sort(),
  )
})

it('leaves a record that cannot be read where it is', () => {
  const { state } = store.addState('tool')
  const record = recordPath(store.layout, state)
  writeFileSync(record, '{')
  expect([...closureOf(store.files, store.layout, state)]).toEqual([[state, null]])
  expect(readFileSync(record, 'utf8')).toBe('{')
})
