// Who belongs to whom before anything is compared: moved names, skipped resources, take-overs.
import { byName } from '../../lib/by-name.ts'
import type { Problem } from '../../lib/problem.ts'
import { type BundleResource, identityOf } from '../model/bundle.ts'
import type { StackResource } from '../model/stack.ts'
import { movesOf } from './moved.ts'
import { orderSteps } from './order.ts'
import { claimsOf } from './ownership.ts'
import { familiesOf, type Ground, type Pair, referredBy } from './pair.ts'
import { kindIsUnknown } from './problems.ts'
import { skipsOf } from './skip.ts'
import { addressIn, nameKey, type PlanView } from './view.ts'

export function groundOf(view: PlanView, resources: readonly BundleResource[]): Ground {
  const blockers: Problem[] = []
  const entries = entriesOf(view, blockers)
  const pairs = pairsOf(view, { entries, resources }, blockers)
  const byIdentity = new Map(pairs.map(pair => [pair.identity, pair]))
  const byId = new Map<string, Pair>()
  const byDisplayName = new Map<string, Pair>()
  for (const pair of pairs) {
    if (pair.entry) byId.set(pair.entry.id, pair)
    if (pair.wanted) byDisplayName.set(nameKey(pair.kind.kind, pair.wanted.displayName), pair)
  }
  const families = familiesOf(view)
  const claims = claimsOf({ view, pairs, byId, families })
  for (const [identity, live] of claims.adopted) byId.set(live.id, byIdentity.get(identity)!)
  const recorded = new Map([...entries].map(([identity, { id }]) => [identity, id]))
  const lookups = { view, byIdentity, byId, byDisplayName, recorded, families, adopted: claims.adopted }
  return { ...lookups, pairs: inReferenceOrder(lookups, pairs), blockers: [...blockers, ...claims.blockers] }
}

function entriesOf(view: PlanView, blockers: Problem[]): Map<string, StackResource> {
  const entries = new Map<string, StackResource>()
  for (const entry of view.stack?.resources ?? []) {
    const kind = view.kinds.get(entry.kind)
    if (kind) entries.set(identityOf({ kind, name: entry.name }), entry)
    else blockers.push(kindIsUnknown(view, entry))
  }
  return entries
}

/** Sorted by kind and name. */
function pairsOf(
  view: PlanView,
  { entries, resources }: { entries: ReadonlyMap<string, StackResource>; resources: readonly BundleResource[] },
  blockers: Problem[],
): Pair[] {
  const wanted = new Map(resources.map(resource => [identityOf(resource), resource]))
  const moves = movesOf(view, resources, { recorded: new Set(entries.keys()), wanted: new Set(wanted.keys()) })
  blockers.push(...moves.blockers)
  const skips = skipsOf(view.skip)
  const left = new Map(entries)

  const pairs: Pair[] = []
  for (const [identity, resource] of wanted) {
    const recordedAs = moves.from.get(identity) ?? identity
    const entry = entries.get(recordedAs) ?? null
    left.delete(recordedAs)
    const { kind, name } = resource
    pairs.push({
      identity,
      address: addressIn(view, { kind: kind.kind, name }),
      kind,
      name,
      wanted: resource,
      entry,
      ...(entry && entry.name !== name && { movedFrom: entry.name }),
      skipped: skips({ kind: kind.kind, name }) || (entry !== null && skips(entry)),
      invalid: false,
    })
  }
  for (const [identity, entry] of left)
    pairs.push({
      identity,
      address: addressIn(view, entry),
      kind: view.kinds.get(entry.kind)!,
      name: entry.name,
      wanted: null,
      entry,
      skipped: skips(entry),
      invalid: !view.isComplete || view.invalid.has(identity),
    })
  return pairs.sort((a, b) => byName(a.kind.kind, b.kind.kind) || byName(a.name, b.name))
}

function inReferenceOrder(
  ground: Pick<Ground, 'view' | 'byIdentity' | 'byDisplayName' | 'byId'>,
  pairs: readonly Pair[],
): Pair[] {
  const numbers = new Map(pairs.map((pair, number) => [pair, number]))
  const edges = pairs.flatMap((pair, after) =>
    (pair.wanted?.references ?? []).flatMap(({ target, byDisplayName }) => {
      const referred = referredBy(ground, target, byDisplayName)
      if (referred.is !== 'own' || referred.pair === pair) return []
      return [{ before: numbers.get(referred.pair)!, after, why: 'reference' as const }]
    }),
  )
  return orderSteps({ lanes: pairs.map(() => 0), edges }).steps.map(step => pairs[step]!)
}
