import { expect, it } from 'vitest'
import { pool, type Work } from './pool.ts'

interface Watched extends Work {
  readonly finish: () => Promise<void>
}

/** Tells when it begins, and ends when it is told to. */
function watched(name: string, began: string[], of: Partial<Work> = {}): Watched {
  const done = Promise.withResolvers<void>()
  return {
    urgent: true,
    alone: false,
    run: () => {
      began.push(name)
      return done.promise
    },
    finish: async () => {
      done.resolve()
      await settled()
    },
    ...of,
  }
}
const settled = () => new Promise<void>(done => setImmediate(done))

it('has no more at once than there are places, first come first served', async () => {
  const began: string[] = []
  const all = ['a', 'b', 'c', 'd'].map(name => watched(name, began))
  const its = pool(2)
  for (const one of all) its.add(one)
  await settled()
  expect(began).toEqual(['a', 'b'])
  await all[1]!.finish()
  expect(began).toEqual(['a', 'b', 'c'])
})

it('gives what is not urgent one place, after all that is', async () => {
  const began: string[] = []
  const its = pool(2)
  const idle = ['x', 'y'].map(name => watched(name, began, { urgent: false }))
  const urgent = ['a', 'b'].map(name => watched(name, began))
  its.add(idle[0]!)
  its.add(idle[1]!)
  await settled()
  expect(began).toEqual(['x'])
  its.add(urgent[0]!)
  its.add(urgent[1]!)
  await settled()
  expect(began).toEqual(['x', 'a'])
  await idle[0]!.finish()
  expect(began).toEqual(['x', 'a', 'b'])
})

it('runs what is suspect alone', async () => {
  const began: string[] = []
  const its = pool(2)
  const first = watched('first', began)
  const suspect = watched('suspect', began, { alone: true })
  const last = watched('last', began)
  its.add(first)
  its.add(suspect)
  await first.finish()
  expect(began).toEqual(['first', 'suspect'])
  its.add(last)
  await settled()
  expect(began).toEqual(['first', 'suspect'])
  await suspect.finish()
  expect(began).toEqual(['first', 'suspect', 'last'])
})

it('takes back only what has not begun', async () => {
  const began: string[] = []
  const its = pool(1)
  const first = watched('first', began)
  const second = watched('second', began)
  its.add(first)
  its.add(second)
  await settled()
  expect(its.withdraw(first)).toBe(false)
  expect(its.withdraw(second)).toBe(true)
  await first.finish()
  expect(began).toEqual(['first'])
})

it('is idle when nothing runs and nothing waits', async () => {
  const its = pool(1)
  await its.idle()
  const work = [watched('a', []), watched('b', [])]
  for (const one of work) its.add(one)
  let isIdle = false
  const idle = its.idle().then(() => {
    isIdle = true
  })
  await work[0]!.finish()
  expect(isIdle).toBe(false)
  await work[1]!.finish()
  await idle
})
