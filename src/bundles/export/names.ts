// metadata.name of what is exported: the recorded one, else one made from display name and id. The same each time.
import { createHash } from 'node:crypto'
import type { Problem } from '../../lib/problem.ts'
import type { Kind } from '../../resources/kind.ts'
import { longestMetadataName } from '../../resources/metadata.ts'
import type { Chosen } from './select.ts'

/** By id. Strict names have `-` for `_`, for tools that know no underscore. */
export function exportNames(
  chosen: readonly Chosen[],
  kinds: ReadonlyMap<string, Kind>,
  { strict }: { strict: boolean },
): { readonly names: ReadonlyMap<string, string>; readonly problems: readonly Problem[] } {
  const names = new Map<string, string>()
  const taken = new Map<string, string>()
  const problems: Problem[] = []
  // Recorded names go first: they are what people wrote.
  const inOrder = [...chosen.filter(one => one.recorded), ...chosen.filter(one => !one.recorded)]
  for (const { live, recorded } of inOrder) {
    const family = kinds.get(live.kind)?.family ?? live.kind
    const wanted = spelt(recorded?.name ?? derivedName(live), strict)
    const clash = taken.get(`${family}/${wanted}`)
    if (clash !== undefined && strict) problems.push(strictClash(live.kind, wanted, clash))
    const name = clash === undefined ? wanted : derivedName(live)
    taken.set(`${family}/${name}`, `${live.kind} "${live.displayName}"`)
    names.set(live.id, name)
  }
  return { names, problems }
}

const spelt = (name: string, strict: boolean): string => (strict ? name.replaceAll('_', '-') : name)

/** Slug of the display name and six figures of the hash of kind and id. */
export function derivedName({ kind, id, displayName }: { kind: string; id: string; displayName: string }): string {
  const hash = createHash('sha256').update(`${kind}/${id}`).digest('hex').slice(0, 6)
  const slug = slugOf(displayName).slice(0, longestMetadataName - hash.length - 1)
  return slug === '' ? `${kind.toLowerCase()}-${hash}` : `${slug.replace(/-+$/, '')}-${hash}`
}

const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

const strictClash = (kind: string, name: string, other: string): Problem => ({
  code: 'name.duplicate',
  path: `${kind}/${name}`,
  reason: `without underscores the name is the same as that of ${other}`,
  hint: 'Rename one of them, or export without strict names.',
})
