import { describe, expect, it } from 'vitest'
import { aWorld, printWrites, shortly, type Wish } from './world.fake.ts'

const store = (more: Partial<Wish> = {}): Wish => ({ kind: 'Store', name: 'main', spec: { url: 'u' }, ...more })
const codes = ({ blockers }: { blockers: readonly { code: string; path: string }[] }) =>
  blockers.map(({ code, path }) => `${code} ${path}`)

describe('ownership', () => {
  it('refuses a unique display name that somebody has', async () => {
    const world = aWorld()
    const { id } = world.make('Store', 'main', { url: 'x' })
    const plan = await world.plan([store()])
    expect(plan).toMatchObject({
      applicable: false,
      blockers: [{ code: 'resource.exists', path: 'Store/main', hint: expect.stringContaining(id) }],
    })
  })

  it('refuses a rename to a name that somebody has, over the family', async () => {
    const world = aWorld()
    const rule: Wish = { kind: 'RuleA', name: 'hot', spec: { every: '1m', threshold: 1 } }
    await world.apply([rule])
    world.make('RuleB', 'taken', { every: '1m', silentFor: '1m' })
    expect(codes(await world.plan([{ ...rule, as: 'taken' }]))).toEqual(['resource.exists RuleA/hot'])
  })

  it('does not mind equal names where they are not unique', async () => {
    const world = aWorld()
    world.make('Disk', 'data', { size: '1B' })
    const plan = await world.plan([{ kind: 'Disk', name: 'data', spec: { size: '1B' } }], { adopt: 'byName' })
    expect(shortly(plan)).toEqual(['create Disk/data: new in the bundle'])
    expect(plan.applicable).toBe(true)
  })

  it.each([
    ['by name, as the bundle says', { lifecycle: { adopt: 'byName' } }, {}],
    ['by name, as the request says', {}, { adopt: 'byName' }],
    ['by id', { as: 'renamed', lifecycle: { adopt: { id: 'out-0001' } } }, {}],
  ] as const)('adopts %s, and keeps it when it leaves', async (_, more, options) => {
    const world = aWorld()
    const { id } = world.make('Store', 'main', { url: 'x', user: 'theirs' })
    const { plan, writes } = await world.apply([store(more)], options)
    expect(shortly(plan)).toEqual(['adopt Store/main: asked to adopt'])
    expect(plan.actions[0]).toMatchObject({ id })
    expect(plan.actions[0]!.changes).toContainEqual({ path: 'spec.url', old: 'x', new: 'u', why: 'bundle' })
    expect(printWrites(writes)).toEqual(['update Store/main'])
    expect(world.entry('main')).toMatchObject({ id, adopted: true })
    expect(world.live(world.entry('main').lastApplied!.name as string).spec).toMatchObject({ url: 'u', user: 'theirs' })
    expect(shortly(await world.plan([store(more)], options))).toEqual(['none Store/main: equal'])

    const gone = await world.apply([], { mode: { do: 'uninstall' } })
    expect(shortly(gone.plan)).toEqual(['forget Store/main: retained'])
    expect(gone.plan.needs).toEqual([])
    expect(printWrites(gone.writes)).toEqual([])
    expect(world.platform.state.resources.has(id)).toBe(true)
    expect(world.stack).toMatchObject({ state: 'uninstalled', resources: [] })
  })

  it('writes nothing when what is adopted is as wanted, but records it', async () => {
    const world = aWorld()
    world.make('Store', 'main', { url: 'u' })
    const { plan, writes } = await world.apply([store()], { adopt: 'byName' })
    expect(plan.actions).toMatchObject([{ action: 'adopt', changes: [] }])
    expect(printWrites(writes)).toEqual([])
    expect(writes.record.event).toMatchObject({ type: 'apply', changes: [{ action: 'adopt' }] })
  })

  it('takes nothing from another stack', async () => {
    const world = aWorld()
    const { id } = world.make('Store', 'main', { url: 'x' })
    world.foreign.set(id, { stackId: 's2', stackName: 'theirs', kind: 'Store', name: 'their-main' })
    for (const lifecycle of [{}, { adopt: 'byName' }, { adopt: { id } }] as const)
      expect((await world.plan([store({ lifecycle })])).blockers[0]).toMatchObject({
        code: 'resource.owned',
        path: 'Store/main',
        reason: expect.stringContaining('theirs'),
      })
  })

  it('never takes what a controller made', async () => {
    const world = aWorld()
    const live = world.make('Store', 'main', { url: 'x' })
    world.platform.state.resources.set(live.id, { ...live, controlledBy: { kind: 'Group', id: 'g' } })
    for (const lifecycle of [{}, { adopt: 'byName' }, { adopt: { id: live.id } }] as const)
      expect(codes(await world.plan([store({ lifecycle })]))[0]).toBe('resource.owned Store/main')
  })

  it('refuses to adopt what is not there, what two claim, and what would have to be replaced', async () => {
    const world = aWorld()
    const { id } = world.make('Disk', 'data', { size: '1B', format: 'qcow2' })
    const disk = (name: string, adopt: { id: string }): Wish => ({
      kind: 'Disk',
      name,
      spec: { size: '1B' },
      lifecycle: { adopt },
    })
    expect(codes(await world.plan([disk('a', { id: 'nobody' })]))).toEqual([
      'resource.unknown Disk/a.metadata.lifecycle.adopt.id',
    ])
    expect(codes(await world.plan([disk('a', { id }), disk('b', { id })]))).toContain('resource.owned Disk/b')
    expect(codes(await world.plan([disk('a', { id })]))).toEqual(['resource.immutable Disk/a.spec.format'])
  })

  it('adopts in place of an entry that was deleted outside', async () => {
    const world = aWorld()
    await world.apply([store()])
    world.remove('main')
    const { id } = world.make('Store', 'main', { url: 'x' })
    const { plan } = await world.apply([store()], { adopt: 'byName' })
    expect(plan.actions).toMatchObject([{ action: 'adopt', id }])
    expect(world.entry('main')).toMatchObject({ id, adopted: true })
  })
})
