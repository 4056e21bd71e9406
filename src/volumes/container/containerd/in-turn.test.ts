import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { inTurn } from './in-turn.ts'

it('does work on one thing one after the other, on different things at once, and goes on after a failure', async () => {
  const turn = inTurn()
  const log: string[] = []
  const work =
    (name: string, fails = false) =>
    async () => {
      log.push(`${name} begins`)
      await setImmediate()
      log.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    }
  const results = await Promise.allSettled([
    turn('x', work('first', true)),
    turn('x', work('second')),
    turn('y', work('other')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(log.indexOf('second begins')).toBeGreaterThan(log.indexOf('first ends'))
  expect(log.indexOf('other begins')).toBeLessThan(log.indexOf('first ends'))
})
