// An engine's ports in memory, and what a restart or a crash makes of them.
import { makeId } from '../../lib/id.ts'
import type { EnginePorts } from '../engine.ts'
import { defaultLimits } from '../model/source.ts'
import type { Platform } from '../platform.ts'
import type { Store, StoreTransaction } from '../store.ts'
import { testKinds } from '../validate/kinds.fake.ts'
import { hurryingClock, type MovableClock } from './clock.fake.ts'
import { type MemoryPlatform, memoryPlatform } from './platform.fake.ts'
import { type MemoryStore, memoryStore } from './store.fake.ts'

export interface MemoryPorts extends EnginePorts {
  readonly store: MemoryStore
  readonly platforms: readonly [MemoryPlatform, ...MemoryPlatform[]]
  readonly clock: MovableClock
  readonly logged: readonly string[]
}

export interface MemoryPortsOptions {
  /** Of the first platform, which has all test kinds but Foreign. */
  readonly transaction?: 'shared' | 'journal'
  readonly clientIds?: boolean
  readonly clock?: MovableClock
}

/** The second platform, `far`, has the kind Foreign and a journal. */
export function memoryPorts(options: MemoryPortsOptions = {}): MemoryPorts {
  const { transaction = 'shared', clientIds = true, clock = hurryingClock() } = options
  const own = testKinds.filter(({ kind }) => kind !== 'Foreign')
  const foreign = testKinds.filter(({ kind }) => kind === 'Foreign')
  const platform = memoryPlatform({ kinds: own, transaction, clientIds, clock })
  const far = memoryPlatform({ kinds: foreign, transaction: 'journal', clientIds, clock, name: 'far' })
  const logged: string[] = []
  let made = 0
  return {
    store: memoryStore({ clock, ...(transaction === 'shared' && { platform }) }),
    platforms: [platform, far],
    clock,
    logged,
    newId: () => makeId(clock.now(), size => new Uint8Array(size).fill(++made % 32)),
    limits: defaultLimits,
    fetchSource: async url => ({ code: 'url.unreachable', path: url, reason: 'there is no network here' }),
    log: line => logged.push(line),
  }
}

/** The process ends: this call and every later one of these ports throws it, without effect. */
class Crash extends Error {}

export interface CrashPlan {
  /** From 1, over all calls of store and platforms. */
  readonly at: number
  /** `after`: the call has its effect, only nobody gets to know. */
  readonly when: 'before' | 'after'
}

export interface CrashingPorts extends EnginePorts {
  /** Calls so far. */
  calls(): number
  crashed(): boolean
}

/** The same ports for one life of a process. Without a plan it only counts. */
export function crashingPorts(ports: EnginePorts, plan?: CrashPlan): CrashingPorts {
  let calls = 0
  let crashed = false
  const guard =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (crashed) throw new Crash()
      const isThis = ++calls === plan?.at
      if (isThis && plan?.when === 'before') {
        crashed = true
        throw new Crash()
      }
      const result = await call(...args)
      if (isThis) crashed = true
      if (crashed) throw new Crash()
      return result
    }
  const all = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, key) => {
        const value = Reflect.get(target, key) as unknown
        if (typeof value === 'function' && key !== 'fingerprint') return guard(value.bind(target))
        return typeof value === 'object' && value !== null && nested.has(key) ? all(value) : value
      },
    })
  const store: Store = new Proxy(all(ports.store), {
    get: (target, key) =>
      key === 'transaction'
        ? guard((work: (tx: StoreTransaction) => Promise<unknown>) => ports.store.transaction(tx => work(all(tx))))
        : Reflect.get(target, key),
  })
  return {
    ...ports,
    store,
    platforms: ports.platforms.map(platform => all(platform) as Platform),
    // Who is dead waits for nothing.
    clock: {
      ...ports.clock,
      sleep: async (ms, signal) => {
        if (crashed) throw new Crash()
        await ports.clock.sleep(ms, signal)
      },
    },
    calls: () => calls,
    crashed: () => crashed,
  }
}

const nested = new Set<string | symbol>(['leases', 'journals', 'secrets'])
