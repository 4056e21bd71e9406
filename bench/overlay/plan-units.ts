// The pure plan over many units, in this process: what a switch decides, without disk or systemd.
import type { UnitName } from '../../src/overlay/names.ts'
import type { UnitStatus } from '../../src/overlay/systemd/systemd.ts'
import type { UnitTree } from '../../src/overlay/units/action.ts'
import { planUnits } from '../../src/overlay/units/plan.ts'
import type { ContenderResult, SeriesResult } from '../lib/rounds.ts'
import { spreadOf } from '../lib/statistics.ts'
import { seriesOf, steps } from './names.ts'

/** The first time is what a command waits for; later ones have compiled code. */
export function planManyUnits(units: number, rounds: number): SeriesResult {
  const names = Array.from({ length: units }, (_, number) => `app-${number}.service` as UnitName)
  const before = {
    old: treeOf(names, 'one'),
    new: treeOf(names, 'two'),
    live: new Map(names.map(name => [name, running(name)])),
    start: new Set<UnitName>(),
  }
  const [first = Number.NaN, ...later] = Array.from({ length: rounds + 1 }, () => {
    globalThis.gc?.()
    const started = performance.now()
    planUnits(before)
    return performance.now() - started
  })
  return {
    series: seriesOf.plan,
    files: 0,
    steps: [
      {
        step: steps.plan,
        contenders: [result('planUnits, half of them changed', [first]), result('the same again', later)],
      },
    ],
    remarks: [],
  }
}

const result = (name: string, ms: readonly number[]): ContenderResult => ({
  name,
  ms: spreadOf(ms),
  ratio: null,
  peakBytes: null,
  calls: null,
  rounds: ms.length,
})

function treeOf(names: readonly UnitName[], word: string): UnitTree {
  const tree = new Map<string, { text: string } | { link: string }>()
  names.forEach((name, number) => {
    const argument = number % 2 === 0 ? word : 'same'
    tree.set(name, {
      text: `[Unit]
Description=${name}
After=network.target

[Service]
ExecStart=/cairn/states/app/bin/run ${argument}
Environment=PATH=/usr/bin:/bin
Restart=on-failure

[Install]
WantedBy=multi-user.target
`,
    })
    tree.set(`multi-user.target.wants/${name}`, { link: `../${name}` })
  })
  return tree
}

const running = (unit: UnitName): UnitStatus => ({
  unit,
  id: unit,
  load: 'loaded',
  active: 'active',
  sub: 'running',
  fragmentPath: `/etc/systemd/system/${unit}`,
  dropInPaths: [],
  needDaemonReload: false,
  mainPid: 1,
  mainStatus: 0,
  result: 'success',
  restarts: 0,
  refuseManualStart: false,
  refuseManualStop: false,
  startTimeoutMs: 90_000,
  stopTimeoutMs: 90_000,
  wantedBy: [],
  triggeredBy: [],
})
