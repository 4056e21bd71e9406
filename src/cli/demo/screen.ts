// What the demo shows: a line for each step that is done, a line for each machine, how it ended, and what to try now.
import { join } from 'node:path'
import { type Cell, columns } from '../../lib/columns.ts'
import { printSize } from '../../lib/size.ts'
import type { Style } from '../../lib/style.ts'
import { counted } from '../views/words.ts'
import { type DemoMachine, fromHere } from './homelab.ts'
import type { ActivatedView, PreparedView } from './machine.ts'

/** How far a machine is. */
export interface MachineView {
  readonly name: string
  readonly url: string
  readonly step: Step
  readonly prepared?: PreparedView
  readonly activated?: ActivatedView
}

const steps = ['waiting', 'preparing', 'prepared', 'switching', 'done'] as const
export type Step = (typeof steps)[number]

/** Everything that stands above the machines. */
export function headLines(machines: readonly DemoMachine[], directory: string, style: Style): string[] {
  const done = { text: '✓', tone: 'done' } as const
  const names = machines.map(({ name }) => name).join(', ')
  const total = (count: (machine: DemoMachine) => number) => machines.reduce((sum, each) => sum + count(each), 0)
  const units = total(({ config }) => Object.keys(config.systemdUnitsByName ?? {}).length)
  const checks = total(({ config }) => config.checks?.length ?? 0)
  return [
    ...columns(
      [
        [
          done,
          'configs',
          `examples/homelab: ${counted(machines.length, 'machine')}, ${counted(units, 'unit')}, ${counted(checks, 'check')}`,
        ],
        [done, 'machines', `${names} below ${fromHere(directory)}: no root, no network, real processes`],
      ],
      style,
    ),
    '',
  ]
}

export function machineLines(views: readonly MachineView[], style: Style): string[] {
  return columns(
    views.map(view => [
      { text: view.name, tone: 'strong' },
      `${wordFor(view).padEnd(9)} ${bar(steps.indexOf(view.step) / (steps.length - 1))}`,
      ...amounts(view),
      ...ending(view),
    ]),
    style,
  )
}

function wordFor({ step, activated }: MachineView): string {
  return activated ? (activated.healthy ? 'active' : 'failed') : step
}

function amounts({ prepared }: MachineView): Cell[] {
  return prepared ? [`${counted(prepared.packages, 'package')}, ${printSize(prepared.bytes)}`] : []
}

function ending({ url, activated }: MachineView): Cell[] {
  if (!activated) return []
  const up = activated.units.filter(({ active }) => active === 'active').length
  return [
    activated.generation === null ? 'no generation' : `generation ${activated.generation}`,
    `${counted(up, 'unit')} running`,
    activated.healthy ? { text: 'healthy', tone: 'done' } : { text: activated.outcome, tone: 'failed' },
    { text: url, tone: 'dim' },
  ]
}

const barWidth = 16

function bar(fraction: number): string {
  const full = Math.round(fraction * barWidth)
  return `▕${'█'.repeat(full)}${'░'.repeat(barWidth - full)}▏`
}

export const isHealthy = ({ activated }: MachineView): boolean => activated?.healthy === true

export function endLines(views: readonly MachineView[], seconds: number, style: Style): string[] {
  const failed = views.filter(view => !isHealthy(view))
  const took = `after ${seconds.toFixed(1)} s`
  if (failed.length === 0) return [style.paint('done', `  All ${views.length} machines are as declared ${took}.`)]
  return [
    ...failed.flatMap(({ name, activated }) => failureLines(name, activated!, style)),
    style.paint('failed', `  ${failed.length} of ${counted(views.length, 'machine')} not healthy ${took}.`),
  ]
}

function failureLines(name: string, { failed }: ActivatedView, style: Style): string[] {
  return failed.flatMap(({ name: what, reason, log }) => [
    ...columns([[{ text: '✗', tone: 'failed' }, name, what, reason]], style),
    ...log.map(line => style.paint('dim', `      ${line}`)),
  ])
}

/** Each of them works as it stands, in a terminal with the same working directory. */
export function tryLines(
  { name, file, urls }: DemoMachine,
  { cairn, directory }: { cairn: string; directory: string },
  style: Style,
): string[] {
  const root = fromHere(join(directory, name))
  const rows = [
    [`change the greeting in ${file}, then`, ''],
    [`${cairn} node apply -f ${file} --root ${root}`, 'web.service is reloaded, not restarted'],
    ['make it empty and apply again', 'its check fails, and it goes back by itself'],
    [`${cairn} node rollback --root ${root}`, 'the generation before, without network'],
    [`${cairn} node status --root ${root}`, 'is it as declared?'],
    [`curl ${urls[0]?.origin ?? ''}`, 'what the web service says'],
    [`tail ${join(root, 'run/cairn/log/web.service.log')}`, 'what it has logged'],
  ] as const
  return [
    '  Try, in another terminal:',
    ...columns(
      rows.map(([what, about]) => [what, { text: about, tone: 'dim' }]),
      style,
      '    ',
    ),
    '',
    `  Ctrl-C ends the units and removes ${fromHere(directory)}`,
  ]
}
