// What others do while an apply runs, and answers that get lost.
import { describe, expect, it } from 'vitest'
import { createEngine, type EnginePorts } from '../engine.ts'
import type { Store } from '../store.ts'
import { type MemoryPorts, type MemoryPortsOptions, memoryPorts } from './ports.fake.ts'
import { allLive, aRequest, doc, editOutside } from './request.fake.ts'

const store = (url: string) => doc('Store/s', { url })

async function world(options: MemoryPortsOptions = {}) {
  const ports = memoryPorts(options)
  const engine = createEngine(ports)
  const { stackId } = await engine.apply(aRequest({ docs: [store('one')], stackName: 'web' }))
  return { ports, engine, stackId: stackId! }
}

/** The same ports, with something before each transaction or instead of its answer. */
function around(
  ports: MemoryPorts,
  wrap: (run: () => Promise<unknown>, count: number) => Promise<unknown>,
): EnginePorts {
  let count = 0
  const transaction: Store['transaction'] = work =>
    wrap(() => ports.store.transaction(work), ++count) as ReturnType<typeof work>
  return { ...ports, store: { ...ports.store, transaction } }
}

describe('somebody outside who writes between plan and transaction', () => {
  const meddling = (ports: MemoryPorts, times: number) =>
    around(ports, async (run, count) => {
      const [live] = await ports.platforms[0].find([{ kind: 'Store', displayName: 's' }])
      if (count <= times) await editOutside(ports, live!, { spec: { ...live!.spec, url: `theirs ${count}` } })
      return run()
    })

  it('makes it plan once more', async () => {
    const { ports, stackId } = await world()
    const engine = createEngine(meddling(ports, 1))
    const { outcome, plan } = await engine.apply(aRequest({ docs: [store('two')], stack: stackId }))
    expect(outcome.did).toBe('applied')
    expect(plan.actions[0]?.changes).toMatchObject([{ path: 'spec.url', old: 'theirs 1', new: 'two' }])
  })

  it('is not chased for ever', async () => {
    const { ports, stackId } = await world()
    const late = createEngine(meddling(ports, 9)).apply(aRequest({ docs: [store('two')], stack: stackId }))
    await expect(late).rejects.toMatchObject({ code: 'plan.stale', problems: [{ path: 'Store/s' }] })
    expect((await allLive(ports))[0]?.spec.url).toBe('theirs 2')
  })

  it('stops an apply of exactly one plan', async () => {
    const { ports, engine, stackId } = await world()
    const request = aRequest({ docs: [store('two')], stack: stackId })
    const { plan } = await engine.plan(request)
    const late = createEngine(meddling(ports, 1)).apply({ ...request, expectPlan: plan })
    await expect(late).rejects.toMatchObject({ code: 'plan.stale', problems: [{ path: 'Store/s' }] })
    expect((await engine.history(stackId, { limit: 9 })).map(({ type }) => type)).toEqual(['apply'])
  })

  it('undoes what was written on other platforms when a name is taken there', async () => {
    const { ports, stackId } = await world({ transaction: 'journal' })
    const [platform] = ports.platforms
    platform.faults.beforeEffect = async (_, write) => {
      if (write.do !== 'create' || write.displayName !== 'taken') return
      platform.outside({ ...write, id: 'theirs' })
    }
    const before = ports.store.dump()
    const docs = [store('two'), doc('Mark/taken')]
    const { outcome } = await createEngine(ports).apply(aRequest({ docs, stack: stackId }))
    expect(outcome).toMatchObject({ did: 'rolled back', failures: [{ code: 'plan.stale', path: 'Mark/taken' }] })
    expect((await allLive(ports)).map(({ id }) => id)).toContain('theirs')
    expect(JSON.parse(ports.store.dump()).stacks).toEqual(JSON.parse(before).stacks)
  })
})

describe.each<['shared' | 'journal']>([['shared'], ['journal']])('a %s platform', transaction => {
  it('counts a commit whose answer was lost', async () => {
    const { ports, stackId } = await world({ transaction })
    const losing = around(ports, async run => {
      await run()
      throw new Error('connection lost')
    })
    const { outcome } = await createEngine(losing).apply(aRequest({ docs: [store('two')], stack: stackId }))
    expect(outcome).toEqual({ did: 'applied', madeStack: false })
    expect((await allLive(ports))[0]?.spec.url).toBe('two')
    expect(await ports.store.journals.open()).toEqual([])
  })

  it('rolls back when the transaction fails, and says so in the history', async () => {
    const { ports, engine, stackId } = await world({ transaction })
    const failing = around(ports, async (run, count) => {
      if (count === 1) throw new Error('disk full at postgres://u:hunter2@db/x')
      return run()
    })
    const before = await engine.stack(stackId)
    const { outcome } = await createEngine(failing).apply(aRequest({ docs: [store('two')], stack: stackId }))
    expect(outcome).toMatchObject({ did: 'rolled back', failures: [{ code: 'apply.failed' }] })
    expect(await engine.stack(stackId)).toEqual(before)
    const history = await engine.history(stackId, { limit: 9 })
    expect(history.map(({ type }) => type)).toEqual(['rollback', 'apply'])
    expect(JSON.stringify([outcome, history])).not.toContain('hunter2')
    expect((await allLive(ports))[0]?.spec.url).toBe('one')
  })
})

describe('writes on a platform with a journal', () => {
  const many = Array.from({ length: 30 }, (_, index) => doc(`Disk/d${index}`, { size: '1GiB' }))

  it.each([
    [undefined, 5],
    [1, 1],
    [99, 30],
  ])('run at most so many at once (%s asked for)', async (concurrency, most) => {
    const ports = memoryPorts({ transaction: 'journal' })
    let now = 0
    let seen = 0
    ports.platforms[0].faults.beforeEffect = async () => {
      seen = Math.max(seen, ++now)
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
      now--
    }
    const engine = createEngine({ ...ports, ...(concurrency !== undefined && { concurrency }) })
    await engine.apply(aRequest({ docs: many }))
    expect(seen).toBe(most)
  })

  it('keep the lock for as long as they take', async () => {
    const { ports, engine, stackId } = await world({ transaction: 'journal' })
    const refusals: unknown[] = []
    ports.platforms[0].faults.beforeEffect = async () => {
      await ports.clock.sleep(29_000)
      await createEngine(ports)
        .uninstall({ stack: stackId, by: 'bob', confirm: ['massDelete', 'dataLoss'], lockWaitMs: 0 })
        .catch(error => refusals.push(error.code))
    }
    const { outcome } = await engine.apply(aRequest({ docs: [store('two'), ...many.slice(0, 12)], stack: stackId }))
    expect(outcome.did).toBe('applied')
    expect(refusals).toEqual(Array(13).fill('stack.locked'))
  })

  it('stop when the lock is taken away, and whoever takes it undoes them', async () => {
    const { ports, engine, stackId } = await world({ transaction: 'journal' })
    let count = 0
    ports.platforms[0].faults.beforeEffect = async () => {
      if (++count === 8) await engine.unlock(stackId, 'root')
    }
    const stopped = engine.apply(aRequest({ docs: [store('two'), ...many], stack: stackId }))
    await expect(stopped).rejects.toMatchObject({ code: 'stack.lock-lost' })
    expect(count).toBeLessThan(15)
    expect(await ports.store.journals.open(stackId)).toHaveLength(1)
    ports.platforms[0].faults = {}
    const { outcome } = await engine.apply(aRequest({ docs: [store('one')], stack: stackId }))
    expect(outcome).toEqual({ did: 'nothing' })
    expect((await allLive(ports)).map(({ kind, spec }) => [kind, spec.url])).toEqual([['Store', 'one']])
    const types = (await engine.history(stackId, { limit: 9 })).map(({ type }) => type)
    expect(types).toEqual(['rollback', 'unlock', 'apply'])
  })
})
