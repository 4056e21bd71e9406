// Says in one line why a unit is acted on.
import { basename } from 'node:path'
import type { Comparison } from './compare.ts'
import type { EffectiveUnit } from './effective.ts'

const namedAtMost = 4

export function reasonOf(before: EffectiveUnit, after: EffectiveUnit, { keys }: Comparison): string {
  if (before.base !== after.base) {
    if (before.base === 'masked') return 'no longer masked'
    return after.base === 'here' ? 'now declared here' : 'only its drop-ins are declared now'
  }
  return dropInsOnly(before, after) ?? `${listed(keys)} changed`
}

/** `a`, `a and b`, `a, b and c`; past a few, their number. */
export function listed(names: readonly string[]): string {
  const shown =
    names.length > namedAtMost ? [...names.slice(0, namedAtMost - 1), `${names.length - namedAtMost + 1} more`] : names
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** When whole drop-ins came or went and no text changed, they are the better reason. */
function dropInsOnly(before: EffectiveUnit, after: EffectiveUnit): string | null {
  const [was, is] = [textsByPath(before), textsByPath(after)]
  const added = [...is.keys()].filter(path => !was.has(path))
  const removed = [...was.keys()].filter(path => !is.has(path))
  const edited = [...is].some(([path, text]) => was.has(path) && was.get(path) !== text)
  if (edited || added.length + removed.length === 0) return null
  return [...said(added, 'added'), ...said(removed, 'removed')].join(', ')
}

const textsByPath = ({ texts }: EffectiveUnit) => new Map(texts.map(({ path, text }) => [path, text]))

const said = (paths: readonly string[], what: string) =>
  paths.length === 0
    ? []
    : [`${paths.length === 1 ? 'drop-in' : 'drop-ins'} ${listed(paths.map(path => basename(path)))} ${what}`]
