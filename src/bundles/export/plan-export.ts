// Writes chosen live resources in the terms of a bundle: names, references, env refs put back, defaults left out. Pure.
import { byName } from '../../lib/by-name.ts'
import { isEqual, type Json } from '../../lib/json.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { withoutDefaults } from '../../resources/canonical.ts'
import { type FieldPath, markedFields } from '../../resources/fields.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { ExportedResource, ExportRequest } from '../engine.ts'
import type { StackResource } from '../model/stack.ts'
import { liveIdOf, respell, spelt } from '../plan/live-terms.ts'
import type { Live } from '../platform.ts'
import { dependencyOrder } from './dependency-order.ts'
import { exportNames } from './names.ts'
import { neededBy } from './needs.ts'
import { atPath, parsePath, putAt } from './path.ts'
import type { Chosen, Selection } from './select.ts'

export interface Written {
  readonly resources: readonly ExportedResource[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

export function exportedOf(selection: Selection, request: Pick<ExportRequest, 'resolve' | 'strictNames'>): Written {
  const { chosen, outside, kinds } = selection
  const { names, problems } = exportNames(chosen, kinds, { strict: request.strictNames === true })
  const byId = new Map(chosen.map(one => [one.live.id, one]))
  const warnings: Warning[] = []
  const terms: Terms = {
    nameOf: id => names.get(id),
    displayNameOf: id => outside.get(id)?.displayName,
    dangling: (live, id) => void warnings.push(dangling(live, id)),
  }
  const ordered = dependencyOrder(
    chosen.map(one => ({
      id: one.live.id,
      sortKey: `${one.live.kind}/${names.get(one.live.id)}`,
      needs: neededBy(one.live, kinds.get(one.live.kind)).flatMap(({ id }) => (id === undefined ? [] : [id])),
    })),
  )
  const resources = ordered.map(id => written(byId.get(id)!, kinds, terms, request.resolve === true))
  return { resources, problems, warnings }
}

interface Terms {
  /** metadata.name in this export. */
  nameOf(id: string): string | undefined
  displayNameOf(id: string): string | undefined
  dangling(live: Live, id: string): void
}

function written({ live, recorded, as }: Chosen, kinds: Selection['kinds'], terms: Terms, resolve: boolean) {
  const kind = kinds.get(live.kind)
  const name = terms.nameOf(live.id) ?? live.id
  const displayName = as ?? live.displayName
  const spec: Record<string, unknown> = {
    ...(displayName !== name && { name: displayName }),
    ...(kind ? withoutDefaults(kind, inBundleTerms(kind, live, terms)) : live.spec),
    ...(live.associations.length > 0 && { associations: associationsOf(live, terms) }),
  }
  const metadata: Record<string, unknown> = { name, ...lifecycleOf(recorded) }
  if (recorded && !resolve) putEnvRefsBack({ metadata, spec }, recorded, { kind, displayName, name })
  return { apiVersion: live.apiVersion, kind: live.kind, metadata, spec }
}

const inBundleTerms = (kind: Kind, live: Live, terms: Terms): Spec =>
  respell(kind, live.spec, (reference, kinds) => {
    const to = liveIdOf(reference, kinds)
    return to ? spelt(to.kind, kinds, named(live, to.id, terms)) : reference
  })

function named(live: Live, id: string, terms: Terms): { name: string } | { external: string } {
  const name = terms.nameOf(id)
  if (name !== undefined) return { name }
  const displayName = terms.displayNameOf(id)
  if (displayName === undefined) terms.dangling(live, id)
  return { external: displayName ?? id }
}

function associationsOf(live: Live, terms: Terms): Json[] {
  const written = live.associations.map(({ kind, id }) => ({ kind, ...named(live, id, terms) }))
  return written.toSorted((a, b) => byName(JSON.stringify(a), JSON.stringify(b)))
}

const lifecycleOf = (recorded: StackResource | null) =>
  recorded && Object.keys(recorded.lifecycle).length > 0 ? { lifecycle: recorded.lifecycle } : {}

/** Only where live still is what the ref gave; elsewhere the value that is live stands. `spec` is in the terms of the bundle. */
function putEnvRefsBack(
  { metadata, spec }: { metadata: Record<string, unknown>; spec: Record<string, unknown> },
  { envRefs, lastApplied, name: recordedName }: StackResource,
  live: { readonly kind: Kind | undefined; readonly displayName: string; readonly name: string },
) {
  const { kind } = live
  for (const { path, key, type, value, default: fallback } of envRefs) {
    const envRef = { envRef: { key, ...(fallback !== undefined && { default: fallback }), ...(type && { type }) } }
    const [root, ...rest] = parsePath(path)
    if (root === 'metadata') {
      if (rest[0] !== 'name') Object.assign(metadata, putAt(metadata as Json, rest, envRef))
      else if (live.name === recordedName) metadata.name = envRef
    } else if (rest[0] === 'name') {
      if (lastApplied?.name === live.displayName) spec.name = envRef
    } else {
      const now = atPath(spec, rest)
      const isStill = now !== undefined && isEqual(now as Json, atPath(lastApplied, rest) as Json)
      if (isStill && (!isInSet(kind, spec, rest) || String(now) === String(value)))
        Object.assign(spec, putAt(spec as Json, rest, envRef))
    }
  }
}

/** Whether the place is in a set. Members of one are sorted, so that the place alone does not tell which one it was. */
function isInSet(kind: Kind | undefined, spec: Readonly<Record<string, unknown>>, path: FieldPath): boolean {
  const sets = kind && path.some(part => typeof part === 'number') ? markedFields(kind.spec, spec) : []
  return sets.some(({ path: of, mark }) => mark.set && of.every((part, depth) => part === path[depth]))
}

const dangling = ({ kind, displayName }: Live, id: string): Warning => ({
  code: 'export.dangling',
  path: `${kind}/${displayName}`,
  reason: `refers to ${id}, which is no longer there`,
  hint: 'Point it to something that exists before you apply this.',
})
