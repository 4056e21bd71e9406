// Is this machine as its generation says? The first line answers; below it is only what is not.
import { type Cell, columns } from '../../lib/columns.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import type { Style } from '../../lib/style.ts'
import type { statusOf } from '../../overlay/node.ts'
import type { ExitCode } from '../exit.ts'
import { counted, shortId } from './words.ts'

type Status = Awaited<ReturnType<typeof statusOf>>

export function printStatus(status: Status, style: Style): string {
  const { where } = style
  if (status.generation === null && !hasFaults(status))
    return `Nothing of Cairn is active here. Begin with: cairn node apply -f FILE${where}`
  return [headline(status, style), ...faultLines(status, style), ...nextLines(status, style)].join('\n')
}

export function exitOfStatus(status: Status, { exitCode = false }: { exitCode?: boolean } = {}): ExitCode {
  return exitCode && hasFaults(status) ? 2 : 0
}

const badUnits = ({ units }: Status) => units.filter(unit => unit.problem)

const hasFaults = (status: Status): boolean =>
  status.drift.length > 0 || status.stray.length > 0 || badUnits(status).length > 0 || Boolean(status.openJournal)

function headline(status: Status, style: Style): string {
  const name =
    status.generation === null ? 'No generation' : `Generation ${status.generation} (overlay ${status.version})`
  const faults = [
    ...(status.drift.length > 0 ? [`${counted(status.drift.length, 'target')} changed outside Cairn`] : []),
    ...(badUnits(status).length > 0 ? [`${counted(badUnits(status).length, 'unit')} not well`] : []),
    ...(status.stray.length > 0 ? [`${counted(status.stray.length, 'stray link')}`] : []),
    ...(status.openJournal ? ['an apply was interrupted'] : []),
  ]
  if (faults.length > 0) return style.paint('attention', `${name}: ${faults.join(', ')}.`)
  const active = status.units.filter(unit => unit.active === 'active').length
  const units = status.units.length === 0 ? '' : `, ${active} of ${counted(status.units.length, 'unit')} active`
  return style.paint('done', `${name} is as declared${units}.`)
}

function faultLines(status: Status, style: Style): string[] {
  const rows: Cell[][] = [
    ...status.drift.map(({ target, what, detail }) => [
      { text: '~', tone: 'attention' } as const,
      `/etc/${target}`,
      detail ? `${what}: ${detail}` : what,
    ]),
    ...status.stray.map(target => [
      { text: '~', tone: 'attention' } as const,
      `/etc/${target}`,
      'leads into the store, but no generation has it',
    ]),
    ...badUnits(status).map(({ name, active, sub, problem }) => [
      { text: '✗', tone: 'failed' } as const,
      name,
      `${active} (${sub}): ${problem}`,
    ]),
    ...(status.openJournal ? [[{ text: '✗', tone: 'failed' } as const, 'journal', status.openJournal]] : []),
  ]
  return columns(rows, style)
}

function nextLines({ drift, stray, openJournal, pendingConfirm }: Status, { where, now }: Style): string[] {
  return [
    ...(pendingConfirm
      ? [
          `Not confirmed yet, goes back ${relativeTime(new Date(pendingConfirm.deadline), now)}.`,
          `Keep it: cairn node confirm ${shortId(pendingConfirm.id)}${where}`,
        ]
      : []),
    ...(openJournal ? [`Next: cairn node recover${where}`] : []),
    ...(drift.length + stray.length > 0 && !openJournal
      ? [`Next: cairn node apply -f FILE${where} mends links; an edited file needs --overwrite-drift TARGET`]
      : []),
  ]
}
