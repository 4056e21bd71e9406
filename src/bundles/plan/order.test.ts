import { describe, expect, it } from 'vitest'
import { type Edge, orderSteps } from './order.ts'
import { aWorld, printOrder, printWrites, type Wish } from './world.fake.ts'

const store = (name: string, as = name): Wish => ({ kind: 'Store', name, as, spec: { url: 'u' } })
const disk = (name: string, spec: Wish['spec'] = {}, more: Partial<Wish> = {}): Wish => ({
  kind: 'Disk',
  name,
  spec: { size: '1B', ...spec },
  ...more,
})

describe('the order of a plan', () => {
  it('has what is referred to first, then kind and name', async () => {
    const plan = await aWorld().plan([
      { kind: 'Mark', name: 'edge' },
      disk('b', { basedOn: { name: 'a' }, store: { name: 'main' } }, { with: ['edge'] }),
      disk('a', { origin: { kind: 'Store', name: 'main' } }),
      store('main'),
      store('extra'),
    ])
    expect(printOrder(plan)).toMatchInlineSnapshot(`
      "+ Mark/edge
      + Store/extra
      + Store/main
      + Disk/a
          after Store/main
      + Disk/b
          after Disk/a
          after Mark/edge
          after Store/main"
    `)
  })

  it('frees a name before another takes it', async () => {
    const world = aWorld()
    await world.apply([store('a', 'one'), store('b', 'two'), store('c', 'three')])
    const { plan } = await world.apply([store('b', 'one'), store('d', 'two'), store('c', 'three')])
    expect(printOrder(plan)).toMatchInlineSnapshot(`
      "- Store/a
      ~ Store/b
          after Store/a
      + Store/d
          after Store/b
        Store/c"
    `)
  })

  it('gives up a wish before a name: what is deleted goes first when its successor needs the name', async () => {
    const world = aWorld()
    await world.apply([store('old', 'harbor'), disk('data', { store: { name: 'old' } })])
    const { plan, writes } = await world.apply([store('new', 'harbor'), disk('data', { store: { name: 'new' } })])
    expect(plan.blockers).toEqual([])
    expect(printOrder(plan)).toMatchInlineSnapshot(`
      "- Store/old
      + Store/new
          after Store/old
      ~ Disk/data
          after Store/new"
    `)
    expect(printWrites(writes)).toEqual(['delete Store/old', 'create Store/new', 'update Disk/data'])
  })

  it('refuses names that are swapped, and spells the circle', async () => {
    const world = aWorld()
    await world.apply([store('a', 'one'), store('b', 'two'), store('c', 'three')])
    const plan = await world.plan([store('a', 'two'), store('b', 'three'), store('c', 'one')])
    expect(plan.blockers).toMatchObject([
      {
        code: 'plan.name-cycle',
        path: 'Store/a',
        reason: 'each waits for a name that another has: Store/a → Store/b → Store/c → Store/a',
      },
    ])
    expect(plan.applicable).toBe(false)
  })

  it('has an order even for references in a circle, which validation refuses', async () => {
    const plan = await aWorld().plan([disk('a', { basedOn: { name: 'b' } }), disk('b', { basedOn: { name: 'a' } })])
    expect(plan.actions.map(({ name }) => name)).toEqual(['a', 'b'])
  })
})

describe('steps', () => {
  const edge = (before: number, after: number, why: Edge['why']): Edge => ({ before, after, why })

  it('of a higher lane wait until no lower one is ready', () => {
    expect(orderSteps({ lanes: [1, 0, 0, 1], edges: [edge(0, 2, 'name')] }).steps).toEqual([1, 0, 3, 2])
  })

  it('drop only the soft edges of a circle, not those before or behind it', () => {
    const edges = [edge(0, 1, 'wish'), edge(1, 2, 'wish'), edge(2, 1, 'reference'), edge(2, 3, 'wish')]
    const { steps, edges: kept, nameCycles } = orderSteps({ lanes: [0, 0, 0, 0], edges })
    expect(steps).toEqual([0, 2, 1, 3])
    expect(kept).toEqual([edges[0], edges[2], edges[3]])
    expect(nameCycles).toEqual([])
  })

  it('tell every circle of names', () => {
    const swap = (a: number, b: number) => [edge(a, b, 'name'), edge(b, a, 'name')]
    const { nameCycles } = orderSteps({ lanes: [0, 0, 0, 0], edges: [...swap(0, 1), ...swap(2, 3)] })
    expect(nameCycles).toEqual([
      [0, 1],
      [2, 3],
    ])
  })
})
