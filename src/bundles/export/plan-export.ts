// Writes chosen live resources in the terms of a bundle: names, references, env refs put back, defaults left out. Pure.
import type { Json } from '../../lib/json.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { withoutDefaults } from '../../resources/canonical.ts'
import { type FieldPath, markedFields } from '../../resources/fields.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { ExportedResource, ExportRequest } from '../engine.ts'
import type { StackResource } from '../model/stack.ts'
import type { Live } from '../platform.ts'
import { dependencyOrder } from './dependency-order.ts'
import { exportNames } from './names.ts'
import { neededBy, storedReference } from './needs.ts'
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
  if (recorded && !resolve) putEnvRefsBack({ metadata, spec }, recorded, { ...live, displayName, name })
  return { apiVersion: live.apiVersion, kind: live.kind, metadata, spec }
}

function inBundleTerms(kind: Kind, live: Live, terms: Terms): Spec {
  let spec: Json = live.spec as Json
  for (const { path, mark, value } of markedFields(kind.spec, live.spec)) {
    const referred = mark.reference && storedReference(value)
    if (referred) spec = putAt(spec, path, referenceTo(live, referred, terms))
  }
  return spec as Spec
}

function referenceTo(live: Live, { kind, id }: { kind?: string; id: string }, terms: Terms): Json {
  const of = kind === undefined ? {} : { kind }
  const name = terms.nameOf(id)
  if (name !== undefined) return { ...of, name }
  const displayName = terms.displayNameOf(id)
  if (displayName === undefined) terms.dangling(live, id)
  return { ...of, external: displayName ?? id }
}

function associationsOf(live: Live, terms: Terms): Json[] {
  const written = live.associations.map(({ kind, id }) => referenceTo(live, { kind, id }, terms))
  return written.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

const lifecycleOf = (recorded: StackResource | null) =>
  recorded && Object.keys(recorded.lifecycle).length > 0 ? { lifecycle: recorded.lifecycle } : {}

/** Only where live still is what the ref gave; elsewhere the value that is live stands. */
function putEnvRefsBack(
  { metadata, spec }: { metadata: Record<string, unknown>; spec: Record<string, unknown> },
  { envRefs, lastApplied, name: recordedName }: StackResource,
  live: Pick<Live, 'displayName' | 'spec'> & { readonly name: string },
) {
  for (const { path, key, type, default: fallback } of envRefs) {
    const envRef = { envRef: { key, ...(fallback !== undefined && { default: fallback }), ...(type && { type }) } }
    const [root, ...rest] = parsePath(path)
    if (root === 'metadata') {
      if (rest[0] !== 'name') Object.assign(metadata, putAt(metadata as Json, rest, envRef))
      else if (live.name === recordedName) metadata.name = envRef
    } else if (root === 'spec' && stillApplied(rest, lastApplied ?? {}, live)) {
      if (rest[0] === 'name' || atPath(spec, rest) !== undefined) Object.assign(spec, putAt(spec as Json, rest, envRef))
    }
  }
}

function stillApplied(path: FieldPath, lastApplied: Spec, live: Pick<Live, 'displayName' | 'spec'>): boolean {
  if (path[0] === 'name') return lastApplied.name === live.displayName
  return JSON.stringify(atPath(lastApplied, path)) === JSON.stringify(atPath(live.spec, path))
}

const dangling = ({ kind, displayName }: Live, id: string): Warning => ({
  code: 'export.dangling',
  path: `${kind}/${displayName}`,
  reason: `refers to ${id}, which is no longer there`,
  hint: 'Point it to something that exists before you apply this.',
})
