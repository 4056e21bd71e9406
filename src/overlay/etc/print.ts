// The dry run: one line a target, `+` new, `~` changed, `-` gone. Colour is put on by who shows it, by the symbol.
import type { EtcPlan } from './plan.ts'
import type { EtcChange } from './summary.ts'

const widest = 56

export function printEtcPlan({ summary }: Pick<EtcPlan, 'summary'>): string {
  const rows = [...marked('+', summary.add), ...marked('~', summary.change), ...marked('-', summary.remove)]
  if (rows.length === 0) return '/etc: no changes.\n'
  const width = rows.reduce((most, { path }) => Math.max(most, Math.min(path.length, widest)), 0)
  const lines = rows.map(({ symbol, path, reason }) => `  ${symbol} ${path.padEnd(width)}  ${reason}`)
  const counts = `${summary.add.length} new, ${summary.change.length} changed, ${summary.remove.length} gone`
  return `${lines.join('\n')}\n/etc: ${counts}.\n`
}

const marked = (symbol: string, changes: readonly EtcChange[]) =>
  changes.map(({ target, reason, from }) => ({
    symbol,
    path: `/etc/${target}`,
    reason: from === undefined ? reason : `${reason} (${from})`,
  }))
