// Runs a series: its steps in order, round by round, all contenders of a step one after the other and in turns first.
// So what else the machine does meets all of them alike. Ours is the first contender of each step.
import { spawnSync } from 'node:child_process'
import { type Command, CommandFailed, countCalls, runOnce } from './command.ts'
import { ratioOf, type Spread, spreadOf } from './statistics.ts'

export interface Contender extends Command {
  readonly name: string
}

/** Those that are installed. */
export const present = (...contenders: (Contender | undefined)[]): Contender[] =>
  contenders.filter(contender => contender !== undefined)

export interface Step {
  readonly name: string
  readonly contenders: readonly Contender[]
  /** Not measured. */
  before?(): void
  after?(): void
  /** Only in the first round of the series. */
  readonly once?: true
}

export interface Series {
  readonly name: string
  readonly files: number
  readonly rounds: number
  /** One more round before the others, in which system calls are counted and no time is taken. */
  readonly warmUp: boolean
  readonly steps: readonly Step[]
  /** Not measured: brings every contender to where the first step begins. */
  begin?(): void
  /** What was seen besides times; asked for at the end. */
  remarks?(): readonly string[]
}

export interface ContenderResult {
  readonly name: string
  readonly ms: Spread
  /** Theirs over ours; null for ours. */
  readonly ratio: Spread | null
  readonly peakBytes: number | null
  readonly calls: number | null
  readonly rounds: number
}

export interface StepResult {
  readonly step: string
  readonly contenders: readonly ContenderResult[]
}

export interface SeriesResult {
  readonly series: string
  readonly files: number
  readonly steps: readonly StepResult[]
  readonly remarks: readonly string[]
}

interface Tally {
  readonly ms: number[]
  peakBytes: number | null
  calls: number | null
}

export async function runSeries(series: Series, say: (line: string) => void): Promise<SeriesResult> {
  const { name, files, rounds, warmUp, steps } = series
  const tallies = new Map<Contender, Tally>()
  const dropped: string[] = []
  for (const { contenders } of steps)
    for (const contender of contenders) tallies.set(contender, { ms: [], peakBytes: null, calls: null })

  const inTurn = async (round: number, work: (contender: Contender, tally: Tally) => Promise<void>) => {
    series.begin?.()
    for (const { name: step, contenders, before, after, once } of steps) {
      if (once && round > (warmUp ? 0 : 1)) continue
      say(`${name}: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}, ${step}`)
      before?.()
      for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) {
        const tally = tallies.get(contender)
        if (!tally) continue
        try {
          flush()
          await work(contender, tally)
        } catch (error) {
          if (!(error instanceof CommandFailed) || contender === contenders[0]) throw error
          tallies.delete(contender)
          dropped.push(`${contender.name} failed at "${step}" and was left out: ${error.message}`)
        }
      }
      after?.()
    }
  }

  if (warmUp)
    await inTurn(0, async (contender, tally) => {
      tally.calls = await countCalls(contender)
    })
  for (let round = 1; round <= rounds; round++)
    await inTurn(round, async (contender, tally) => {
      const { ms, peakBytes } = await runOnce(contender)
      tally.ms.push(ms)
      if (peakBytes !== null) tally.peakBytes = Math.max(tally.peakBytes ?? 0, peakBytes)
    })
  return {
    series: name,
    files,
    steps: steps.map(step => resultOf(step, tallies)),
    remarks: [...dropped, ...(series.remarks?.() ?? [])],
  }
}

/** So that no command waits for what another one left to be written. */
const flush = () => void spawnSync('sync')

function resultOf({ name, contenders }: Step, tallies: ReadonlyMap<Contender, Tally>): StepResult {
  const [ours] = contenders
  const oursMs = (ours && tallies.get(ours)?.ms) ?? []
  return {
    step: name,
    contenders: contenders.flatMap(contender => {
      const tally = tallies.get(contender)
      if (!tally) return []
      const { ms, peakBytes, calls } = tally
      const ratio = contender === ours ? null : ratioOf(ms, oursMs)
      return [{ name: contender.name, ms: spreadOf(ms), ratio, peakBytes, calls, rounds: ms.length }]
    }),
  }
}
