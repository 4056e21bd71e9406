// The aims, and what was measured. An aim that is missed is said so; it is no error.
import { printSize } from '../../src/lib/size.ts'
import { type Aim, printMs, times } from '../lib/report.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import { databases, parts, steps, who } from './names.ts'
import type { Operations } from './operations.ts'

const most = { planMs: 1_000, peakBytes: 400e6, growth: 1.5 }

export function aimsOf(inMemory: SeriesResult | null, all: readonly Operations[]): Aim[] {
  return [...(inMemory ? planningAims(inMemory) : []), ...serverAims(all)]
}

function planningAims(inMemory: SeriesResult): Aim[] {
  const medianOf = (step: string) =>
    inMemory.steps.find(each => each.step === step)?.contenders[0]?.ms.median ?? Number.NaN
  const before = medianOf(parts.read) + medianOf(parts.validate)
  return [parts.planNew, parts.planSame].map(part =>
    below(
      `processor time of reading, validating and "${part}", ${inMemory.files.toLocaleString('en')} resources in memory`,
      most.planMs,
      before + medianOf(part),
      printMs,
    ),
  )
}

function serverAims(all: readonly Operations[]): Aim[] {
  return Object.entries(databases).flatMap(([kind, title]) => {
    const own = all.filter(({ database }) => database === kind).sort((a, b) => a.count - b.count)
    const [least, greatest] = [own[0], own.at(-1)]
    if (!least || !greatest) return []
    const on = (aim: string) => `${aim}, ${greatest.count.toLocaleString('en')} resources, ${title}`
    const peak = Math.max(...greatest.steps.flatMap(({ contenders }) => contenders.map(row => row.peakBytes ?? 0)))
    const noOpWrites = own.flatMap(({ noOpWrites }) => noOpWrites).length
    return [
      ...[steps.planNew, steps.planSame, steps.planJson].map(step =>
        below(
          on(`processor time of "${step}" in the server, everything included`),
          most.planMs,
          cpuOf(greatest, step),
          printMs,
        ),
      ),
      below(on('memory of the server at most'), most.peakBytes, peak, printSize),
      {
        aim: `tables written by "${steps.noOp}", ${title}`,
        wanted: '0',
        measured: String(noOpWrites),
        met: noOpWrites === 0,
      },
      ...Object.values(steps).map(step => growthAim(step, title, least, greatest)),
    ]
  })
}

/** Each request costs something however small it is, so that linear gives less than 1. */
function growthAim(step: string, title: string, least: Operations, greatest: Operations): Aim {
  const perResource = (one: Operations) => cpuOf(one, step) / one.count
  const growth = perResource(greatest) / perResource(least)
  const sizes = `${greatest.count.toLocaleString('en')} / ${least.count.toLocaleString('en')}`
  return {
    aim: `processor time a resource of "${step}", ${sizes}, ${title}`,
    wanted: `at most ${times(most.growth)}`,
    measured: times(growth),
    met: growth <= most.growth,
  }
}

const cpuOf = ({ steps }: Operations, step: string): number =>
  steps.find(each => each.step === step)?.contenders.find(({ name }) => name === who.cpu)?.ms.median ?? Number.NaN

const below = (aim: string, wanted: number, value: number, print: (value: number) => string): Aim => ({
  aim,
  wanted: `under ${print(wanted)}`,
  measured: print(value),
  met: value < wanted,
})
