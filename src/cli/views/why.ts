// What keeps a state in the store: each chain from a root down to it.
import { columns } from '../../lib/columns.ts'
import type { Style } from '../../lib/style.ts'
import type { whyAliveNode } from '../../overlay/node.ts'
import { shortState } from './words.ts'

type Why = Awaited<ReturnType<typeof whyAliveNode>>

export function printWhy({ state, alive, chains }: Why, style: Style): string {
  if (!alive) return `Nothing needs ${shortState(state)}. cairn node gc${style.where} would remove it.`
  return [
    `${shortState(state)} is needed by`,
    ...columns(
      chains.map(chain => [chain.map(shortState).join(' → ')]),
      style,
    ),
  ].join('\n')
}
