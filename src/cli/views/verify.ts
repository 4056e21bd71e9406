// Which states are no longer what was sealed, in what way, and whether that is mended.
import { columns } from '../../lib/columns.ts'
import { printSize } from '../../lib/size.ts'
import type { Style } from '../../lib/style.ts'
import type { DamagedState as Damaged, Verified } from '../../overlay/verify.ts'
import type { ExitCode } from '../exit.ts'
import { counted, shortState } from './words.ts'

/** Of one state; --json has all of them. */
const mostDifferences = 20

export function printVerify(verified: Verified, style: Style): string {
  const { checked, bytes, damaged } = verified
  const looked = `${counted(checked, 'state')}, ${printSize(bytes)}`
  if (damaged.length === 0) return style.paint('done', `All is as sealed: ${looked}.`)
  const left = damaged.filter(({ repaired }) => !repaired)
  const mended = damaged.length - left.length
  return [
    ...damaged.toSorted((a, b) => (a.state < b.state ? -1 : 1)).flatMap(state => stateLines(state, style)),
    `Checked ${looked}: ${counted(damaged.length, 'damaged state')}${mended > 0 ? `, ${mended} repaired` : ''}.`,
    ...(left.length > 0 && left.every(({ repaired }) => repaired === undefined)
      ? [`Next: cairn node verify --repair${style.where}`]
      : []),
  ].join('\n')
}

export const exitOfVerify = ({ damaged }: Verified): ExitCode => (damaged.every(({ repaired }) => repaired) ? 0 : 1)

function stateLines({ state, differences, repaired, reason }: Damaged, style: Style): string[] {
  const title = repaired ? 'repaired' : repaired === false ? `not repaired: ${reason}` : 'damaged'
  const more = differences.length - mostDifferences
  return [
    ...columns(
      [[{ text: repaired ? '✓' : '✗', tone: repaired ? 'done' : 'failed' }, shortState(state), title]],
      style,
      '',
    ),
    ...columns(
      differences.slice(0, mostDifferences).map(({ path, what }) => [path, { text: what, tone: 'dim' }]),
      style,
      '     ',
    ),
    ...(more > 0 ? [`     … ${counted(more, 'more difference')}; --json has all of them`] : []),
  ]
}
