// Laws of apply, over random bundles of few names, so that they meet each other.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../lib/redact.ts'
import { createEngine } from '../engine.ts'
import type { WriteFault } from './platform.fake.ts'
import { type MemoryPorts, memoryPorts } from './ports.fake.ts'
import { aRequest } from './request.fake.ts'
import { seen } from './scenario.fake.ts'
import { docsOf, type Wish, wish } from './wish.fake.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 25),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

const value = 'a value that is nowhere to be seen'

const requestOf = (wish: Wish, stack: string, secret = value) =>
  aRequest({
    docs: docsOf(wish),
    stack,
    confirm: ['massDelete', 'dataLoss'],
    lockWaitMs: 600_000,
    ...(wish.stores.some(({ secret }) => secret) && { secrets: { k: new Secret(secret) } }),
  })

async function worldWith(wish: Wish, options: Parameters<typeof memoryPorts>[0]) {
  const ports = memoryPorts(options)
  const engine = createEngine(ports)
  const { id } = await engine.createStack({ name: 'web', by: 'ann' })
  await engine.apply(requestOf(wish, id))
  return { ports, engine, id }
}

const platform = fc.constantFrom(
  { transaction: 'shared' as const },
  { transaction: 'journal' as const },
  { transaction: 'journal' as const, clientIds: false },
)

/** Names swapped among resources are refused: that needs two applies. */
const isBlocked = (error: unknown) => (error as { code?: string }).code === 'plan.blocked'

describe('apply', () => {
  it('leaves nothing to plan, whatever was there before', async () => {
    await fc.assert(
      fc.asyncProperty(wish, wish, platform, async (first, second, options) => {
        const { engine, id } = await worldWith(first, options)
        const done = await engine.apply(requestOf(second, id)).catch(error => {
          if (!isBlocked(error)) throw error
        })
        if (!done) return
        const { plan } = await engine.plan(requestOf(second, id))
        expect(plan.counts.unchanged).toBe(docsOf(second).length)
        expect((await engine.apply(requestOf(second, id))).outcome).toEqual({ did: 'nothing' })
      }),
      parameters,
    )
  })

  it('that fails anywhere gives back what was before', async () => {
    const fault = fc.constantFrom<WriteFault>('fail before', 'fail after', 'hang before', 'hang after')
    await fc.assert(
      fc.asyncProperty(wish, wish, platform, fc.nat(30), fault, async (first, second, options, at, fault) => {
        const { ports, engine, id } = await worldWith(first, options)
        const before = await seen(ports)
        let count = 0
        ports.platforms[0].faults.onWrite = () => (count++ === at ? fault : undefined)
        const done = await engine.apply(requestOf(second, id, 'another value')).catch(error => {
          if (!isBlocked(error)) throw error
        })
        if (done?.outcome.did === 'rolled back') expect(await seen(ports)).toEqual(before)
        else expect(count).toBeLessThanOrEqual(at)
      }),
      parameters,
    )
  })

  it('twice at once comes to one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(wish, wish, wish, platform, fc.scheduler(), async (first, one, two, options, scheduler) => {
        const inOrder = async (...wishes: Wish[]) => {
          const { ports, engine, id } = await worldWith(first, options)
          for (const wish of wishes)
            await engine.apply(requestOf(wish, id)).catch(error => {
              if (!isBlocked(error)) throw error
            })
          return seen(ports)
        }
        const { ports, id } = await worldWith(first, options)
        const scheduled = scheduledPorts(ports, scheduler)
        const both = [one, two].map(wish =>
          createEngine(scheduled)
            .apply(requestOf(wish, id))
            .catch(error => {
              if (!isBlocked(error)) throw error
            }),
        )
        await scheduler.waitFor(Promise.all(both))
        expect([await inOrder(one, two), await inOrder(two, one)]).toContainEqual(await seen(ports))
      }),
      { ...parameters, numRuns: Math.ceil(parameters.numRuns / 2) },
    )
  })

  it('shows the value of a secret to nobody: not in a plan, an answer, the store, the journal, the log or an error', async () => {
    await fc.assert(
      fc.asyncProperty(wish, wish, platform, fc.nat(20), async (first, second, options, at) => {
        const { ports, engine, id } = await worldWith(first, options)
        const told: unknown[] = []
        let count = 0
        ports.platforms[0].faults.onWrite = () => {
          told.push(ports.store.dump())
          return count++ === at ? 'fail after' : undefined
        }
        const request = requestOf(second, id, `${value}, changed`)
        told.push(await engine.plan(request, { save: true }))
        told.push(await engine.apply(request, { onProgress: step => told.push(step) }).catch(error => errorText(error)))
        told.push(await engine.history(id, { limit: 100 }), await engine.stack(id), ports.logged, ports.store.dump())
        expect(JSON.stringify(told)).not.toContain(value)
      }),
      parameters,
    )
  })
})

const errorText = (error: unknown) => ({ ...(error as object), text: String(error), stack: (error as Error).stack })

/** Every call of the store waits for its turn, which the scheduler gives. */
function scheduledPorts(ports: MemoryPorts, scheduler: fc.Scheduler): MemoryPorts {
  const slow = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, key) => {
        const found = Reflect.get(target, key) as unknown
        if (key === 'leases' || key === 'journals') return slow(found as object)
        if (typeof found !== 'function') return found
        return async (...args: unknown[]) => {
          await scheduler.schedule(Promise.resolve(), String(key))
          return (found as (...args: unknown[]) => unknown).apply(target, args)
        }
      },
    })
  return { ...ports, store: slow(ports.store) }
}
