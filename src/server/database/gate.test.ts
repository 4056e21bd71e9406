import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { realClock } from '../../lib/clock.ts'
import { makeGate } from './gate.ts'

it('lets many go on together, and one alone between those before it and those after it', async () => {
  const gate = makeGate(realClock)
  const told: string[] = []
  const work = (name: string) => async () => {
    told.push(`${name} begins`)
    await delay(5)
    told.push(`${name} ends`)
  }
  await Promise.all([
    gate.together(work('a')),
    gate.together(work('b')),
    gate.alone(work('c')),
    gate.together(work('d')),
    gate.alone(work('e')),
  ])
  expect(told.slice(0, 4).sort()).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
  expect(told.slice(4)).toEqual(['c begins', 'c ends', 'e begins', 'e ends', 'd begins', 'd ends'])
})

it('gives a failure to whoever asked, and goes on', async () => {
  const gate = makeGate(realClock)
  const fail = async () => {
    throw new Error('met another')
  }
  await expect(gate.together(fail)).rejects.toThrow('met another')
  await expect(gate.alone(fail)).rejects.toThrow('met another')
  expect(await gate.alone(async () => 1)).toBe(1)
  expect(await gate.together(async () => 2)).toBe(2)
})

it('does not wait for ever for one that hangs', async () => {
  const gate = makeGate(realClock, 10)
  void gate.together(() => new Promise(() => {}))
  expect(await gate.alone(async () => 'went on')).toBe('went on')
  void gate.alone(() => new Promise(() => {}))
  expect(await gate.together(async () => 'went on')).toBe('went on')
})
