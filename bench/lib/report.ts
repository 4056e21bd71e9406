// The values of a run, and how they are printed: Markdown, which reads well in a terminal and in docs/.
import { printSize } from '../../src/lib/size.ts'
import type { Machine } from './machine.ts'
import type { ContenderResult, SeriesResult } from './rounds.ts'
import type { Spread } from './statistics.ts'
import type { Tool } from './tool.ts'

export interface Aim {
  readonly aim: string
  readonly wanted: string
  /** Null when the rival is missing. */
  readonly measured: string | null
  readonly met: boolean | null
}

export interface Growth {
  readonly step: string
  readonly small: { readonly files: number; readonly ms: number }
  readonly large: { readonly files: number; readonly ms: number }
  /** Time at the large size over time at the small one, over the same of the files: 1 is linear. */
  readonly factor: number
}

export interface SuiteReport {
  readonly suite: string
  readonly tools: readonly Tool[]
  readonly series: readonly SeriesResult[]
  readonly growth: readonly Growth[]
  readonly aims: readonly Aim[]
  readonly remarks: readonly string[]
}

export interface RunReport {
  readonly date: string
  readonly cairn: string
  readonly node: string
  readonly machine: Machine
  readonly quick: boolean
  readonly suites: readonly SuiteReport[]
}

export const printReport = (report: RunReport): string =>
  [...printRun(report), ...report.suites.flatMap(printSuite)].join('\n\n')

/** A document of sections, with those of these suites instead of what it had; the others stay. */
export function withSuites(document: string, report: RunReport): string {
  const { suites } = report
  const [head = '', ...sections] = document.split(/^(?=## )/m)
  const kept = sections.filter(section => !suites.some(({ suite }) => section.startsWith(`## ${suite}\n`)))
  const made = suites.map(suite => {
    const [title, ...rest] = printSuite(suite)
    return [title, ...printRun(report), ...rest].join('\n\n')
  })
  return `${[head, ...kept, ...made].map(part => part.trimEnd()).join('\n\n')}\n`
}

function printRun({ date, cairn, node, machine, quick }: RunReport): string[] {
  const { cores, processor, memoryBytes, kernel, fileSystem } = machine
  return [
    `Cairn ${cairn}, Node ${node}. ${date}, ${cores} cores (${processor}), ${printSize(memoryBytes)} memory, Linux ${kernel}, ${fileSystem}.`,
    ...(quick ? ['A quick run: small sizes, too few rounds to rely on.'] : []),
  ]
}

function printSuite({ suite, tools, series, growth, aims, remarks }: SuiteReport): string[] {
  return [
    `## ${suite}`,
    `Beside: ${tools.map(printTool).join(', ')}.`,
    '### Aims',
    table(
      ['aim', 'wanted', 'measured', ''],
      aims.map(({ aim, wanted, measured, met }) => [
        aim,
        wanted,
        measured ?? 'not measured',
        met === null ? '' : met ? 'met' : 'not met',
      ]),
    ),
    ...series.flatMap(printSeries),
    ...(growth.length > 0
      ? [
          '### Growth',
          table(
            ['step', 'small', 'large', 'factor (1 is linear)'],
            growth.map(({ step, small, large, factor }) => [step, perFile(small), perFile(large), factor.toFixed(2)]),
          ),
        ]
      : []),
    '### Remarks',
    remarks.map(remark => `- ${remark}`).join('\n'),
  ]
}

const printTool = ({ name, version, path }: Tool) => (path ? `${name} ${version ?? ''}`.trim() : `${name} (missing)`)

export function printSeries({ series, steps, remarks }: SeriesResult): string[] {
  const rows = steps.flatMap(({ step, contenders }) =>
    contenders.map((contender, index) => [index === 0 ? step : '', ...printContender(contender)]),
  )
  return [
    `### ${series}`,
    ...(rows.length > 0
      ? [table(['step', 'who', 'median', 'min – max', 'theirs / ours', 'rounds', 'peak memory', 'system calls'], rows)]
      : []),
    ...(remarks.length > 0 ? [remarks.map(remark => `- ${remark}`).join('\n')] : []),
  ]
}

function printContender({ name, ms, ratio, rounds, peakBytes, calls }: ContenderResult): string[] {
  return [
    name,
    printMs(ms.median),
    `${printMs(ms.min)} – ${printMs(ms.max)}`,
    ratio ? printRatio(ratio) : '',
    String(rounds),
    peakBytes === null ? '' : printSize(peakBytes),
    calls === null ? '' : calls.toLocaleString('en'),
  ]
}

const printRatio = ({ median, min, max }: Spread) => `${times(median)} (${times(min)} – ${times(max)})`

export const times = (ratio: number): string => ratio.toFixed(ratio < 10 ? 2 : 0)

export const printMs = (ms: number): string =>
  ms >= 10_000
    ? `${(ms / 1000).toFixed(1)} s`
    : ms >= 1000
      ? `${(ms / 1000).toFixed(2)} s`
      : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`

const perFile = ({ files, ms }: Growth['small']) =>
  `${((ms * 1000) / files).toFixed(0)} µs a file (${files.toLocaleString('en')} files, ${printMs(ms)})`

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0), 3))
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n')
}
