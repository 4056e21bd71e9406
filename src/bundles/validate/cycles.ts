// Finds circles in a graph of any depth, without recursion and in time linear in its edges.

/** For each group of nodes that all reach each other, one shortest circle through its least node, which stands first and last. */
export function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  return componentsOf(edges)
    .filter(nodes => nodes.length > 1 || edges.get(nodes[0]!)?.includes(nodes[0]!))
    .map(nodes => circleThrough(nodes.toSorted()[0]!, new Set(nodes), edges))
}

/** Tarjan's strongly connected components. */
function componentsOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const components: string[][] = []
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const enter = (node: string) => {
    order.set(node, order.size)
    low.set(node, order.get(node)!)
    open.push(node)
    isOpen.add(node)
    return { node, next: 0 }
  }
  const lower = (node: string, to: number) => void low.set(node, Math.min(low.get(node)!, to))
  for (const start of edges.keys()) {
    if (order.has(start)) continue
    const way = [enter(start)]
    while (way.length > 0) {
      const here = way.at(-1)!
      const to = edges.get(here.node)?.[here.next++]
      if (to !== undefined) {
        if (!order.has(to)) way.push(enter(to))
        else if (isOpen.has(to)) lower(here.node, order.get(to)!)
        continue
      }
      way.pop()
      const parent = way.at(-1)
      if (parent) lower(parent.node, low.get(here.node)!)
      if (low.get(here.node) !== order.get(here.node)) continue
      const component = open.splice(open.lastIndexOf(here.node))
      for (const node of component) isOpen.delete(node)
      components.push(component)
    }
  }
  return components
}

function circleThrough(
  start: string,
  nodes: ReadonlySet<string>,
  edges: ReadonlyMap<string, readonly string[]>,
): string[] {
  const cameFrom = new Map<string, string>()
  for (const queue = [start]; queue.length > 0; ) {
    const level = queue.splice(0)
    for (const node of level)
      for (const to of edges.get(node) ?? []) {
        if (to === start) return [...wayTo(node, start, cameFrom), start]
        if (!nodes.has(to) || cameFrom.has(to)) continue
        cameFrom.set(to, node)
        queue.push(to)
      }
  }
  return [start]
}

function wayTo(node: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [node]
  for (let at = node; at !== start; at = cameFrom.get(at)!) way.push(cameFrom.get(at)!)
  return way.reverse()
}
