import { describe, expect, it } from 'vitest'
import { planSchema } from '../model/plan.ts'
import { stackSchema } from '../model/stack.ts'
import { aWorld, printWrites, shortly, type Wish } from './world.fake.ts'

const store = (name: string, more: Partial<Wish> = {}): Wish => ({
  kind: 'Store',
  name,
  spec: { url: 'https://example.org' },
  ...more,
})
const disk = (name: string, spec: Wish['spec'] = {}, more: Partial<Wish> = {}): Wish => ({
  kind: 'Disk',
  name,
  spec: { size: '1GiB', ...spec },
  ...more,
})
const mark = (name: string, more: Partial<Wish> = {}): Wish => ({ kind: 'Mark', name, ...more })

async function applied(...wishes: Wish[]) {
  const world = aWorld()
  await world.apply(wishes)
  return world
}

describe('a plan', () => {
  it('has the shape that is promised, and the record too', async () => {
    const world = aWorld()
    const { plan } = await world.apply([
      mark('edge'),
      store('main', { with: ['edge'] }),
      disk('data', { store: { name: 'main' } }),
    ])
    expect(planSchema.parse(plan)).toEqual(plan)
    expect(stackSchema.parse(world.stack)).toEqual(world.stack)
    expect(plan).toMatchObject({
      stack: { name: 'new' },
      expiresAt: '2026-03-02T10:00:00.000Z',
      basis: { stackRevision: 0 },
    })
    expect(world.live('data')).toMatchObject({ spec: { store: { id: world.live('main').id } } })
  })

  it('leaves no trace, and comes out the same twice', async () => {
    const world = await applied(mark('edge'))
    const [before, record] = [world.platform.snapshot(), structuredClone(world.stack)]
    const wishes = [mark('edge', { as: 'other' }), store('main')]
    const [first, second] = [await world.plan(wishes), await world.plan(wishes)]
    expect(JSON.stringify(first)).toBe(JSON.stringify(second))
    expect([world.platform.snapshot(), world.stack]).toEqual([before, record])
    world.later(1_000)
    expect((await world.plan(wishes)).id).toBe(first.id)
    expect((await world.plan([mark('edge')])).id).not.toBe(first.id)
  })

  it('tells new, changed, removed and equal ones apart', async () => {
    const world = await applied(mark('edge'), store('main'), store('old'))
    const plan = await world.plan([
      mark('edge'),
      store('main', { spec: { url: 'https://other.example' } }),
      mark('extra'),
    ])
    expect(shortly(plan)).toEqual([
      'create Mark/extra: new in the bundle',
      'update Store/main: changed in the bundle',
      'delete Store/old: no longer in the bundle',
      'none Mark/edge: equal',
    ])
    expect(plan.counts).toEqual({ create: 1, update: 1, replace: 0, adopt: 0, forget: 0, delete: 1, unchanged: 1 })
    expect(plan.actions[1]).toMatchObject({ unchangedFields: 2, reason: 'spec.url changed in the bundle' })
  })

  it('brings drift back and lists it apart', async () => {
    const world = await applied(store('main'))
    world.change('main', { spec: { retries: 9 } })
    const plan = await world.plan([store('main')])
    expect(shortly(plan)).toEqual(['update Store/main: drifted'])
    expect(plan.drift).toEqual([
      { kind: 'Store', name: 'main', gone: false, changes: [{ path: 'spec.retries', old: 3, new: 9, why: 'drift' }] },
    ])
  })

  it('shows three values where bundle and live both moved', async () => {
    const world = await applied(store('main'))
    world.change('main', { spec: { retries: 9 } })
    const plan = await world.plan([store('main', { spec: { url: 'https://example.org', retries: 5 } })])
    expect(shortly(plan)).toEqual(['update Store/main: changed in both'])
    expect(plan.actions[0]!.changes).toEqual([{ path: 'spec.retries', old: 9, new: 5, last: 3, why: 'both' }])
    expect(plan.drift).toMatchObject([{ changes: [{ path: 'spec.retries', old: 3, new: 9, why: 'both' }] }])
  })

  it('lets the record follow what converged, without an event', async () => {
    const world = await applied(store('main'))
    world.change('main', { spec: { retries: 5 } })
    const [updatedAt, revision] = [world.stack!.updatedAt, world.stack!.revision]
    world.later(1_000)
    const { plan, writes } = await world.apply([store('main', { spec: { url: 'https://example.org', retries: 5 } })])
    expect(shortly(plan)).toEqual(['none Store/main: converged'])
    expect(printWrites(writes)).toEqual([])
    expect(writes.record).toMatchObject({ event: null, change: { put: [{ lastApplied: { retries: 5 } }] } })
    expect(world.stack).toMatchObject({ updatedAt, revision: revision + 1 })
    expect(world.events).toHaveLength(1)
  })

  it('neither shows nor touches what nobody manages', async () => {
    const world = await applied(store('main'))
    world.change('main', { spec: { user: 'somebody' } })
    expect(shortly(await world.plan([store('main')]))).toEqual(['none Store/main: equal'])
    await world.apply([store('main', { spec: { url: 'https://other.example' } })])
    expect(world.live('main').spec).toMatchObject({ url: 'https://other.example', user: 'somebody' })
  })

  it('writes ignored paths at create and leaves them alone then', async () => {
    const lifecycle = { ignore: ['spec.size', 'spec.name'] }
    const world = await applied(disk('data', {}, { lifecycle }))
    expect(world.live('data').spec.size).toBe('1GiB')
    world.change('data', { as: 'renamed', spec: { size: '9GiB' } })
    const { plan } = await world.apply([disk('data', { share: 1, size: '5GiB' }, { lifecycle })])
    expect(plan.actions[0]!.changes.map(({ path }) => path)).toEqual(['spec.share'])
    expect(world.live('renamed').spec).toMatchObject({ size: '9GiB', share: 1 })
    expect(plan.drift).toEqual([])
  })

  it('makes again what was deleted outside, under a new id', async () => {
    const world = await applied(mark('edge'), store('main', { with: ['edge'] }))
    const { id } = world.live('edge')
    world.remove('edge')
    const { plan, writes } = await world.apply([mark('edge'), store('main', { with: ['edge'] })])
    expect(shortly(plan)[0]).toBe('create Mark/edge: deleted outside')
    expect(plan.drift).toEqual([{ kind: 'Mark', name: 'edge', gone: true, changes: [] }])
    expect(plan.associations).toMatchObject([{ action: 'create', why: 'drift' }])
    expect(printWrites(writes)).toEqual(['create Mark/edge', 'associate Store/main → Mark/edge'])
    expect(world.live('edge').id).not.toBe(id)
    expect(world.entry('edge').id).toBe(world.live('edge').id)
    expect(shortly(await world.plan([mark('edge'), store('main', { with: ['edge'] })]))).toEqual([
      'none Mark/edge: equal',
      'none Store/main: equal',
    ])
  })

  it('lets referrers follow what is made anew', async () => {
    const wishes = [store('main'), disk('data', { store: { name: 'main' } })]
    const world = await applied(...wishes)
    const { id } = world.live('main')
    world.remove('main')
    const { plan } = await world.apply(wishes)
    expect(plan.actions.find(({ name }) => name === 'data')).toMatchObject({
      action: 'update',
      changes: [{ path: 'spec.store', old: { id }, new: { name: 'main' } }],
    })
    expect(world.live('data').spec.store).toEqual({ id: world.live('main').id })
  })

  it('only drops from the record what is gone already', async () => {
    const world = await applied(mark('edge'), store('main'))
    world.remove('main')
    const { plan, writes } = await world.apply([mark('edge')])
    expect(shortly(plan)[0]).toBe('delete Store/main: already gone')
    expect(plan.needs).toEqual([])
    expect(printWrites(writes)).toEqual([])
    expect(world.stack!.resources.map(({ name }) => name)).toEqual(['edge'])
  })

  it('replaces what cannot be changed in place, and asks before data is lost', async () => {
    const world = await applied(disk('base'), disk('data', { basedOn: { name: 'base' } }))
    const old = world.live('base')
    const { plan, writes } = await world.apply([
      disk('base', { format: 'qcow2' }),
      disk('data', { basedOn: { name: 'base' } }),
    ])
    expect(shortly(plan)).toEqual([
      'replace Disk/base: an immutable field changed',
      'update Disk/data: changed in the bundle',
    ])
    expect(plan.actions[0]).toMatchObject({
      id: old.id,
      destroysData: true,
      reason: 'data will be lost; spec.format cannot be changed in place',
      changes: [{ path: 'spec.format', forcesReplacement: true }],
    })
    expect(plan.needs).toEqual(['dataLoss'])
    // The name is not unique: the new one is there before the old one goes, and nothing ever refers to nothing.
    expect(printWrites(writes)).toEqual(['create Disk/base', 'update Disk/data', 'delete Disk/base'])
    expect(world.entry('base').id).toBe(world.live('base').id)
    expect(world.live('base').id).not.toBe(old.id)
    expect(world.live('data').spec.basedOn).toEqual({ id: world.live('base').id })
  })

  it('replaces between two kinds of one family, where the old name must go first', async () => {
    const world = await applied({ kind: 'RuleA', name: 'hot', spec: { every: '1m', threshold: 1 } })
    const { plan, writes } = await world.apply([{ kind: 'RuleB', name: 'hot', spec: { every: '1m', silentFor: '5m' } }])
    expect(plan.actions[0]).toMatchObject({
      action: 'replace',
      kind: 'RuleB',
      changes: [{ path: 'kind', old: 'RuleA', new: 'RuleB' }],
    })
    expect(printWrites(writes)).toEqual(['delete RuleB/hot', 'create RuleB/hot'])
    expect(world.stack!.resources.map(({ kind, name }) => `${kind}/${name}`)).toEqual(['RuleB/hot'])
    expect(world.live('hot').kind).toBe('RuleB')
  })

  it('with problems in the bundle still says what it can, deletes nothing of that, and is not applicable', async () => {
    const world = await applied(mark('edge'), mark('core'))
    const plan = await world.plan([mark('new')], { valid: false, invalid: new Set(['Mark/edge']) })
    expect(shortly(plan)).toEqual([
      'create Mark/new: new in the bundle',
      'delete Mark/core: no longer in the bundle',
      'none Mark/edge: skipped',
    ])
    expect(plan).toMatchObject({ applicable: false, blockers: [] })
  })

  it('takes what cannot be read for neither new nor gone', async () => {
    const world = await applied(mark('edge'), mark('core'))
    const ids = [world.live('edge').id, world.live('core').id]
    world.platform.faults = { unreadable: new Set(ids) }
    const plan = await world.plan([mark('edge')])
    expect(plan.blockers.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'live.unreadable Mark/core',
      'live.unreadable Mark/edge',
    ])
    expect(plan.counts).toMatchObject({ create: 0, delete: 0, unchanged: 2 })
    expect(plan.applicable).toBe(false)
  })

  it('records a policy that changes, without an event', async () => {
    const world = await applied(mark('edge'))
    const { writes } = await world.apply([mark('edge', { lifecycle: { onRemove: 'protect' } })])
    expect(writes.record).toMatchObject({ event: null, change: { put: [{ lifecycle: { onRemove: 'protect' } }] } })
    expect((await world.plan([store('x')])).blockers).toMatchObject([{ code: 'resource.protected', path: 'Mark/edge' }])
  })
})

describe('secrets', () => {
  const wish = store('main', { spec: { url: 'u', password: { secretRef: { key: 'pw' } } }, secrets: ['pw'] })

  it('are put before what uses them, and a new value is a change that shows nothing', async () => {
    const world = aWorld()
    const first = await world.apply([wish], { secrets: { pw: 'hunter2', unused: 'x' } })
    expect(first.plan.secrets).toEqual([{ key: 'pw', action: 'create' }])
    expect(printWrites(first.writes)).toEqual(['secret pw', 'create Store/main'])
    expect(first.writes.platforms.get('')![1]!.after).toEqual([1])

    expect((await world.plan([wish], { secrets: { pw: 'hunter2' } })).counts.unchanged).toBe(1)
    const { plan, writes } = await world.apply([wish], { secrets: { pw: 'correct horse' } })
    expect(plan.secrets).toEqual([{ key: 'pw', action: 'update' }])
    expect(plan.actions[0]).toMatchObject({
      action: 'update',
      why: 'a secret changed',
      changes: [{ path: 'spec.password', old: '(secret)', new: '(secret, changed)', why: 'secret' }],
    })
    expect(printWrites(writes)).toEqual(['secret pw', 'update Store/main'])
    expect(JSON.stringify([plan, writes.record, [...writes.platforms]])).not.toMatch(/hunter2|horse/)
  })
})

describe('external and named references', () => {
  it('are used, not owned', async () => {
    const world = aWorld()
    const out = world.make('Store', 'shared', { url: 'u' })
    const { plan } = await world.apply([disk('data', { store: { external: 'shared' } })])
    expect(plan.blockers).toEqual([])
    expect(world.live('data').spec.store).toEqual({ id: out.id })
    expect(world.platform.state.refersTo.get(world.live('data').id)).toEqual([{ kind: 'Store', id: out.id }])
    expect((await world.plan([disk('data', { store: { external: 'shared' } })])).counts.unchanged).toBe(1)
    expect(shortly(await world.plan([disk('data')]))).toEqual(['update Disk/data: changed in the bundle'])
  })

  it('block when nobody or more than one has the name', async () => {
    const world = aWorld()
    world.make('Disk', 'twin', { size: '1B' })
    world.platform.outside({
      do: 'create',
      kind: 'Disk',
      id: 'second',
      apiVersion: 'v',
      displayName: 'twin',
      spec: {},
      refersTo: [],
    })
    const plan = await world.plan([
      disk('a', { basedOn: { external: 'twin' } }),
      disk('b', { basedOn: { external: 'nobody' } }),
    ])
    expect(plan.blockers).toMatchObject([
      { code: 'reference.external', path: 'Disk/a.spec.basedOn', reason: expect.stringContaining('second') },
      { code: 'reference.external', path: 'Disk/b.spec.basedOn' },
    ])
  })

  it('by display name are resolved in the bundle first, and order what is made', async () => {
    const world = aWorld()
    const group: Wish = { kind: 'Group', name: 'all', spec: { stores: { harbor: {} } } }
    const { plan, writes } = await world.apply([group, store('main', { as: 'harbor' })])
    expect(printWrites(writes)).toEqual(['create Store/main', 'create Group/all'])
    expect(plan.actions[1]!.dependsOn).toEqual(['Store/main'])
    const { id } = world.live('harbor')
    expect(world.platform.state.refersTo.get(world.live('all').id)).toEqual([{ kind: 'Store', id }])
    expect((await world.plan([group])).blockers).toMatchObject([{ code: 'resource.referenced', path: 'Store/main' }])
    expect((await aWorld().plan([group])).blockers).toMatchObject([
      { code: 'reference.external', path: 'Group/all.spec.stores.harbor' },
    ])
  })
})

describe('names and display names', () => {
  it('are not mixed up when one resource is called what another shows', async () => {
    const world = aWorld()
    const stores = [store('a', { as: 'x' }), store('b', { as: 'a' })]
    const group: Wish = { kind: 'Group', name: 'all', spec: { stores: { x: {}, a: {} } } }
    await world.apply([...stores, group, disk('data', { store: { name: 'a' } })])
    expect(world.live('data').spec.store).toEqual({ id: world.live('x').id })
    expect(world.platform.state.refersTo.get(world.live('all').id)).toHaveLength(2)
  })

  it('leave a reference by display name hanging when what it means is renamed', async () => {
    const world = aWorld()
    const group: Wish = { kind: 'Group', name: 'all', spec: { stores: { x: {} } } }
    await world.apply([store('a', { as: 'x' }), group])
    expect((await world.plan([store('a', { as: 'y' }), group])).blockers).toMatchObject([
      { code: 'reference.external', path: 'Group/all.spec.stores.x' },
    ])
  })
})

describe('skip', () => {
  const all = [mark('edge'), store('main', { with: ['edge'] })]

  it('leaves what is in the stack as it is, changed or removed', async () => {
    const world = await applied(...all)
    const { plan, writes } = await world.apply([mark('edge', { as: 'other' })], {
      skip: [{ kind: 'Mark', name: 'edge' }, { kind: 'Store' }],
    })
    expect(shortly(plan)).toEqual(['none Mark/edge: skipped', 'none Store/main: skipped'])
    expect(writes.record).toEqual({ change: null, event: null })
  })

  it('does not make what is new, and drops associations with it', async () => {
    const world = aWorld()
    const { plan, writes } = await world.apply(all, { skip: [{ kind: 'Mark' }] })
    expect(shortly(plan)).toEqual(['create Store/main: new in the bundle', 'none Mark/edge: skipped'])
    expect(plan.associations).toMatchObject([{ action: 'dropped', why: 'skipped' }])
    expect(printWrites(writes)).toEqual(['create Store/main'])
    expect(world.entry('main').associations).toEqual([])
    expect(shortly(await world.plan(all))).toContain('create Mark/edge: new in the bundle')
  })

  it('refuses a hard reference to what is skipped and not there', async () => {
    const plan = await aWorld().plan([store('main'), disk('data', { store: { name: 'main' } })], {
      skip: [{ kind: 'Store' }],
    })
    expect(plan.blockers).toMatchObject([{ code: 'reference.missing', path: 'Disk/data.spec.store' }])
  })

  it('keeps the old name of an entry that would move', async () => {
    const world = await applied(mark('old'))
    const { plan, writes } = await world.apply([mark('new', { movedFrom: ['old'] })], {
      skip: [{ kind: 'Mark', name: 'new' }],
    })
    expect(shortly(plan)).toEqual(['none Mark/new: skipped'])
    expect(writes.record.change).toBeNull()
  })
})

describe('moved', () => {
  it('renames the entry and writes nothing to the platform', async () => {
    const world = await applied(mark('old', { as: 'shown' }), store('main', { with: ['old'] }))
    const { id } = world.live('shown')
    const wishes = [mark('new', { as: 'shown', movedFrom: ['older', 'old'] }), store('main', { with: ['new'] })]
    const { plan, writes } = await world.apply(wishes)
    expect(plan.actions).toMatchObject([
      { action: 'none', name: 'new', why: 'renamed', movedFrom: 'old', id },
      { action: 'none', name: 'main', why: 'equal' },
    ])
    expect(printWrites(writes)).toEqual([])
    expect(writes.record.event).toMatchObject({ type: 'moved', changes: [{ action: 'rename', name: 'new', id }] })
    expect(world.stack!.resources.map(({ name }) => name)).toEqual(['new', 'main'])
    expect((await world.apply(wishes)).writes.record).toEqual({ change: null, event: null })
  })

  it('is an update when a field changes as well, and references follow', async () => {
    const world = await applied(store('old'), disk('data', { store: { name: 'old' } }))
    const { plan } = await world.apply([store('new', { movedFrom: ['old'] }), disk('data', { store: { name: 'new' } })])
    expect(plan.actions).toMatchObject([
      { action: 'update', name: 'new', movedFrom: 'old', changes: [{ path: 'spec.name', old: 'old', new: 'new' }] },
      { action: 'none', name: 'data', why: 'equal' },
    ])
    expect(world.entry('data').lastApplied).toMatchObject({ store: { name: 'new' } })
  })

  it('refuses when both are in the stack, or two claim one', async () => {
    const world = await applied(mark('old'), mark('new'))
    const both = await world.plan([mark('new', { movedFrom: ['old'] })])
    expect(both.blockers).toMatchObject([{ code: 'moved.conflict', path: 'Mark/new.metadata.movedFrom[0]' }])
    const two = await world.plan([mark('a1', { movedFrom: ['old'] }), mark('b1', { movedFrom: ['old'] }), mark('new')])
    expect(two.blockers).toMatchObject([{ code: 'moved.conflict', path: 'Mark/b1.metadata.movedFrom[0]' }])
  })

  it('has no effect when nothing of that name is in the stack', async () => {
    expect(shortly(await aWorld().plan([mark('new', { movedFrom: ['old'] })]))).toEqual([
      'create Mark/new: new in the bundle',
    ])
  })
})

describe('without a stack', () => {
  it('records nothing, deletes nothing, and matches unique names only when told to', async () => {
    const world = aWorld()
    world.make('Store', 'main', { url: 'u' })
    expect((await world.plan([store('main')], { noStack: true })).blockers).toMatchObject([{ code: 'resource.exists' }])
    const { plan, writes } = await world.apply([store('main')], { noStack: true, adopt: 'byName' })
    expect(plan).toMatchObject({ stack: null, actions: [{ action: 'update' }] })
    expect(writes.record).toEqual({ change: null, event: null })
    expect(world.live('main').spec.url).toBe('https://example.org')
    expect((await world.plan([store('main')], { noStack: true, adopt: 'byName' })).counts.unchanged).toBe(1)
  })
})
