// Orders steps by what each waits for. Deterministic: among those that are ready the lower lane goes first, then the lower
// number; a step of a higher lane waits until no lower one is ready.
// When steps wait for each other in a circle, the softest edges of the circle are dropped: wishes first, then names.

/** Steps are numbered from 0 in the order that decides between equals. */
export interface Graph {
  /** One for each step: 0 first. */
  readonly lanes: readonly number[]
  readonly edges: readonly Edge[]
}

export interface Edge {
  readonly before: number
  readonly after: number
  readonly why: EdgeReason
}

/**
 * - wish: better so, but not needed: a delete after its last referrer was changed, a label before what carries it.
 * - name: a unique display name must be free before another takes it.
 * - reference: what is referred to must be there.
 */
export type EdgeReason = 'wish' | 'name' | 'reference'

export interface Order {
  readonly steps: readonly number[]
  /** Those that the order keeps. */
  readonly edges: readonly Edge[]
  /** Circles that only a dropped name edge could open; each step waits for the one that follows it. */
  readonly nameCycles: readonly (readonly number[])[]
}

export function orderSteps({ lanes, edges }: Graph): Order {
  const dropped = new Set<Edge>()
  const nameCycles: number[][] = []
  const out: Edge[][] = lanes.map(() => [])
  const waiting = new Int32Array(lanes.length)
  for (const edge of edges) {
    out[edge.before]!.push(edge)
    waiting[edge.after]!++
  }
  const ready: number[][] = []
  const free = (step: number) => {
    const lane = lanes[step]!
    while (ready.length <= lane) ready.push([])
    ready[lane]!.push(step)
  }
  for (let step = 0; step < lanes.length; step++) if (waiting[step] === 0) free(step)

  const steps: number[] = []
  const done = new Uint8Array(lanes.length)
  const release = (edge: Edge) => {
    if (--waiting[edge.after]! === 0 && !done[edge.after]) free(edge.after)
  }
  while (steps.length < lanes.length) {
    const lane = ready.findIndex(steps => steps.length > 0)
    if (lane >= 0) {
      const wave = ready[lane]!.sort((a, b) => a - b)
      ready[lane] = []
      for (const step of wave) {
        steps.push(step)
        done[step] = 1
      }
      for (const step of wave) for (const edge of out[step]!) if (!dropped.has(edge)) release(edge)
      continue
    }
    const circle = coreOf(edges.filter(edge => !dropped.has(edge) && !done[edge.before] && !done[edge.after]))
    const softest = (['wish', 'name', 'reference'] as const).find(why => circle.some(edge => edge.why === why))!
    if (softest === 'name') nameCycles.push(...cyclesIn(circle))
    for (const edge of circle)
      if (edge.why === softest) {
        dropped.add(edge)
        release(edge)
      }
  }
  return { steps, edges: edges.filter(edge => !dropped.has(edge)), nameCycles }
}

/** The edges on circles and between them: steps for which nothing waits are taken off, one after the other. */
function coreOf(edges: readonly Edge[]): readonly Edge[] {
  const waitedFor = new Map<number, number>()
  const into = new Map<number, Edge[]>()
  for (const edge of edges) {
    waitedFor.set(edge.before, (waitedFor.get(edge.before) ?? 0) + 1)
    const others = into.get(edge.after)
    if (others) others.push(edge)
    else into.set(edge.after, [edge])
  }
  const off = [...into.keys()].filter(step => !waitedFor.has(step))
  for (let step = off.pop(); step !== undefined; step = off.pop())
    for (const { before } of into.get(step) ?? []) {
      const left = waitedFor.get(before)! - 1
      waitedFor.set(before, left)
      if (left === 0) off.push(before)
    }
  return edges.filter(edge => (waitedFor.get(edge.after) ?? 0) > 0)
}

function cyclesIn(core: readonly Edge[]): number[][] {
  const next = new Map<number, number>()
  for (const { before, after } of core) if (!next.has(before)) next.set(before, after)
  const seen = new Set<number>()
  const cycles: number[][] = []
  for (const start of [...next.keys()].sort((a, b) => a - b)) {
    const path = new Map<number, number>()
    let at = start
    for (; !seen.has(at); at = next.get(at)!) {
      seen.add(at)
      path.set(at, path.size)
    }
    const from = path.get(at)
    const [first, ...others] = from === undefined ? [] : [...path.keys()].slice(from)
    if (first !== undefined) cycles.push([first, ...others.reverse()])
  }
  return cycles
}
