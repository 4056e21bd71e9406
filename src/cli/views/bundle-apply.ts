// What an apply did.
import type { ApplyAnswer } from '../../bundles/request.ts'
import { type Cell, columns } from '../../lib/columns.ts'
import { renderWarnings } from '../../lib/render.ts'
import type { Style } from '../../lib/style.ts'
import type { ExitCode } from '../exit.ts'
import { exitOfOutcome, printOutcome } from './stack.ts'
import { tally } from './words.ts'

type Applied = ApplyAnswer & {
  readonly readiness?: {
    readonly ready: boolean
    readonly waiting: readonly { readonly kind: string; readonly name: string; readonly reason: string }[]
  }
}

export function exitOfApplied({ outcome, readiness }: Applied): ExitCode {
  const exit = exitOfOutcome(outcome)
  return exit === 0 && readiness?.ready === false ? 6 : exit
}

export function printApplied({ plan, outcome, warnings, readiness, stackId }: Applied, style: Style): string {
  const { create, update, replace, adopt, forget, delete: deleted } = plan.counts
  const did = tally({ created: create, updated: update, replaced: replace, adopted: adopt, forgotten: forget, deleted })
  const name = plan.stack?.name
  const made = outcome.did === 'applied' && outcome.madeStack ? `, stack ${name} made (${stackId})` : ''
  const done = `Applied${name === undefined ? '' : ` to stack ${name}`}: ${did || smallerChanges(plan)}${made}.`
  const nothing = name === undefined ? 'No changes.' : `No changes. Stack ${name} is as declared.`
  const waiting = (readiness?.waiting ?? []).map(({ kind, name, reason }): Cell[] => [
    { text: '…', tone: 'attention' },
    `${kind}/${name}`,
    { text: reason, tone: 'dim' },
  ])
  return [
    ...renderWarnings(warnings, style),
    outcome.did === 'nothing' ? nothing : printOutcome(outcome, style, done),
    ...(readiness
      ? [readiness.ready ? 'Everything is ready.' : style.paint('attention', 'Applied, but not ready in time:')]
      : []),
    ...columns(waiting, style),
  ].join('\n')
}

/** When no resource was made, changed or taken away. */
function smallerChanges({ associations, secrets }: ApplyAnswer['plan']): string {
  const linked = associations.some(({ action }) => action === 'create' || action === 'delete')
  if (linked) return 'associations changed'
  return secrets.length > 0 ? 'secrets changed' : 'nothing live changed; the record follows'
}
