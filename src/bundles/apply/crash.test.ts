// Ends the process at every call of the store and the platforms, before its effect and after it, and starts it again: what
// is there is the old state or the new one, and an apply gets to the new one.
import { describe, expect, it } from 'vitest'
import { createEngine } from '../engine.ts'
import { type CrashPlan, crashingPorts, type MemoryPortsOptions } from './ports.fake.ts'
import { change, type Scenario, scenario, seen } from './scenario.fake.ts'

/**
 * Dying after a call is mostly the same as dying before the next one, and platforms differ only in their ids: all of it is
 * tried when there is time (CAIRN_RUNS), else every call of the hardest case, and some of the others.
 */
const isTried = (at: number, when: CrashPlan['when'], { transaction, clientIds }: MemoryPortsOptions) => {
  if (process.env.CAIRN_RUNS) return true
  if (when === 'before') return at % 12 === 0
  return transaction === 'shared' || clientIds === false || at % 6 === 0
}

const settled = () => new Promise(resolve => setTimeout(resolve, 0))

/** One life of the server, in which it applies and dies. */
async function applyAndDie({ ports, stackId }: Scenario, plan?: CrashPlan) {
  const dying = crashingPorts(ports, plan)
  const answer = await createEngine(dying)
    .apply(change(stackId))
    .catch(() => null)
  await settled()
  return { crashed: dying.crashed(), calls: dying.calls(), isApplied: answer?.outcome.did === 'applied' }
}

async function recoverAndDie({ ports }: Scenario, plan?: CrashPlan) {
  const dying = crashingPorts(ports, plan)
  await createEngine(dying)
    .recover()
    .catch(() => {})
  await settled()
  return { crashed: dying.crashed(), calls: dying.calls() }
}

async function bothStates(options: MemoryPortsOptions) {
  const world = await scenario(options)
  const before = await seen(world.ports)
  const { calls } = await applyAndDie(world)
  return { before, after: await seen(world.ports), calls }
}

describe.each<[string, MemoryPortsOptions]>([
  ['a shared platform and another with a journal', { transaction: 'shared' }],
  ['platforms with journals', { transaction: 'journal' }],
  ['platforms with journals and ids of their own', { transaction: 'journal', clientIds: false }],
])('a server over %s', (_, options) => {
  it.each(['before', 'after'] as const)(
    'that dies just %s any call is in the old or the new state after its start',
    async when => {
      const { before, after, calls } = await bothStates(options)
      expect(calls).toBeGreaterThan(20)
      const outcomes = new Set<string>()
      for (let at = 1; at <= calls; at++) {
        if (!isTried(at, when, options)) continue
        const world = await scenario(options)
        const { crashed, isApplied } = await applyAndDie(world, { at, when })
        if (!crashed) continue
        await createEngine(world.ports).recover()
        const now = await seen(world.ports)
        const isNew = JSON.stringify(now) === JSON.stringify(after)
        outcomes.add(isNew ? 'new' : 'old')
        if (isApplied) expect({ at, isNew }).toEqual({ at, isNew: true })
        expect({ at, now }).toEqual({ at, now: isNew ? after : before })
        expect({ at, open: await world.ports.store.journals.open() }).toEqual({ at, open: [] })
        if (at % 6 > 0) continue
        const engine = createEngine(world.ports)
        await engine.apply(change(world.stackId, { lockWaitMs: 60_000 }))
        expect({ at, now: await seen(world.ports) }).toEqual({ at, now: after })
      }
      expect(outcomes).toContain('old')
      if (when === 'after' && options.clientIds === false) expect(outcomes).toContain('new')
    },
  )

  it('that dies again at any call of its recovery still gets there', async () => {
    const { before, after, calls } = await bothStates(options)
    for (const first of process.env.CAIRN_RUNS ? [Math.floor(calls / 3), calls - 6] : [Math.floor(calls / 2)]) {
      const died = async () => {
        const world = await scenario(options)
        await applyAndDie(world, { at: first, when: 'after' })
        return world
      }
      const { calls: ofRecovery } = await recoverAndDie(await died())
      for (let at = 1; at <= ofRecovery; at += process.env.CAIRN_RUNS ? 1 : 2)
        for (const when of ['before', 'after'] as const) {
          if (!isTried(at, when, options)) continue
          const world = await died()
          await recoverAndDie(world, { at, when })
          await createEngine(world.ports).recover()
          const now = await seen(world.ports)
          const isNew = JSON.stringify(now) === JSON.stringify(after)
          expect({ first, at, when, now }).toEqual({ first, at, when, now: isNew ? after : before })
          expect(await world.ports.store.journals.open()).toEqual([])
        }
    }
  })

  it('that starts twice at once recovers once', async () => {
    const { before, calls } = await bothStates(options)
    const world = await scenario(options)
    await applyAndDie(world, { at: Math.floor(calls / 2), when: 'before' })
    await Promise.all([createEngine(world.ports).recover(), createEngine(world.ports).recover()])
    expect(await seen(world.ports)).toEqual(before)
    const events = await world.engine.history(world.stackId, { limit: 9 })
    expect(events.filter(({ type }) => type === 'rollback').length).toBeLessThanOrEqual(1)
  })
})

describe('an unfinished apply', () => {
  it('is settled by whoever uses the stack next, without a start', async () => {
    const options: MemoryPortsOptions = { transaction: 'journal' }
    const { after, calls } = await bothStates(options)
    const world = await scenario(options)
    await applyAndDie(world, { at: Math.floor(calls / 2), when: 'after' })
    await world.engine.apply(change(world.stackId, { lockWaitMs: 60_000 }))
    expect(await seen(world.ports)).toEqual(after)
    const types = (await world.engine.history(world.stackId, { limit: 9 })).map(({ type }) => type)
    expect(types).toEqual(['apply', 'rollback', 'apply'])
  })

  it('of a live server is left to it', async () => {
    const world = await scenario({ transaction: 'journal' })
    let other: Promise<void> | undefined
    const [platform] = world.ports.platforms
    platform.faults.beforeEffect = async count => {
      if (count % 7 === 0) other ??= createEngine(world.ports).recover()
    }
    const { outcome } = await world.engine.apply(change(world.stackId))
    await other
    expect(other).toBeDefined()
    expect(outcome.did).toBe('applied')
  })
})
