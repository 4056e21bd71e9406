// What was applied last, as if it stood in a bundle: for those who want it again, or want to know what became of it.
import { isFields } from '../../lib/json.ts'
import { deepPath } from '../../lib/located-json.ts'
import { markedFields } from '../../resources/fields.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { BundleReference, BundleResource, Target } from '../model/bundle.ts'
import type { StackResource } from '../model/stack.ts'
import { targetsOf } from './live-terms.ts'
import type { PlanView } from './view.ts'

/** Those to which something was applied, of kinds that are known. */
export function recordedResources({ stack, kinds }: Pick<PlanView, 'stack' | 'kinds'>): BundleResource[] {
  return (stack?.resources ?? []).flatMap(entry => {
    const kind = kinds.get(entry.kind)
    return kind && entry.lastApplied ? [resourceOf(entry, kind, entry.lastApplied as Spec)] : []
  })
}

function resourceOf(entry: StackResource, kind: Kind, lastApplied: Spec): BundleResource {
  const { name: displayName, ...spec } = lastApplied
  return {
    kind,
    apiVersion: entry.apiVersion,
    name: entry.name,
    displayName: typeof displayName === 'string' ? displayName : entry.name,
    spec,
    associations: entry.associations.map(targetFrom),
    lifecycle: entry.lifecycle,
    movedFrom: [],
    references: referencesOf(kind, spec),
    secretKeys: [],
    envRefs: entry.envRefs as BundleResource['envRefs'],
  }
}

/** With the place of each. */
export function referencesOf(kind: Kind, spec: Spec): BundleReference[] {
  const references: BundleReference[] = []
  for (const { path, mark, value } of markedFields(kind.spec, spec)) {
    if (!mark.reference || !isFields(value as Spec)) continue
    const [target] = targetsOf(value as Spec, mark.reference)
    if (target) references.push({ path: deepPath('spec', path), target, byDisplayName: false, optional: false })
  }
  for (const { path, kind: of, name, optional } of kind.namedReferences(spec))
    references.push({
      path: deepPath('spec', path),
      target: { kind: of, external: name },
      byDisplayName: true,
      optional,
    })
  return references
}

export const targetFrom = ({ kind, name, external }: StackResource['associations'][number]): Target =>
  name === undefined ? { kind, external: external ?? '' } : { kind, name }
