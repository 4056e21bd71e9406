// What Prepare put into the store: one line when everything was there, else each new package.
import { columns } from '../../lib/columns.ts'
import { renderWarnings } from '../../lib/render.ts'
import { printSize } from '../../lib/size.ts'
import type { Style } from '../../lib/style.ts'
import type { prepareNode } from '../../overlay/node.ts'
import { counted, shortState } from './words.ts'

type PrepareReport = Awaited<ReturnType<typeof prepareNode>>

export function printPrepare(report: PrepareReport, style: Style): string {
  const { version, packages, warnings, savedBytes } = report
  const fresh = packages.filter(found => found.fresh).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const there = packages.length - fresh.length
  return [
    ...(fresh.length === 0
      ? [`Nothing to prepare. Overlay ${version} is in the store: ${counted(there, 'package')}.`]
      : [
          `Prepared overlay ${version}: ${fresh.length} new, ${there} already in the store.`,
          ...columns(
            fresh.map(({ name, version, kind, size, state }) => [
              { text: '+', tone: 'done' },
              name,
              kind === 'source' ? version : kind,
              printSize(size),
              { text: shortState(state), tone: 'dim' },
            ]),
            style,
          ),
        ]),
    ...(savedBytes ? [`Equal files were linked: ${printSize(savedBytes)} saved.`] : []),
    ...renderWarnings(warnings, style),
    ...(fresh.length === 0 ? [] : ['Nothing was activated.']),
  ].join('\n')
}
