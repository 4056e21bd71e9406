import { describe, expect, it } from 'vitest'
import { aWorld, printWrites, shortly, type Wish } from './world.fake.ts'

const marks = (count: number): Wish[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'Mark', name: `m${String(index).padStart(2, '0')}` }))
const disk = (name: string, more: Partial<Wish> = {}): Wish => ({ kind: 'Disk', name, spec: { size: '1B' }, ...more })
const codes = ({ blockers }: { blockers: readonly { code: string; path: string }[] }) =>
  blockers.map(({ code, path }) => `${code} ${path}`)

describe('deleting', () => {
  it('follows the recorded policy: delete, retain, protect', async () => {
    const world = aWorld()
    await world.apply([
      disk('gone'),
      disk('kept', { lifecycle: { onRemove: 'retain' } }),
      disk('safe', { lifecycle: { onRemove: 'protect' } }),
      disk('other'),
    ])
    const plan = await world.plan([disk('other')])
    expect(shortly(plan)).toEqual([
      'forget Disk/kept: retained',
      'delete Disk/gone: no longer in the bundle',
      'delete Disk/safe: no longer in the bundle',
      'none Disk/other: equal',
    ])
    expect(codes(plan)).toEqual(['resource.protected Disk/safe'])
    expect(plan.needs).toEqual(['dataLoss'])
    expect(codes(await world.plan([], { mode: { do: 'uninstall' } }))).toEqual(['resource.protected Disk/safe'])
  })

  it('plans none while a part of the bundle could not be read: it may stand there', async () => {
    const world = aWorld()
    await world.apply([disk('unread'), disk('other')])
    const plan = await world.plan([disk('other')], { valid: false, isComplete: false })
    expect(shortly(plan)).toEqual(['none Disk/other: equal', 'none Disk/unread: skipped'])
    expect(plan.applicable).toBe(false)
  })

  it('lets go of what was protected once that is taken back', async () => {
    const world = aWorld()
    await world.apply([disk('safe', { lifecycle: { onRemove: 'protect' } }), disk('other')])
    expect(codes(await world.plan([disk('safe', { spec: { size: '1B', format: 'qcow2' } }), disk('other')]))).toEqual([
      'resource.protected Disk/safe',
    ])
    await world.apply([disk('safe'), disk('other')])
    expect((await world.plan([disk('other')])).blockers).toEqual([])
  })

  it.each([
    ['all of 2', 2, 2, true],
    ['1 of 2', 2, 1, false],
    ['10 of 12', 12, 10, true],
    ['9 of 12', 12, 9, false],
    ['10 of 20', 20, 10, false],
  ])('needs a word for many: %s', async (_, count, deleted, isMass) => {
    const world = aWorld()
    await world.apply(marks(count))
    expect((await world.plan(marks(count).slice(deleted))).needs).toEqual(isMass ? ['massDelete'] : [])
  })

  it('is refused while something outside refers to it, whatever happens to soft references', async () => {
    const world = aWorld()
    await world.apply([
      { kind: 'Mark', name: 'edge' },
      disk('base', { with: ['edge'] }),
      disk('other', { with: ['edge'] }),
    ])
    const { id } = world.live('base')
    world.make('Disk', 'theirs', { size: '1B', basedOn: { id } }, [{ kind: 'Disk', id }])
    const plan = await world.plan([disk('other')])
    expect(codes(plan)).toEqual(['resource.referenced Disk/base'])
    expect(plan.blockers[0]!.reason).toContain('theirs')
  })

  it('is refused while a resource of the stack goes on to refer to it', async () => {
    const world = aWorld()
    const data = disk('data', { spec: { size: '1B', basedOn: { name: 'base' } } })
    await world.apply([disk('base'), data])
    const external = disk('data', { spec: { size: '1B', basedOn: { external: 'base' } } })
    expect(codes(await world.plan([external]))).toEqual(['resource.referenced Disk/base'])
    expect(codes(await world.plan([], { skip: [{ kind: 'Disk', name: 'data' }] }))).toEqual([
      'resource.referenced Disk/base',
    ])
    expect(codes(await world.plan([disk('fresh', { spec: { size: '1B', basedOn: { external: 'base' } } })]))).toEqual([
      'resource.referenced Disk/base',
    ])
    expect((await world.plan([disk('data')])).blockers).toEqual([])
  })

  it('comes after what refers to it was changed or deleted', async () => {
    const world = aWorld()
    const on = (name: string, base: string) => disk(name, { spec: { size: '1B', basedOn: { name: base } } })
    await world.apply([disk('a'), on('b', 'a'), on('c', 'b'), on('d', 'a'), disk('keep')])
    const { writes } = await world.apply([on('d', 'keep'), disk('keep')])
    expect(printWrites(writes)).toEqual(['update Disk/d', 'delete Disk/c', 'delete Disk/b', 'delete Disk/a'])
    expect(writes.platforms.get('')!.map(({ seq, after }) => ({ seq, after }))).toEqual([
      { seq: 1, after: [] },
      { seq: 2, after: [] },
      { seq: 3, after: [2] },
      { seq: 4, after: [1, 3] },
    ])
  })
})

describe('operations on a stack', () => {
  it('uninstall deletes what the stack made and can be applied again', async () => {
    const world = aWorld()
    const wishes: Wish[] = [{ kind: 'Mark', name: 'edge' }, disk('data', { with: ['edge'] })]
    await world.apply(wishes)
    const { plan, writes } = await world.apply([], { mode: { do: 'uninstall' } })
    expect(plan).toMatchObject({ needs: ['massDelete', 'dataLoss'], drift: [], counts: { delete: 2 } })
    expect(plan.actions[0]).toMatchObject({ why: 'uninstall', reason: 'data will be lost; the stack is uninstalled' })
    expect(printWrites(writes)).toEqual(['dissociate Disk/data → Mark/edge', 'delete Disk/data', 'delete Mark/edge'])
    expect(world.stack).toMatchObject({ state: 'uninstalled', resources: [] })
    expect((await world.apply([], { mode: { do: 'uninstall' } })).writes.record.event).toBeNull()
    await world.apply(wishes)
    expect(world.stack).toMatchObject({ state: 'active' })
    expect(world.stack!.resources).toHaveLength(2)
  })

  it('forget looks at nothing and writes nothing but the record', async () => {
    const world = aWorld()
    await world.apply([...marks(2), disk('data')])
    world.platform.faults = { unreadable: new Set([world.live('data').id]) }
    const { plan, writes } = await world.apply([], {
      mode: { do: 'forget', resources: [{ kind: 'Mark' }, { kind: 'Disk', name: 'data' }] },
    })
    expect(plan).toMatchObject({ applicable: true, counts: { forget: 3 } })
    expect(writes.platforms.size).toBe(0)
    expect(world.stack!.resources).toEqual([])
    expect(world.events.at(-1)).toMatchObject({ type: 'forget', outcome: '3 forgotten' })
    const unknown = await world.plan([], { mode: { do: 'forget', resources: [{ kind: 'Disk', name: 'data' }] } })
    expect(codes(unknown)).toEqual(['resource.unknown Disk/data'])
  })

  it('forget lets go of kinds that nobody knows any more, which nothing else does', async () => {
    const world = aWorld()
    await world.apply(marks(1))
    world.stack = { ...world.stack!, resources: [{ ...world.entry('m00'), kind: 'Ghost' }] }
    expect(codes(await world.plan([], { mode: { do: 'uninstall' } }))).toEqual(['kind.unknown Ghost/m00'])
    const { plan } = await world.apply([], { mode: { do: 'forget', resources: 'all' } })
    expect(shortly(plan)).toEqual(['forget Ghost/m00: asked to forget'])
    expect(world.stack.resources).toEqual([])
  })

  it('import takes live ones in as they are; their plan against themselves is empty', async () => {
    const world = aWorld()
    const edge = world.make('Mark', 'edge')
    const base = world.make('Disk', 'base', { size: '1B' })
    const data = world.make('Disk', 'data', { size: '2B', basedOn: { id: base.id } }, [{ kind: 'Disk', id: base.id }])
    world.platform.outside({ do: 'associate', from: data, to: edge })
    await world.apply(marks(1))
    const resources = [
      { kind: 'Disk', id: data.id, name: 'data' },
      { kind: 'Disk', displayName: 'base' },
    ]
    const { plan, writes } = await world.apply([], { mode: { do: 'import', resources } })
    expect(plan).toMatchObject({ applicable: true, counts: { adopt: 2 } })
    expect(writes.platforms.size).toBe(0)
    const derived = world.stack!.resources.find(({ id }) => id === base.id)!.name
    expect(derived).toMatch(/^base-[0-9a-f]{6}$/)
    expect(world.entry('data')).toMatchObject({
      adopted: true,
      lifecycle: {},
      associations: [{ kind: 'Mark', external: 'edge' }],
      lastApplied: { name: 'data', size: '2B', basedOn: { name: derived } },
    })
    const wishes: Wish[] = [
      ...marks(1),
      disk(derived, { as: 'base' }),
      disk('data', { spec: { size: '2B', basedOn: { name: derived } }, with: [{ kind: 'Mark', external: 'edge' }] }),
    ]
    const again = await world.apply(wishes)
    expect(again.plan.counts.unchanged).toBe(3)
    expect(again.writes.record).toEqual({ change: null, event: null })
  })

  it('import refuses what is unknown, owned, or named like another; all of it then', async () => {
    const world = aWorld()
    await world.apply(marks(1))
    const other = world.make('Mark', 'other')
    const own = world.live('m00')
    const resources = [
      { kind: 'Mark', id: 'nobody' },
      { kind: 'Mark', displayName: 'nobody' },
      { kind: 'Mark', id: own.id, name: 'again' },
      { kind: 'Mark', id: other.id, name: 'm00' },
    ]
    const plan = await world.plan([], { mode: { do: 'import', resources } })
    expect(codes(plan)).toEqual([
      'resource.unknown Mark/nobody',
      'resource.unknown Mark/nobody',
      'name.duplicate Mark/m00',
      'resource.owned Mark/again',
    ])
    expect(plan.applicable).toBe(false)
  })

  it('refresh tells drift and changes nothing; accepted, the record follows', async () => {
    const world = aWorld()
    await world.apply([...marks(2), disk('data', { with: ['m00'] })])
    world.change('data', { spec: { size: '9B', share: 1 } })
    world.remove('m00')
    const told = await world.apply([], { mode: { do: 'refresh', accept: false } })
    expect(told.plan.drift).toMatchObject([
      { name: 'data', gone: false, changes: [{ path: 'spec.size', old: '1B', new: '9B' }] },
      { name: 'm00', gone: true },
    ])
    expect(told.writes).toMatchObject({ record: { change: null, event: null } })
    const { plan, writes } = await world.apply([], { mode: { do: 'refresh', accept: true } })
    expect(plan.applicable).toBe(true)
    expect(writes.platforms.size).toBe(0)
    expect(writes.record.event).toMatchObject({ type: 'refresh' })
    expect(world.entry('data')).toMatchObject({ associations: [], lastApplied: { name: 'data', size: '9B' } })
    expect(world.entry('data').lastApplied).not.toHaveProperty('share')
    expect(world.stack!.resources.map(({ name }) => name)).toEqual(['data', 'm01'])
    expect((await world.plan([], { mode: { do: 'refresh', accept: true } })).drift).toEqual([])
  })

  it('reconcile corrects drift, makes again what is gone, and never deletes or replaces', async () => {
    const world = aWorld()
    await world.apply([...marks(2), disk('data'), disk('fixed')])
    world.change('data', { spec: { size: '9B' } })
    world.change('fixed', { spec: { format: 'qcow2' } })
    world.remove('m00')
    const { plan, writes } = await world.apply([], { mode: { do: 'reconcile' } })
    expect(shortly(plan)).toEqual([
      'update Disk/data: drifted',
      'create Mark/m00: deleted outside',
      'none Disk/fixed: drifted',
      'none Mark/m01: equal',
    ])
    expect(printWrites(writes)).toEqual(['update Disk/data', 'create Mark/m00'])
    expect(world.live('data').spec.size).toBe('1B')
    expect(world.live('fixed').spec.format).toBe('qcow2')
    expect(world.entry('data').lastApplied).toMatchObject({ size: '1B' })
  })
})
