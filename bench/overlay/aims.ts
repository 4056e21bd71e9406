// The aims, and what was measured. An aim that is missed is said so; it is no error.
import { printSize } from '../../src/lib/size.ts'
import { type Aim, type Growth, printMs, times } from '../lib/report.ts'
import type { ContenderResult, SeriesResult } from '../lib/rounds.ts'
import { steps } from './names.ts'

export interface Measured {
  readonly start: SeriesResult
  readonly plan: SeriesResult
  /** The largest, on disk. */
  readonly files: SeriesResult
  readonly gc: SeriesResult
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
  return {
    aim,
    wanted: `theirs / ours at least ${wanted}`,
    measured: ratio == null ? null : times(ratio),
    met: ratio == null ? null : ratio >= wanted,
  }
}

/** Less than 1 is what a constant part does; a fifth more is what figures move by. */
const linear = 1.2

function linearAim(growth: readonly Growth[]): Aim {
  const worst = growth.reduce<Growth | null>((most, each) => (most && most.factor >= each.factor ? most : each), null)
  return {
    aim: 'cost linear in files',
    wanted: `factor at most ${linear}`,
    measured: worst && `${worst.factor.toFixed(2)} (worst: ${worst.step})`,
    met: worst && worst.factor <= linear,
  }
}

const mostMemory = 200e6

function memoryAim({ files, steps }: SeriesResult): Aim {
  const peaks = steps.flatMap(({ contenders: [ours] }) => ours?.peakBytes ?? [])
  const peak = peaks.length > 0 ? Math.max(...peaks) : null
  return {
    aim: `peak memory at ${files.toLocaleString('en')} files`,
    wanted: `under ${printSize(mostMemory)}`,
    measured: peak === null ? null : printSize(peak),
    met: peak === null ? null : peak < mostMemory,
  }
}

function planAim({ steps: [step] }: SeriesResult): Aim {
  const ms = step?.contenders[0]?.ms.median ?? Number.NaN
  return { aim: steps.plan, wanted: 'under 200 ms', measured: printMs(ms), met: ms < 200 }
}

function startAim(start: SeriesResult): Aim {
  const [cairn, node] = ['cairn --version', 'node -e 0'].map(name => contenderOf(start, steps.start, name)?.ms.median)
  const ratio = (cairn ?? Number.NaN) / (node ?? Number.NaN)
  return { aim: 'cairn --version, node -e 0', wanted: 'at most 3 times', measured: times(ratio), met: ratio <= 3 }
}

function contenderOf({ steps }: SeriesResult, step: StepName, name: string): ContenderResult | undefined {
  return steps.find(each => each.step === step)?.contenders.find(contender => contender.name === name)
}
