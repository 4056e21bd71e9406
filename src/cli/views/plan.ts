// What an apply would do to this machine, and why: packages, /etc, units. The reason stands beside every line.
import { type Cell, columnRows, columns, wrap } from '../../lib/columns.ts'
import { renderWarnings } from '../../lib/render.ts'
import type { Style, Tone } from '../../lib/style.ts'
import type { planNode } from '../../overlay/node.ts'
import type { ExitCode } from '../exit.ts'
import { counted, tally } from './words.ts'

type NodePlan = Awaited<ReturnType<typeof planNode>>
type Unit = NodePlan['units']['start'][number]
type EtcChange = NodePlan['etc']['add'][number]

const signs = {
  '+': 'done',
  '~': 'attention',
  '±': 'attention',
  '-': 'failed',
  '.': 'dim',
} as const satisfies Record<string, Tone>

/** Of one file's content; --json has all of it. */
const mostDiffLines = 40

export function printPlan(plan: NodePlan, style: Style): string {
  const blocked = isBlocked(plan)
  const closing = [
    ...renderWarnings(plan.warnings, style),
    ...(plan.changes ? wrap(summaryOf(plan), style.width) : []),
    ...(plan.changes || blocked ? [] : [`No changes. This machine is as overlay ${plan.version} says.`]),
    ...(blocked ? [style.paint('failed', 'Apply would refuse this. Nothing was changed.')] : []),
  ]
  const blocks = [
    packageLines(plan, style),
    etcLines(plan, style),
    unitLines(plan, style),
    inTheWay(plan, style),
    closing,
  ]
  return blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')
}

export function planToJson(plan: NodePlan) {
  const units = visibleUnits(plan)
  const named = (list: readonly Unit[]) => list.map(({ name, reason }) => ({ name, reason }))
  return {
    ...plan,
    units: {
      start: named(units.start),
      stop: named(units.stop),
      restart: named(units.restart),
      reload: named(units.reload),
      skip: named(units.skip),
    },
  }
}

export function exitOfPlan(plan: NodePlan, { exitCode = false }: { exitCode?: boolean } = {}): ExitCode {
  if (isBlocked(plan)) return 4
  return exitCode && plan.changes ? 2 : 0
}

const isBlocked = ({ etc, problems }: NodePlan): boolean => etc.conflict.length > 0 || problems.length > 0

function packageLines({ packages }: NodePlan, style: Style): string[] {
  const rows = [
    ...packages.add.map(({ name, version }) => row('+', name, version)),
    ...packages.change.map(({ name, version, was }) =>
      row('~', name, was === version ? `${version}, changed` : `${was} → ${version}`),
    ),
    ...packages.remove.map(({ name, version }) => row('-', name, version)),
  ]
  return section('Packages', rows, style)
}

function etcLines({ etc }: NodePlan, style: Style): string[] {
  const changes = [
    ...etc.add.map(change => ({ sign: '+', change }) as const),
    ...etc.change.map(change => ({ sign: '~', change }) as const),
    ...etc.remove.map(change => ({ sign: '-', change }) as const),
  ]
  if (changes.length === 0) return []
  const rows = changes.map(({ sign, change }) => row(sign, change.target, reasonOf(change)))
  const lines = columnRows(rows, style).flatMap((row, index) => [
    ...row,
    ...diffLines(changes[index]?.change.diff, style),
  ])
  return [style.paint('strong', '/etc'), ...lines]
}

const reasonOf = ({ reason, from }: EtcChange): string => (from ? `${reason}, from ${from}` : reason)

function diffLines(diff: readonly string[] = [], style: Style): string[] {
  const shown = diff.slice(0, mostDiffLines).map(line => {
    const tone = line.startsWith('+') ? 'done' : line.startsWith('-') ? 'failed' : 'dim'
    return `      ${style.paint(tone, line)}`
  })
  const more = diff.length - shown.length
  return more > 0 ? [...shown, `      … ${counted(more, 'more line')}; --json has all of them`] : shown
}

function unitLines(plan: NodePlan, style: Style): string[] {
  const { stop, reload, restart, start, skip } = visibleUnits(plan)
  const rows = [
    ...start.map(({ name, reason }) => row('+', `start    ${name}`, reason)),
    ...restart.map(({ name, reason }) => row('±', `restart  ${name}`, reason)),
    ...reload.map(({ name, reason }) => row('~', `reload   ${name}`, reason)),
    ...stop.map(({ name, reason }) => row('-', `stop     ${name}`, reason)),
    ...skip.map(({ name, reason }) => row('.', `leave    ${name}`, reason)),
  ]
  return section('Units', rows, style)
}

function visibleUnits({ units: { start, stop, restart, reload, skip } }: NodePlan) {
  const visible = (list: readonly Unit[]) => list.filter(unit => !unit.hidden)
  return {
    start: visible(start),
    stop: visible(stop),
    restart: visible(restart),
    reload: visible(reload),
    skip: visible(skip),
  }
}

/** A conflict is a problem too, and as such it has a hint. */
function inTheWay({ problems, etc }: NodePlan, style: Style): string[] {
  const said = new Set(problems.map(({ reason }) => reason))
  const unsaid = etc.conflict.filter(({ reason }) => !said.has(reason))
  const rows = [
    ...problems.flatMap(({ reason, hint }) => [
      [mark, reason],
      ...(hint ? [['', { text: hint, tone: 'dim' } as const]] : []),
    ]),
    ...unsaid.map(({ reason }) => [mark, reason]),
  ]
  return section('In the way', rows, style)
}

const mark: Cell = { text: '✗', tone: 'failed' }

function section(title: string, rows: readonly Cell[][], style: Style): string[] {
  return rows.length === 0 ? [] : [style.paint('strong', title), ...columns(rows, style)]
}

const row = (sign: keyof typeof signs, what: string, why: string): Cell[] => [
  { text: sign, tone: signs[sign] },
  what,
  { text: why, tone: 'dim' },
]

function summaryOf(plan: NodePlan): string {
  const { etc } = plan
  const units = visibleUnits(plan)
  const inEtc = tally({ 'to add': etc.add.length, 'to change': etc.change.length, 'to remove': etc.remove.length })
  const ofUnits = tally({
    'to start': units.start.length,
    'to restart': units.restart.length,
    'to reload': units.reload.length,
    'to stop': units.stop.length,
    'left alone': units.skip.length,
  })
  return `Plan for overlay ${plan.version}: /etc ${inEtc || 'unchanged'}; units ${ofUnits || 'untouched'}.`
}
