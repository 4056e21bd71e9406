// What is done with a bundle of one size on one database, through the HTTP API of a real server process: the time that the
// caller waits, and the processor time and memory that the server takes.
import * as bundles from '../../src/server/contract/bundles.ts'
import * as stacks from '../../src/server/contract/stacks.ts'
import type { TestServer } from '../../test/bundles/server.ts'
import type { ContenderResult, SeriesResult, StepResult } from '../lib/rounds.ts'
import { spreadOf } from '../lib/statistics.ts'
import type { BenchBundle } from './data.ts'
import { type DatabaseKind, seriesOf, steps, who } from './names.ts'
import { type Taken, takenBy } from './process.ts'
import { bookkeeping, changedTables, tableMarks } from './writes.ts'

export interface Operations extends SeriesResult {
  readonly database: DatabaseKind
  readonly count: number
  /** Tables that an apply without a change wrote to, besides its bookkeeping. */
  readonly noOpWrites: readonly string[]
}

export interface OperationsOptions {
  readonly server: TestServer
  readonly database: DatabaseKind
  readonly bundle: BenchBundle
  readonly rounds: number
  readonly say: (line: string) => void
}

type StepName = (typeof steps)[keyof typeof steps]

export async function measureOperations(options: OperationsOptions): Promise<Operations> {
  const { server, database, bundle, rounds, say } = options
  const { client } = server
  const { count } = bundle
  const samples = new Map<StepName, Taken<unknown>[]>(Object.values(steps).map(step => [step, []]))
  const noOpWrites = new Set<string>()
  const bookkept = new Set<string>()
  const title = seriesOf.operations(database, count)

  const measured = async <Result>(step: StepName, work: () => Promise<Result>): Promise<Result> => {
    const taken = await takenBy(server.pid(), work)
    samples.get(step)!.push(taken)
    return taken.result
  }
  const plan = (sources: BenchBundle['yaml'], more: { stack?: string; validateOnly?: boolean }) =>
    client.call(bundles.planBundle, { body: { sources: [...sources], ...more } })
  const apply = (sources: BenchBundle['yaml'], more: { stack?: string; stackName?: string }) =>
    client.call(bundles.applyBundle, { body: { sources: [...sources], ...more } })

  for (let round = 0; round <= rounds; round++) {
    say(`${title}: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`)
    if (round === 1) for (const list of samples.values()) list.length = 0
    await measured(steps.validate, () => plan(bundle.yaml, { validateOnly: true }))
    await measured(steps.planNew, () => plan(bundle.yaml, {}))
    const { stackId, plan: made } = await measured(steps.firstApply, () =>
      apply(bundle.yaml, { stackName: `fleet-${count}` }),
    )
    if (!stackId || made.counts.create !== count) throw new Error(`${made.counts.create} of ${count} were made`)
    const stack = stackId
    const same = await measured(steps.planSame, () => plan(bundle.yaml, { stack }))
    if (same.plan.counts.unchanged !== count) throw new Error('the plan after the apply is not empty')
    await measured(steps.planJson, () => plan(bundle.json, { stack }))
    const before = await tableMarks(server)
    await measured(steps.noOp, () => apply(bundle.yaml, { stack }))
    for (const table of changedTables(before, await tableMarks(server)))
      (bookkeeping.includes(table) ? bookkept : noOpWrites).add(table)
    const changed = await measured(steps.onePercent, () => apply(bundle.changed, { stack }))
    if (changed.plan.counts.update !== count / 100) throw new Error(`${changed.plan.counts.update} were changed`)
    await measured(steps.export, () =>
      client.text(bundles.exportBundle, { body: { stacks: [stack] }, accept: 'application/yaml' }),
    )
    await client.call(stacks.deleteStack, { params: { id: stack }, query: { confirm: ['massDelete', 'dataLoss'] } })
  }
  return {
    series: title,
    database,
    count,
    files: count,
    steps: [...samples].map(([step, taken]) => stepResult(step, taken)),
    noOpWrites: [...noOpWrites],
    remarks: [
      `Tables that "${steps.noOp}" wrote to: ${noOpWrites.size === 0 ? 'none' : [...noOpWrites].join(', ')}, besides its bookkeeping (${[...bookkept].join(', ') || 'none'}).`,
    ],
  }
}

function stepResult(step: string, taken: readonly Taken<unknown>[]): StepResult {
  const row = (name: string, ms: readonly number[], peakBytes: number | null): ContenderResult => ({
    name,
    ms: spreadOf(ms),
    ratio: null,
    peakBytes,
    calls: null,
    rounds: ms.length,
  })
  return {
    step,
    contenders: [
      row(
        who.wall,
        taken.map(({ wallMs }) => wallMs),
        null,
      ),
      row(
        who.cpu,
        taken.map(({ cpuMs }) => cpuMs),
        Math.max(...taken.map(({ peakBytes }) => peakBytes)),
      ),
    ],
  }
}
