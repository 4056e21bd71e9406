// The bundle as one value, its hash and its summary. All three are the same in any order of files, documents and keys.
import { byName } from '../../lib/by-name.ts'
import { sha256Hex } from '../../lib/json.ts'
import { addressOf, type Bundle, type BundleResource } from '../model/bundle.ts'
import type { Summary } from '../model/summary.ts'
import { associationsOf, referencesOf, type Whole } from './graph.ts'
import type { Neighbours } from './neighbours.ts'

export function bundleOf(drafts: readonly Whole[], neighbours: Neighbours): Bundle {
  const resources = drafts.map(draft => resourceOf(draft, neighbours)).sort(byKindAndName)
  return { resources, hash: sha256Hex(JSON.stringify(resources.map(applied))) }
}

export function summaryOf({ resources }: Bundle, missingEnvRefs: string[], sources: string[]): Summary {
  return {
    resources: resources.map(resource => ({
      apiVersion: resource.apiVersion,
      kind: resource.kind.kind,
      name: resource.name,
      displayName: resource.displayName,
      spec: resource.spec as Summary['resources'][number]['spec'],
      associations: [...resource.associations],
      envReferences: resource.envRefs.map(use => ({
        resource: addressOf(resource),
        ...(use as typeof use & Pick<Summary['resources'][number]['envReferences'][number], 'value' | 'default'>),
      })),
    })),
    associations: resources.flatMap(({ kind, name, associations }) =>
      associations.map(to => ({ from: { kind: kind.kind, name }, to })),
    ),
    missingEnvRefs,
    missingSecrets: [],
    sources,
  }
}

function resourceOf(draft: Whole, neighbours: Neighbours): BundleResource {
  const { identity, content, document } = draft
  const source = document.locate('')
  return {
    kind: identity.kind,
    apiVersion: identity.kind.apiVersion,
    name: identity.name,
    displayName: identity.displayName ?? identity.name,
    spec: content.spec,
    associations: associationsOf(draft),
    lifecycle: content.lifecycle,
    movedFrom: identity.movedFrom,
    references: referencesOf(draft, neighbours),
    secretKeys: draft.secretKeys,
    envRefs: content.envUses,
    ...(source && { source }),
  }
}

const byKindAndName = (a: BundleResource, b: BundleResource) =>
  byName(a.kind.kind, b.kind.kind) || byName(a.name, b.name) || byName(a.apiVersion, b.apiVersion)

/** What decides what an apply does. Every part is canonical, keys too, so its JSON is the same for what is equal. */
const applied = ({
  apiVersion,
  kind,
  name,
  displayName,
  spec,
  associations,
  lifecycle,
  movedFrom,
}: BundleResource) => ({
  apiVersion,
  kind: kind.kind,
  name,
  displayName,
  spec,
  associations,
  lifecycle,
  movedFrom,
})
