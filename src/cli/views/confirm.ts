// A kept generation, and how to leave it after all.
import type { Style } from '../../lib/style.ts'
import type { confirmNode } from '../../overlay/node.ts'

type Confirmed = Awaited<ReturnType<typeof confirmNode>>

export function printConfirm({ generation }: Confirmed, style: Style): string {
  return `${style.paint('done', `Generation ${generation} is confirmed.`)}\nWay back: cairn node rollback${style.where}`
}
