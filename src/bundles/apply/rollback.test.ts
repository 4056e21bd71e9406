// Fails at every write, in every way, and looks at everything afterwards: it is as it was before, field by field.
import { describe, expect, it } from 'vitest'
import { createEngine } from '../engine.ts'
import type { Write } from '../platform.ts'
import type { StepProgress } from '../request.ts'
import type { WriteFault } from './platform.fake.ts'
import type { MemoryPortsOptions } from './ports.fake.ts'
import { aRequest, doc, marked } from './request.fake.ts'
import { change, type Scenario, scenario, seen } from './scenario.fake.ts'

const faults: readonly WriteFault[] = ['fail before', 'fail after', 'hang before', 'hang after']

/** Every write fails once; each of them in every way when there is time (CAIRN_RUNS). */
const faultsAt = (k: number) => (process.env.CAIRN_RUNS ? faults : [faults[k % faults.length]!])

/** The k-th write of all platforms together, counted from when it is set. */
function failAt(
  { ports }: Scenario,
  k: number,
  fault: WriteFault,
  also: (n: number, write: Write) => boolean = () => false,
) {
  let count = 0
  for (const platform of ports.platforms)
    platform.faults.onWrite = (_, write) => (++count === k || also(count, write) ? fault : undefined)
  return () => count
}

const heal = ({ ports }: Scenario) => {
  for (const platform of ports.platforms) platform.faults = {}
}

async function countWrites(options: MemoryPortsOptions): Promise<number> {
  const world = await scenario(options)
  const count = failAt(world, 0, 'fail before')
  expect((await world.engine.apply(change(world.stackId))).outcome.did).toBe('applied')
  return count()
}

const eventsOf = async ({ engine, stackId }: Scenario) =>
  (await engine.history(stackId, { limit: 100 })).map(({ type }) => type)

describe.each<[string, MemoryPortsOptions]>([
  ['a shared platform and another with a journal', { transaction: 'shared' }],
  ['platforms with journals', { transaction: 'journal' }],
  ['platforms with journals and ids of their own', { transaction: 'journal', clientIds: false }],
])('an apply over %s', (_, options) => {
  it('goes back to exactly the former state, whichever write fails and however', async () => {
    const writes = await countWrites(options)
    expect(writes).toBeGreaterThan(20)
    const fresh = await scenario(options)
    await fresh.engine.apply(change(fresh.stackId))
    const wanted = await seen(fresh.ports)
    for (let k = 1; k <= writes; k++)
      for (const fault of faultsAt(k)) {
        const world = await scenario(options)
        const before = await seen(world.ports)
        const stack = await world.engine.stack(world.stackId)
        failAt(world, k, fault)
        const { outcome } = await world.engine.apply(change(world.stackId))
        expect({ k, fault, did: outcome.did }).toEqual({ k, fault, did: 'rolled back' })
        expect({ k, fault, seen: await seen(world.ports) }).toEqual({ k, fault, seen: before })
        if (options.clientIds !== false) expect(await world.engine.stack(world.stackId)).toEqual(stack)
        expect(await eventsOf(world)).toEqual(['rollback', 'apply'])
        expect(await world.ports.store.journals.open()).toEqual([])
        if (k % 5 > 0) continue
        heal(world)
        await world.engine.apply(change(world.stackId))
        expect({ k, fault, seen: await seen(world.ports) }).toEqual({ k, fault, seen: wanted })
      }
  })

  it('leaves no stack when it would have made one', async () => {
    const world = await scenario(options)
    const before = await seen(world.ports)
    for (const k of [1, 3]) {
      failAt(world, k, 'fail after')
      const answer = await world.engine.apply(aRequest({ docs: ownDocs, stackName: 'own' }))
      expect(answer).toMatchObject({ stackId: null, outcome: { did: 'rolled back' } })
      expect(await seen(world.ports)).toEqual(before)
      expect(world.ports.logged).toEqual([])
    }
  })
})

const ownDocs = [
  doc('Mark/m1'),
  doc('Disk/a', { size: '1GiB', ...marked('m1') }),
  doc('Disk/b', { size: '1GiB', basedOn: { name: 'a' } }),
]

describe('undoing on a platform with a journal', () => {
  const journal: MemoryPortsOptions = { transaction: 'journal' }

  /** One write at a time, so that what follows the failing one is the undo. */
  const oneByOne = ({ ports }: Scenario) => createEngine({ ...ports, concurrency: 1 })

  it('tries again when it fails once or twice', async () => {
    const world = await scenario(journal)
    const before = await seen(world.ports)
    const count = failAt(world, 12, 'fail before', n => n === 13 || n === 15 || n === 16)
    expect((await oneByOne(world).apply(change(world.stackId))).outcome.did).toBe('rolled back')
    // Eleven undone, and three tries that failed.
    expect(count()).toBe(12 + 11 + 3)
    expect(await seen(world.ports)).toEqual(before)
  })

  it('says what it left when it fails always, and the next apply starts from there', async () => {
    const world = await scenario(journal)
    failAt(world, 12, 'fail before', n => n > 12)
    const { outcome } = await oneByOne(world).apply(change(world.stackId))
    if (outcome.did !== 'rollback incomplete') throw new Error(`unexpected: ${outcome.did}`)
    expect(outcome.leftovers).toHaveLength(11)
    expect(new Set(outcome.leftovers.map(({ code }) => code))).toEqual(new Set(['rollback.incomplete']))
    const stack = await world.engine.stack(world.stackId)
    expect(stack).toMatchObject({ state: 'degraded', leftovers: outcome.leftovers })
    expect(await eventsOf(world)).toEqual(['rollback', 'apply'])
    heal(world)
    await world.engine.apply(change(world.stackId, { adopt: 'byName' }))
    const after = await world.engine.stack(world.stackId)
    expect({ state: after.state, leftovers: after.leftovers ?? [] }).toEqual({ state: 'active', leftovers: [] })
    const { plan } = await world.engine.plan(change(world.stackId))
    expect(plan.counts).toMatchObject({ create: 0, update: 0, replace: 0, delete: 0, unchanged: 11 })
  })

  it('leaves what another changed meanwhile, and reports it', async () => {
    const world = await scenario(journal)
    const [platform] = world.ports.platforms
    failAt(world, 20, 'fail before')
    let theirs: string | undefined
    platform.faults.beforeEffect = async count => {
      const [made] = await platform.find([{ kind: 'Store', displayName: 'second' }])
      if (!made || theirs || count === 0) return
      theirs = made.id
      const { revision, associations, status, createdAt, updatedAt, ...rest } = made
      platform.outside({
        do: 'update',
        ...rest,
        spec: { url: 'theirs', retries: 3 },
        refersTo: [],
        ifRevision: revision,
      })
    }
    const { outcome } = await world.engine.apply(change(world.stackId))
    expect(outcome).toMatchObject({
      did: 'rollback incomplete',
      leftovers: [{ code: 'rollback.conflict', path: 'Store/second' }],
    })
    expect(platform.state.resources.get(theirs!)?.spec).toEqual({ url: 'theirs', retries: 3 })
  })

  it('goes in exact reverse order of completion', async () => {
    const world = await scenario(journal)
    failAt(world, 15, 'fail before')
    const lines: string[] = []
    const onProgress = ({ seq, state }: StepProgress) => {
      if (state === 'done' || state === 'undone') lines.push(`${state} ${seq}`)
    }
    await world.engine.apply(change(world.stackId), { onProgress })
    const done = lines.filter(line => line.startsWith('done')).map(line => line.slice(5))
    const undone = lines.filter(line => line.startsWith('undone')).map(line => line.slice(7))
    expect(done.length).toBeGreaterThan(5)
    expect(undone.filter(seq => done.includes(seq))).toEqual(done.toReversed())
  })

  it('gathers the failures of all writes that were under way', async () => {
    const world = await scenario(journal)
    failAt(world, 1, 'fail before', n => n <= 3)
    const { outcome } = await world.engine.apply(change(world.stackId))
    if (outcome.did !== 'rolled back') throw new Error(`unexpected: ${outcome.did}`)
    expect(outcome.failures.length).toBe(3)
  })
})

describe('cancelling', () => {
  it.each(['signal', 'cancel'])('undoes what was done (%s)', async how => {
    const world = await scenario({ transaction: 'journal' })
    const before = await seen(world.ports)
    const controller = new AbortController()
    let done = 0
    const onProgress = ({ state }: StepProgress) => {
      if (state !== 'done' || ++done !== 4) return
      if (how === 'signal') controller.abort()
      else void world.engine.cancel(world.stackId)
    }
    const { outcome } = await world.engine.apply(change(world.stackId), { signal: controller.signal, onProgress })
    expect(outcome).toMatchObject({ did: 'rolled back', failures: [{ code: 'apply.cancelled' }] })
    expect(await seen(world.ports)).toEqual(before)
  })

  it('stops before the transaction of a shared platform', async () => {
    const world = await scenario()
    const before = await seen(world.ports)
    const controller = new AbortController()
    const onProgress = ({ state }: StepProgress) => {
      if (state === 'running') controller.abort()
    }
    const { outcome } = await world.engine.apply(change(world.stackId), { signal: controller.signal, onProgress })
    expect(outcome).toMatchObject({ did: 'rolled back', failures: [{ code: 'apply.cancelled' }] })
    expect(await seen(world.ports)).toEqual(before)
  })

  it('does nothing while it waits for a lock', async () => {
    const world = await scenario()
    await world.ports.store.leases.acquire(world.stackId, { holder: 'bob', operation: 'apply' })
    const signal = AbortSignal.abort()
    const late = world.engine.apply(change(world.stackId, { lockWaitMs: 60_000 }), { signal })
    await expect(late).rejects.toMatchObject({ code: 'apply.cancelled' })
  })
})

describe('progress', () => {
  it('tells of every write what it waits for, that it runs, and that it is done', async () => {
    const world = await scenario({ transaction: 'journal' })
    const lines: StepProgress[] = []
    await world.engine.apply(change(world.stackId), { onProgress: step => lines.push(step) })
    const states = new Map<number, string[]>()
    for (const { seq, state } of lines) states.set(seq, [...(states.get(seq) ?? []), state])
    expect(new Set([...states.values()].map(list => list.join(' ')))).toEqual(new Set(['waiting running done']))
    expect(lines.find(({ resource, state }) => resource === 'Disk/new' && state === 'waiting')?.waitsFor).toContain(
      'Disk/data',
    )
    expect(JSON.stringify(lines)).not.toContain('secret value')
  })
})
