// `metadata.movedFrom`: an entry of the record takes the new name; nothing is written to the platform.
import { fieldPath } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import { type BundleResource, identityOf } from '../model/bundle.ts'
import { addressIn, type PlanView } from './view.ts'

export interface Moves {
  /** Identity in the bundle to identity in the record. */
  readonly from: ReadonlyMap<string, string>
  readonly blockers: readonly Problem[]
}

/** `recorded` and `wanted` are identities. Without any name of `movedFrom` in the record it has no effect. */
export function movesOf(
  view: Pick<PlanView, 'platformOf'>,
  resources: readonly BundleResource[],
  { recorded, wanted }: { recorded: ReadonlySet<string>; wanted: ReadonlySet<string> },
): Moves {
  const from = new Map<string, string>()
  const claimed = new Map<string, BundleResource>()
  const blockers: Problem[] = []
  for (const resource of resources) {
    const identity = identityOf(resource)
    const before = resource.movedFrom
      .map((name, index) => ({ name, index, identity: identityOf({ kind: resource.kind, name }) }))
      .filter(old => old.identity !== identity && recorded.has(old.identity) && !wanted.has(old.identity))
    const [old, second] = recorded.has(identity) ? [undefined, before[0]] : before
    if (second) {
      const has = old ? `both "${old.name}" and "${second.name}"` : `"${second.name}" and "${resource.name}" itself`
      blockers.push(conflict(view, resource, second.index, `the stack has ${has}`))
    } else if (old) {
      const other = claimed.get(old.identity)
      if (other) blockers.push(conflict(view, resource, old.index, `"${other.name}" claims "${old.name}" as well`))
      else {
        from.set(identity, old.identity)
        claimed.set(old.identity, resource)
      }
    }
  }
  return { from, blockers }
}

const conflict = (
  view: Pick<PlanView, 'platformOf'>,
  resource: BundleResource,
  index: number,
  reason: string,
): Problem => ({
  code: 'moved.conflict',
  path: fieldPath(`${addressIn(view, { kind: resource.kind.kind, name: resource.name })}.metadata.movedFrom`, index),
  reason: `cannot tell which entry moves here: ${reason}`,
  hint: 'Take the name out of movedFrom; what should not stay is then deleted as usual.',
  ...(resource.source && { source: resource.source }),
})
