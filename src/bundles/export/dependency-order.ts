// What is needed stands before what needs it; among equals the sort key decides. Linear in resources and needs.
import { byName } from '../../lib/by-name.ts'

export interface Ordered {
  readonly id: string
  readonly sortKey: string
  /** Ids; those that are not in the list do not matter. */
  readonly needs: readonly string[]
}

export function dependencyOrder(items: readonly Ordered[]): string[] {
  const sorted = items.toSorted((a, b) => byName(a.sortKey, b.sortKey))
  const byId = new Map(sorted.map(item => [item.id, item]))
  const depths = new Map<string, number>()
  for (const item of sorted) depthOf(item, byId, depths)
  return sorted.toSorted((a, b) => depths.get(a.id)! - depths.get(b.id)!).map(({ id }) => id)
}

/** The longest way down; a circle counts as its entry. */
function depthOf(item: Ordered, byId: ReadonlyMap<string, Ordered>, depths: Map<string, number>): number {
  const known = depths.get(item.id)
  if (known !== undefined) return known
  depths.set(item.id, 0)
  let depth = 0
  for (const id of item.needs) {
    const needed = byId.get(id)
    if (needed) depth = Math.max(depth, depthOf(needed, byId, depths) + 1)
  }
  depths.set(item.id, depth)
  return depth
}
