// How a switch of generations ended: apply, rollback and uninstall report alike. What failed comes first, the way back last.
import { type Cell, columns } from '../../lib/columns.ts'
import { unreachable } from '../../lib/errors.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import { renderWarnings } from '../../lib/render.ts'
import type { Style } from '../../lib/style.ts'
import type { ApplyReport } from '../../overlay/report.ts'
import type { ExitCode } from '../exit.ts'
import { shortId, tally } from './words.ts'

type Intent = 'apply' | 'rollback' | 'uninstall'

export const printApply = (report: ApplyReport, style: Style) => printSwitch(report, style, 'apply')
export const printRollback = (report: ApplyReport, style: Style) => printSwitch(report, style, 'rollback')
export const printUninstall = (report: ApplyReport, style: Style) => printSwitch(report, style, 'uninstall')

export function exitOfApply({ outcome }: ApplyReport): ExitCode {
  switch (outcome) {
    case 'nothing to do':
    case 'applied':
      return 0
    case 'rolled back':
      return 1
    case 'undo incomplete':
      return 5
    case 'applied, unhealthy':
      return 6
    default:
      return unreachable(outcome)
  }
}

function printSwitch(report: ApplyReport, style: Style, intent: Intent): string {
  return [
    headline(report, style, intent),
    ...failedLines(report, style),
    ...changeLines(report, style),
    ...report.notes,
    ...renderWarnings(report.warnings, style),
    ...nextLines(report, style, intent),
  ].join('\n')
}

function headline({ outcome, generation, previous, seconds }: ApplyReport, style: Style, intent: Intent): string {
  const took = `${seconds.toFixed(1)} s`
  const before = previous === null ? 'nothing of Cairn is active' : `generation ${previous} is active`
  switch (outcome) {
    case 'nothing to do':
      if (intent === 'uninstall') return 'Nothing to uninstall.'
      return `No changes. Generation ${generation} is as declared.`
    case 'applied':
      if (intent === 'uninstall') return style.paint('done', `Uninstalled in ${took}. /etc is as it was before.`)
      if (intent === 'rollback') return style.paint('done', `Back at generation ${generation} in ${took}.`)
      return style.paint('done', `Generation ${generation} is active after ${took}.`)
    case 'rolled back':
      return style.paint('failed', `Failed and rolled back in ${took}: ${before}, as before.`)
    case 'applied, unhealthy':
      return style.paint('attention', `Generation ${generation} is active after ${took}, but not healthy.`)
    case 'undo incomplete':
      return style.paint('failed', `Failed, and the way back did not work completely.`)
    default:
      return unreachable(outcome)
  }
}

function failedLines({ failed }: ApplyReport, style: Style): string[] {
  return failed.flatMap(({ name, reason, log }) => [
    ...columns([[{ text: '✗', tone: 'failed' }, name, reason]], style),
    ...log.map(line => style.paint('dim', `      ${line}`)),
  ])
}

const doneWords = {
  stop: 'stopped',
  start: 'started',
  restart: 'restarted',
  reload: 'reloaded',
  skip: 'left alone',
} as const
const leftWords = {
  stop: 'to stop',
  start: 'to start',
  restart: 'to restart',
  reload: 'to reload',
  skip: 'left alone',
} as const

function changeLines({ etc, units, acted }: ApplyReport, style: Style): string[] {
  const inEtc = tally({ added: etc.added, changed: etc.changed, removed: etc.removed })
  const words = acted ? doneWords : leftWords
  const unitRows = (['stop', 'start', 'restart', 'reload', 'skip'] as const).flatMap(list =>
    units[list].map(({ name, reason }): Cell[] => [words[list], name, { text: reason, tone: 'dim' }]),
  )
  const left = !acted && unitRows.length > 0 ? ['Units are linked, not touched: no systemd runs here.'] : []
  return [...columns([...(inEtc ? [['/etc', inEtc]] : []), ...unitRows], style), ...left]
}

function nextLines(report: ApplyReport, style: Style, intent: Intent): string[] {
  const { outcome, previous, confirm } = report
  const { where } = style
  switch (outcome) {
    case 'nothing to do':
      return []
    case 'applied':
      if (confirm) return confirmLines(confirm, report, style)
      if (intent === 'uninstall') return [`Way back: cairn node apply -f FILE${where}`]
      return previous === null
        ? [`Way back: cairn node uninstall${where}`]
        : [`Way back: cairn node rollback --to ${previous}${where}`]
    case 'rolled back':
      return ['Next: mend it and apply again; --no-rollback keeps a failed generation for a look.']
    case 'applied, unhealthy':
      return previous === null
        ? [`Next: cairn node status${where}, or back with cairn node uninstall${where}`]
        : [`Next: cairn node status${where}, or back with cairn node rollback --to ${previous}${where}`]
    case 'undo incomplete':
      return [`Next: remove the cause, then cairn node recover${where}`]
    default:
      return unreachable(outcome)
  }
}

function confirmLines({ id, deadline }: NonNullable<ApplyReport['confirm']>, { previous }: ApplyReport, style: Style) {
  const back = previous === null ? 'it is uninstalled' : `generation ${previous} comes back`
  return [
    style.paint('attention', `Not confirmed yet: ${back} ${relativeTime(new Date(deadline), style.now)}.`),
    `Keep it: cairn node confirm ${shortId(id)}${style.where}`,
  ]
}
