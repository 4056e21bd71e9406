// The aims, and what was measured. An aim that is missed is said so; it is no error.
import { printSize } from '../../src/lib/size.ts'
import { type Aim, type Growth, printMs, times } from '../lib/report.ts'
import type { ContenderResult, SeriesResult } from '../lib/rounds.ts'
import { steps } from './names.ts'

/** Null is not measured. */
export interface Measured {
  readonly start: SeriesResult | null
  readonly plan: SeriesResult | null
  /** The largest, on disk. */
  readonly files: SeriesResult | null
  readonly gc: SeriesResult | null
  readonly ansible: SeriesResult | null
  readonly growth: readonly Growth[]
}

type StepName = (typeof steps)[keyof typeof steps]

export function aimsOf({ start, plan, files, gc, ansible, growth }: Measured): Aim[] {
  return [
    ratioAim('no-op apply, ansible copy', 200, ansible, steps.farmAgain, 'ansible, copy'),
    ratioAim('no-op apply, ansible file loop', 200, ansible, steps.farmAgain, 'ansible, file loop'),
    ratioAim('drift check, ansible --check --diff', 50, ansible, steps.status, 'ansible, copy --check --diff'),
    ratioAim('no-op apply, stow -R', 2, files, steps.farmAgain, 'stow -R'),
    ratioAim('first etc entries, stow', 1, files, steps.farmFirst, 'stow'),
    ratioAim('1 % changed in few packages, stow -R', 1, files, steps.changedTogether, 'stow -R'),
    ratioAim('1 % changed in many packages, stow -R', 1, files, steps.changedSpread, 'stow -R'),
    ratioAim('all removed, stow -D', 1, files, steps.removed, 'stow -D'),
    ratioAim('cold import, nix-store --add', 1, files, steps.importCold, 'nix-store --add'),
    ratioAim('cold import, nix-store --add that syncs too', 1, files, steps.importCold, 'nix-store --add, synced'),
    ratioAim('import again, nix-store --add', 5, files, steps.importAgain, 'nix-store --add'),
    ratioAim('verify, nix-store --verify', 1, files, steps.verify, 'nix-store --verify --check-contents'),
    ratioAim('share equal files, nix-store --optimise', 1, files, steps.dedup, 'nix-store --optimise'),
    ratioAim('gc, nix-store --gc', 1, gc, steps.gc, 'nix-store --gc'),
    ratioAim('gc dry run, nix-store --gc --print-dead', 5, gc, steps.gcDryRun, 'nix-store --gc --print-dead'),
    linearAim(growth),
    memoryAim(files),
    planAim(plan),
    startAim(start),
  ]
}

function ratioAim(aim: string, wanted: number, series: SeriesResult | null, step: StepName, rival: string): Aim {
  const ratio = series && contenderOf(series, step, rival)?.ratio?.median
  return judged(ratio, times, { aim, wanted: `theirs / ours at least ${wanted}`, isMet: ratio => ratio >= wanted })
}

/** Less than 1 is what a constant part does; a fifth more is what figures move by. */
const linear = 1.2

function linearAim(growth: readonly Growth[]): Aim {
  const worst = growth.reduce<Growth | null>((most, each) => (most && most.factor >= each.factor ? most : each), null)
  return judged(worst?.factor, factor => `${factor.toFixed(2)} (worst: ${worst?.step})`, {
    aim: 'cost linear in files',
    wanted: `factor at most ${linear}`,
    isMet: factor => factor <= linear,
  })
}

const mostMemory = 200e6

function memoryAim(files: SeriesResult | null): Aim {
  const peaks = files?.steps.flatMap(({ contenders: [ours] }) => ours?.peakBytes ?? []) ?? []
  return judged(peaks.length > 0 ? Math.max(...peaks) : null, printSize, {
    aim: 'peak memory, largest series',
    wanted: `under ${printSize(mostMemory)}`,
    isMet: peak => peak < mostMemory,
  })
}

function planAim(plan: SeriesResult | null): Aim {
  const ms = plan?.steps[0]?.contenders[0]?.ms.median
  return judged(ms, printMs, { aim: steps.plan, wanted: 'under 200 ms', isMet: ms => ms < 200 })
}

function startAim(start: SeriesResult | null): Aim {
  const ratio = start && contenderOf(start, steps.start, 'node -e 0')?.ratio?.median
  const wanted = 'theirs / ours at least 0.33'
  return judged(ratio, times, { aim: 'cairn --version, node -e 0', wanted, isMet: ratio => ratio >= 1 / 3 })
}

function judged(
  value: number | null | undefined,
  print: (value: number) => string,
  { aim, wanted, isMet }: { aim: string; wanted: string; isMet: (value: number) => boolean },
): Aim {
  const isThere = value !== null && value !== undefined
  return { aim, wanted, measured: isThere ? print(value) : null, met: isThere ? isMet(value) : null }
}

function contenderOf({ steps }: SeriesResult, step: StepName, name: string): ContenderResult | undefined {
  return steps.find(each => each.step === step)?.contenders.find(contender => contender.name === name)
}
