// Live resources as a table, with the columns that their kind has, or one as the YAML that a bundle would have.
import { stringify } from 'yaml'
import { type Cell, columns } from '../../lib/columns.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import type { Style } from '../../lib/style.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { LiveResource } from '../../server/contract/resources.ts'

export function printResources(
  { kind, resources, wide }: { kind: Kind; resources: readonly LiveResource[]; wide: boolean },
  style: Style,
): string {
  if (resources.length === 0) return `There is no ${kind.kind} yet.`
  const shown = kind.columns.filter(column => wide || !column.wide)
  const head = ['NAME', ...shown.map(({ title }) => title), 'STACK', 'AGE', ...(wide ? ['ID'] : [])]
  const rows = resources
    .toSorted(byDisplayName)
    .map(({ spec, status, metadata }): Cell[] => [
      String(spec.name ?? ''),
      ...shown.map(({ value }) => value({ spec: spec as Spec, status: status as Spec | null }) || '-'),
      metadata.stack ? `${metadata.stack.name}/${metadata.stack.resource}` : '-',
      { text: relativeTime(new Date(metadata.createdAt), style.now), tone: 'dim' },
      ...(wide ? [metadata.id] : []),
    ])
  return columns([head.map(text => ({ text, tone: 'dim' }) as const), ...rows], style, '').join('\n')
}

const byDisplayName = (a: LiveResource, b: LiveResource): number =>
  String(a.spec.name).localeCompare(String(b.spec.name), 'en')

export const printResource = (resource: LiveResource): string => stringify(resource, { lineWidth: 0 }).trimEnd()
