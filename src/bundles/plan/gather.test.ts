import { describe, expect, it } from 'vitest'
import { memoryPlatform } from '../apply/platform.fake.ts'
import { foreignKind, testKinds } from '../validate/kinds.fake.ts'
import { gatherView } from './gather.ts'
import { planStack } from './plan.ts'
import { aBundle, aWorld, type Wish } from './world.fake.ts'
import { writesOf } from './writes.ts'

const wishes = (count: number): Wish[] => [
  { kind: 'Store', name: 'main', spec: { url: 'u' } },
  ...Array.from(
    { length: count },
    (_, index): Wish => ({ kind: 'Disk', name: `d${index}`, spec: { size: '1B', store: { name: 'main' } } }),
  ),
]

describe('gathering', () => {
  it('costs the same few calls for one resource and for hundreds', async () => {
    const costs = async (count: number) => {
      const world = aWorld()
      await world.apply(wishes(count))
      for (const key of Object.keys(world.calls)) delete world.calls[key]
      await world.plan(wishes(count - 1))
      return { ...world.calls }
    }
    expect(await costs(1)).toEqual({ read: 1, referrers: 1 })
    expect(await costs(300)).toEqual(await costs(1))
  })

  it('reads what live specs refer to, so that drift to another resource can be named', async () => {
    const world = aWorld()
    const disk: Wish = { kind: 'Disk', name: 'data', spec: { size: '1B', store: { name: 'main' } } }
    await world.apply([...wishes(0), disk])
    const other = world.make('Store', 'other', { url: 'u' })
    world.change('data', { spec: { store: { id: other.id } } })
    const plan = await world.plan([...wishes(0), disk])
    expect(plan.drift).toMatchObject([
      { changes: [{ path: 'spec.store', old: { name: 'main' }, new: { external: 'other' } }] },
    ])
    expect(Object.keys(plan.basis.liveRevisions)).toContain(other.id)
  })

  it('asks for no secret that no resource uses', async () => {
    const world = aWorld()
    const view = await world.view(wishes(0), { secrets: { pw: 'x' } })
    expect(view.secrets.platforms.get('')).toEqual({ stored: new Map(), supplied: new Map() })
  })

  it('asks each platform for its own kinds, and its writes stand apart', async () => {
    const now = new Date('2026-03-01T10:00:00.000Z')
    const clock = { now: () => now, monotonicMs: () => 0, bootId: () => '', sleep: async () => {} }
    const options = { transaction: 'journal', clientIds: true, clock } as const
    const platforms = [
      memoryPlatform({ ...options, kinds: testKinds.filter(kind => kind !== foreignKind) }),
      memoryPlatform({ ...options, kinds: [foreignKind], name: 'far' }),
    ]
    const view = await gatherView(
      { store: { owners: async () => new Map() }, platforms, clock },
      {
        mode: { do: 'apply' },
        stack: null,
        stackName: 'two',
        noStack: false,
        bundle: aBundle([{ kind: 'Foreign', name: 'there' }, ...wishes(0)]),
        valid: true,
        invalid: new Set(),
        isComplete: true,
        sources: [],
        skip: [],
        env: {},
        secrets: {},
      },
    )
    const { platforms: writes } = writesOf(planStack(view), view, () => 'id')
    expect([...writes].map(([name, list]) => [name, list.map(({ seq, resource }) => `${seq} ${resource}`)])).toEqual([
      ['far', ['1 far:Foreign/there']],
      ['', ['2 Store/main']],
    ])
  })
})
