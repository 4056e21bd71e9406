// The parts of a plan that have an order: making, and removing. A replacement is both.
import { byName } from '../../lib/by-name.ts'
import type { PlannedAssociation } from './associations.ts'
import { removesLive } from './deletion.ts'
import type { NameHandover } from './names.ts'
import { type Edge, type EdgeReason, orderSteps } from './order.ts'
import { type Ground, referredBy } from './pair.ts'
import type { Planned } from './planned.ts'

export interface Step {
  readonly planned: Planned
  /** make: create, update, adopt, or the new one of a replacement. remove: delete, or the old one of it. */
  readonly part: 'make' | 'release' | 'remove'
}

export interface OrderedSteps {
  readonly steps: readonly Step[]
  /** Before each step: what it waits for. */
  readonly after: ReadonlyMap<Step, readonly Step[]>
  /** Circles of names, as addresses. */
  readonly nameCycles: readonly (readonly string[])[]
}

/** What is made first, what is only let go then, what is removed last; unless an edge says otherwise. */
const lanes = { make: 0, release: 1, remove: 2 } as const

export function stepsOf(
  ground: Ground,
  planned: ReadonlyMap<string, Planned>,
  { associations, handovers }: { associations: readonly PlannedAssociation[]; handovers: readonly NameHandover[] },
): OrderedSteps {
  const steps = [...planned.values()].flatMap(partsOf).sort(byKindAndName)
  const numbers = {
    make: new Map<string, number>(),
    release: new Map<string, number>(),
    remove: new Map<string, number>(),
  }
  for (const [number, { planned, part }] of steps.entries()) numbers[part].set(planned.pair.identity, number)
  const made = (identity: string) => numbers.make.get(identity)
  const removed = (identity: string) => numbers.remove.get(identity)

  const edges: Edge[] = []
  const edge = (before: number | undefined, after: number | undefined, why: EdgeReason) => {
    if (before !== undefined && after !== undefined && before !== after) edges.push({ before, after, why })
  }
  for (const one of planned.values()) {
    const { identity, wanted } = one.pair
    const make = made(identity)
    if (make !== undefined)
      for (const { target, byDisplayName } of wanted?.references ?? []) {
        const referred = referredBy(ground, target, byDisplayName)
        if (referred.is === 'own') edge(made(referred.pair.identity), make, 'reference')
      }
    if (!removesLive(one)) continue
    const remove = removed(identity)
    if (one.word === 'replace') {
      const keepsName = one.pair.kind.displayName.unique && one.live.displayName === wanted?.displayName
      if (keepsName) edge(remove, make, 'name')
      else edge(make, remove, 'wish')
    }
    for (const { id } of ground.view.referrers.get(one.live.id) ?? []) {
      const referrer = ground.byId.get(id)?.identity ?? ''
      edge(removed(referrer) ?? made(referrer), remove, 'wish')
    }
  }
  for (const { row, from, to } of associations)
    if (row.action === 'create' && 'own' in to) edge(made(to.own.identity), made(from.pair.identity), 'wish')
  for (const { taker, freer } of handovers) {
    const { identity } = freer.pair
    edge(removed(identity) ?? made(identity), made(taker.pair.identity), 'name')
  }

  const order = orderSteps({ lanes: steps.map(({ part }) => lanes[part]), edges })
  const after = new Map<Step, Step[]>(steps.map(step => [step, []]))
  for (const { before, after: later } of order.edges) after.get(steps[later]!)!.push(steps[before]!)
  return {
    steps: order.steps.map(number => steps[number]!),
    after,
    nameCycles: order.nameCycles.map(cycle => cycle.map(number => steps[number]!.planned.pair.address)),
  }
}

function partsOf(planned: Planned): Step[] {
  switch (planned.word) {
    case 'create':
    case 'update':
    case 'adopt':
      return [{ planned, part: 'make' }]
    case 'replace':
      return [
        { planned, part: 'make' },
        { planned, part: 'remove' },
      ]
    case 'forget':
      return [{ planned, part: 'release' }]
    case 'delete':
      return [{ planned, part: 'remove' }]
    case 'none':
      return []
  }
}

const byKindAndName = ({ planned: { pair: a } }: Step, { planned: { pair: b } }: Step): number =>
  byName(a.kind.kind, b.kind.kind) || byName(a.name, b.name)
