import { describe, expect, it } from 'vitest'
import { planStack } from './plan.ts'
import { whatMoved } from './stale.ts'
import { aWorld, type Options, type Wish, type World } from './world.fake.ts'

const wishes: Wish[] = [
  { kind: 'Mark', name: 'edge', as: 'shown' },
  { kind: 'Store', name: 'main', spec: { url: 'u', password: { secretRef: { key: 'pw' } } }, secrets: ['pw'] },
]

async function moved(between: (world: World) => unknown, then: Wish[] = wishes, options: Options = {}) {
  const world = aWorld()
  await world.apply(wishes.slice(0, 1))
  const shown = await world.plan(wishes, { env: { a: '1' }, secrets: { pw: 'x' } })
  await between(world)
  const view = await world.view(then, { env: { a: '1' }, secrets: { pw: 'x' }, ...options })
  return whatMoved(shown, planStack(view), view).map(({ code, path }) => `${code} ${path}`)
}

describe('a plan that was shown', () => {
  it('may be carried out while nothing moved, whatever time it is within its life', async () => {
    expect(await moved(world => world.later(23 * 3_600_000))).toEqual([])
  })

  it('is stale by the record', async () => {
    expect(
      await moved(world => {
        world.stack = { ...world.stack!, revision: 7 }
      }),
    ).toEqual(['plan.stale stack/new'])
  })

  it('is stale by a live resource: changed, gone, or new under a name that it takes', async () => {
    expect(await moved(world => world.change('shown', { spec: { color: 'red' } }))).toEqual(['plan.stale Mark/edge'])
    expect(await moved(world => world.remove('shown'))).toEqual(['plan.stale Mark/edge'])
    expect(await moved(world => world.make('Store', 'main', { url: 'x' }))).toEqual(['plan.stale Store "main"'])
  })

  it('is stale by the bundle', async () => {
    expect(await moved(() => {}, wishes.slice(1))).toEqual(['plan.stale bundle'])
  })

  it('is stale by an env value, a secret, skip and adopt', async () => {
    for (const options of [
      { env: { a: '2' } },
      { secrets: { pw: 'y' } },
      { secrets: {} },
      { skip: [{ kind: 'Disk' }] },
      { adopt: 'byName' } as const,
    ])
      expect(await moved(() => {}, wishes, options)).toEqual(['plan.stale settings'])
  })

  it('is stale when it expired', async () => {
    expect(await moved(world => world.later(24 * 3_600_000))).toEqual(['plan.stale expiresAt'])
  })

  it('is stale by who owns what it takes over', async () => {
    const world = aWorld()
    const { id } = world.make('Mark', 'shown')
    const shown = await world.plan(wishes.slice(0, 1), { adopt: 'byName' })
    world.foreign.set(id, { stackId: 's2', stackName: 'theirs', kind: 'Mark', name: 'm' })
    const view = await world.view(wishes.slice(0, 1), { adopt: 'byName' })
    expect(whatMoved(shown, planStack(view), view)).toMatchObject([{ code: 'plan.stale', path: 'plan' }])
  })
})
