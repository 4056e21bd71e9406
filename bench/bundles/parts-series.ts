// The pure parts of a plan one by one, in this process and without a database: reading, validating, planning.
import { movableClock } from '../../src/bundles/apply/clock.fake.ts'
import { memoryPlatform } from '../../src/bundles/apply/platform.fake.ts'
import { memoryStore } from '../../src/bundles/apply/store.fake.ts'
import { createEngine } from '../../src/bundles/engine.ts'
import type { Bundle } from '../../src/bundles/model/bundle.ts'
import { defaultLimits } from '../../src/bundles/model/source.ts'
import type { Stack } from '../../src/bundles/model/stack.ts'
import { gatherView } from '../../src/bundles/plan/gather.ts'
import { planStack } from '../../src/bundles/plan/plan.ts'
import { readDocuments } from '../../src/bundles/read/documents.ts'
import { understand } from '../../src/bundles/validate/understand.ts'
import { makeId } from '../../src/lib/id.ts'
import { kinds } from '../../src/resources/kinds/all.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import { spreadOf } from '../lib/statistics.ts'
import { benchBundle } from './data.ts'
import { parts, seriesOf } from './names.ts'

export async function measureParts(count: number, rounds: number): Promise<SeriesResult> {
  const limits = { ...defaultLimits, resources: count }
  const sources = benchBundle(count).yaml
  const context = { kinds, env: {}, options: {}, limits }
  const clock = movableClock()
  const platform = memoryPlatform({ kinds, transaction: 'shared', clientIds: true, clock })
  const ports = {
    store: memoryStore({ clock, platform }),
    platforms: [platform],
    clock,
    newId: () => makeId(clock.now()),
    limits,
    fetchSource: async (path: string) => ({
      code: 'url.unreachable' as const,
      path,
      reason: 'there is no network here',
    }),
    log: () => {},
  }
  const viewOf = (bundle: Bundle, stack: Stack | null) =>
    gatherView(ports, {
      mode: { do: 'apply' },
      stack,
      stackName: 'fleet',
      noStack: false,
      bundle,
      valid: true,
      invalid: new Set(),
      isComplete: true,
      sources: [],
      skip: [],
      env: {},
      secrets: {},
    })

  const { bundle } = understand(readDocuments(sources, limits), context)
  const before = await viewOf(bundle, null)
  const request = { sources, env: {}, secrets: {}, skip: [], options: {}, confirm: [], lockWaitMs: 0, by: 'bench' }
  const { stackId } = await createEngine(ports).apply({ ...request, stackName: 'fleet' })
  const after = await viewOf(bundle, await ports.store.stack(stackId ?? ''))

  const taken = { read: [] as number[], validate: [] as number[], planNew: [] as number[], planSame: [] as number[] }
  for (let round = 0; round < rounds + 3; round++) {
    globalThis.gc?.()
    const documents = cpuOf(taken.read, () => readDocuments(sources, limits))
    cpuOf(taken.validate, () => understand(documents, context))
    // What was decided from a view is kept with it, so each round has a view of its own.
    cpuOf(taken.planNew, () => planStack({ ...before }))
    const plan = cpuOf(taken.planSame, () => planStack({ ...after }))
    if (plan.counts.unchanged !== count) throw new Error('the plan after the apply is not empty')
  }
  return {
    series: seriesOf.parts(count),
    files: count,
    steps: (Object.keys(taken) as (keyof typeof taken)[]).map(part => ({
      step: parts[part],
      contenders: [
        {
          name: 'processor time',
          // The first three warm up.
          ms: spreadOf(taken[part].slice(3)),
          ratio: null,
          peakBytes: null,
          calls: null,
          rounds,
        },
      ],
    })),
    remarks: [],
  }
}

function cpuOf<Result>(taken: number[], work: () => Result): Result {
  const start = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(start)
  taken.push((user + system) / 1000)
  return result
}
