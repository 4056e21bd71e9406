// Who owns what, what may be deleted, names that move, resources that are skipped, and the life of a stack.
import { afterEach, expect, it } from 'vitest'
import * as routes from '../../src/server/contract/stacks.ts'
import { a, onEachDatabase, refusal, told, withLabel } from './scene.ts'

onEachDatabase('ownership', scene => {
  afterEach(() => scene.clear())

  it('refuses a name that is there already, and names the ways to take it over', async () => {
    const { metadata } = await scene.make('Label', { name: 'edge', color: '#111111' })
    const { status, codes, problems } = await refusal(scene.apply([a('Label', 'mine', { name: 'edge' })]))
    expect({ status, codes }).toEqual({ status: 409, codes: expect.arrayContaining(['resource.exists']) })
    expect(problems.find(({ code }) => code === 'resource.exists')?.hint).toContain('adopt')
    expect((await scene.live('Label', 'edge')).metadata).toEqual(metadata)
    // A failed apply leaves no stack that it would have made.
    expect((await scene.server.client.call(routes.listStacks, {})).stacks).toEqual([])
  })

  it.each(['by name of the request', 'by name of the resource', 'by id'])(
    'adopts %s, and then leaves it at uninstall',
    async how => {
      const { id } = (await scene.make('Label', { name: 'edge', color: '#111111' })).metadata
      const adopt = how === 'by id' ? { id } : 'byName'
      const lifecycle = how === 'by name of the request' ? {} : { lifecycle: { adopt } }
      const bundle = [a('Label', 'mine', { name: 'edge', color: '#222222' }, lifecycle)]
      const { plan } = await scene.apply(bundle, {
        stackName: 'adopter',
        ...(how === 'by name of the request' && { adopt: 'byName' as const }),
      })
      expect(told(plan)).toEqual(['adopt Label/mine spec.color'])
      expect((await scene.live('Label', 'edge')).metadata).toMatchObject({ id, stack: { name: 'adopter' } })
      expect((await scene.live('Label', 'edge')).spec.color).toBe('#222222')
      expect((await scene.stack('adopter')).resources).toMatchObject([{ id, adopted: true }])
      const { client } = scene.server
      const { plan: removal } = await client.call(routes.uninstallStack, { params: { id: 'adopter' }, body: {} })
      expect(removal && told(removal)).toEqual(['forget Label/mine'])
      expect((await scene.live('Label', 'edge')).metadata).toMatchObject({ id, stack: null })
    },
  )

  it('lets no two stacks own one resource; forget there and import here moves it', async () => {
    await scene.apply([a('Label', 'edge')], { stackName: 'first' })
    const taken = [a('Label', 'other', { name: 'edge' }, { lifecycle: { adopt: 'byName' } })]
    const { status, problems } = await refusal(scene.apply(taken, { stackName: 'second' }))
    const owned = problems.find(({ code }) => code === 'resource.owned')
    expect({ status, reason: owned?.reason }).toEqual({ status: 409, reason: expect.stringContaining('first') })
    const { client } = scene.server
    await client.call(routes.forgetInStack, {
      params: { id: 'first' },
      body: { resources: [{ kind: 'Label', name: 'edge' }] },
    })
    await scene.createStack('second')
    const imported = await client.call(routes.importIntoStack, {
      params: { id: 'second' },
      body: { resources: [{ kind: 'Label', displayName: 'edge', name: 'other' }] },
    })
    expect(imported.exported).toMatchObject([{ kind: 'Label', metadata: { name: 'other' } }])
    expect((await scene.live('Label', 'edge')).metadata.stack).toMatchObject({ name: 'second', resource: 'other' })
    expect((await scene.history('second'))[0]?.type).toBe('import')
    expect((await scene.history('first'))[0]?.type).toBe('forget')
  })

  it('keeps what is to be retained, and refuses to delete what is protected until it is not', async () => {
    const kept = (onRemove: string) => a('Label', 'kept', {}, { lifecycle: { onRemove } })
    await scene.apply([kept('protect'), a('Label', 'other')], { stackName: 'policy' })
    const without = [a('Label', 'other')]
    const { status, codes } = await refusal(scene.apply(without, { stack: 'policy' }))
    expect({ status, codes }).toEqual({ status: 409, codes: expect.arrayContaining(['resource.protected']) })
    const { client } = scene.server
    const uninstall = client.call(routes.uninstallStack, {
      params: { id: 'policy' },
      body: { confirm: ['massDelete'] },
    })
    expect((await refusal(uninstall)).codes).toContain('resource.protected')
    await scene.apply([kept('retain'), ...without], { stack: 'policy' })
    expect(told((await scene.apply(without, { stack: 'policy' })).plan)).toEqual(['forget Label/kept'])
    expect(await scene.names('Label')).toEqual(['kept', 'other'])
  })

  it.each([
    { of: 12, removed: 12, needs: ['massDelete'] },
    { of: 12, removed: 10, needs: ['massDelete'] },
    { of: 12, removed: 9, needs: [] },
    { of: 30, removed: 10, needs: [] },
  ])('asks before it deletes $removed of $of: $needs', async ({ of, removed, needs }) => {
    const all = Array.from({ length: of }, (_, n) => a('Label', `label-${n}`))
    await scene.apply(all, { stackName: 'mass' })
    const rest = all.slice(removed)
    const options = { stack: 'mass', options: { allowEmpty: true } }
    expect((await scene.plan(rest, options)).plan.needs).toEqual(needs)
    if (needs.length > 0) {
      const { status, problems } = await refusal(scene.apply(rest, options))
      expect({ status, paths: problems.map(({ path }) => path) }).toEqual({ status: 428, paths: ['massDelete'] })
    }
    await scene.apply(rest, { ...options, confirm: ['massDelete'] })
    expect(await scene.names('Label')).toHaveLength(of - removed)
  })

  it('asks by name for the loss of data, and blocks the delete of what others refer to', async () => {
    await scene.apply([a('Volume', 'data'), a('Datastore', 'store'), a('Label', 'stays')], { stackName: 'loss' })
    const { status, problems } = await refusal(
      scene.apply([a('Datastore', 'store'), a('Label', 'stays')], { stack: 'loss' }),
    )
    expect({ status, path: problems[0]?.path }).toEqual({ status: 428, path: 'dataLoss' })
    expect(problems[0]?.reason).toContain('Volume/data')

    await scene.make('Volume', { name: 'outside', datastore: { external: 'store' } })
    const removing = scene.apply([a('Volume', 'data'), a('Label', 'stays')], { stack: 'loss' })
    const blocked = await refusal(removing)
    expect(blocked.status).toBe(409)
    expect(blocked.problems.find(({ code }) => code === 'resource.referenced')?.reason).toContain('outside')
  })

  it('renames its entry for `movedFrom` without a write, through a chain, and says when two claim one', async () => {
    const { stackId } = await scene.apply([a('Label', 'first', { name: 'edge' })], { stackName: 'moving' })
    const { id } = (await scene.live('Label', 'edge')).metadata
    const { plan } = await scene.apply([a('Label', 'second', { name: 'edge' }, { movedFrom: 'first' })], {
      stack: 'moving',
    })
    expect(told(plan)).toEqual([])
    expect(plan.actions).toMatchObject([{ name: 'second', movedFrom: 'first', why: 'renamed' }])
    const chained = [a('Label', 'third', { name: 'edge' }, { movedFrom: ['first', 'second'] })]
    await scene.apply(chained, { stack: 'moving' })
    expect((await scene.stack('moving')).resources).toMatchObject([{ name: 'third', id }])
    expect((await scene.history(String(stackId))).map(({ type }) => type)).toEqual(['moved', 'moved', 'apply'])
    expect((await scene.apply(chained, { stack: 'moving' })).outcome.did).toBe('nothing')
    const clash = ['x1', 'x2'].map(name => a('Label', name, {}, { movedFrom: 'third' }))
    expect((await refusal(scene.apply(clash, { stack: 'moving' }))).codes).toContain('moved.conflict')
  })

  it('leaves what is skipped as it is, makes nothing new of it, and drops associations to it', async () => {
    await scene.apply([a('Label', 'old', { color: '#111111' }), a('Variable', 'v', { value: 1 })], {
      stackName: 'skip',
    })
    const bundle = [
      a('Label', 'old', { color: '#222222' }),
      a('Label', 'new'),
      a('Variable', 'v', { value: 2, ...withLabel('new') }),
    ]
    const { plan } = await scene.apply(bundle, { stack: 'skip', skip: [{ kind: 'Label' }] })
    expect(told(plan)).toEqual(['update Variable/v spec.value', 'drop Variable/v Label/new'])
    expect(await scene.names('Label')).toEqual(['old'])
    expect((await scene.live('Label', 'old')).spec.color).toBe('#111111')
    // Skipped is not removed.
    const only = [a('Variable', 'v', { value: 2 })]
    await scene.apply(only, { stack: 'skip', skip: [{ kind: 'Label', name: 'old' }] })
    expect((await scene.stack('skip')).resources.map(({ name }) => name)).toEqual(['old', 'v'])
    const hard = [a('Datastore', 'store'), a('Volume', 'vol', { datastore: { name: 'store' } })]
    const refused = await refusal(scene.apply(hard, { skip: [{ kind: 'Datastore' }] }))
    expect(refused.status).toBeOneOf([409, 422])
  })
})

onEachDatabase('a stack', scene => {
  afterEach(() => scene.clear())
  const client = () => scene.server.client

  it('is made, listed, found by name and by id, changed field by field, and deleted as often as one likes', async () => {
    const one = await scene.createStack('one', ['https://bundles.example/one.yaml'])
    await scene.createStack('two')
    await scene.createStack('two')
    const list = async (query: object) =>
      (await client().call(routes.listStacks, { query })).stacks.map(({ name }) => name)
    expect(await list({})).toEqual(['one', 'two', 'two'])
    expect(await list({ name: ['two'] })).toEqual(['two', 'two'])
    expect(await list({ name: ['one', 'two'] })).toHaveLength(3)
    expect(await list({ id: [one.id] })).toEqual(['one'])
    expect(await refusal(scene.stack('two'))).toMatchObject({ status: 409, codes: ['stack.ambiguous'] })
    expect(await refusal(scene.stack('three'))).toMatchObject({ status: 404, codes: ['stack.unknown'] })

    const patch = (body: object, ifMatch?: number) =>
      client().call(routes.patchStack, { params: { id: one.id }, body, ...(ifMatch !== undefined && { ifMatch }) })
    expect((await patch({})).revision).toBe(one.revision)
    expect(await scene.history(one.id)).toHaveLength(1)
    const changed = await patch({ description: 'new' }, one.revision)
    expect(changed).toMatchObject({ description: 'new', name: 'one', config: { urls: one.config.urls } })
    expect(await refusal(patch({ name: 'lost' }, one.revision))).toMatchObject({ status: 412 })
    const all = await patch({ name: 'uno', description: '', urls: [], reconcile: '10m' }, changed.revision)
    expect(all).toMatchObject({ name: 'uno', description: '', config: { urls: [], reconcile: '10m' } })
    expect((await scene.history(one.id)).map(({ type }) => type)).toEqual(['update', 'update', 'create'])
    for (const id of [one.id, one.id, 'never-there']) await client().call(routes.deleteStack, { params: { id } })
    expect(await list({})).toEqual(['two', 'two'])
  })

  it('is uninstalled, keeps its record, and comes back with the next apply', async () => {
    const bundle = [a('Label', 'one'), a('Volume', 'two', withLabel('one'))]
    await scene.apply(bundle, { stackName: 'whole' })
    const ask = (body: object) => client().call(routes.uninstallStack, { params: { id: 'whole' }, body })
    const planned = await ask({ planOnly: true })
    expect(planned.plan && told(planned.plan)).toEqual(
      expect.arrayContaining(['delete Volume/two', 'delete Label/one', 'dissociate Volume/two Label/one']),
    )
    expect(await scene.names('Label')).toEqual(['one'])
    expect(await refusal(ask({}))).toMatchObject({ status: 428 })
    await ask({ confirm: ['massDelete', 'dataLoss'] })
    expect([await scene.names('Label'), await scene.names('Volume')]).toEqual([[], []])
    expect(await scene.stack('whole')).toMatchObject({ state: 'uninstalled', resources: [] })
    expect((await scene.apply(bundle, { stack: 'whole' })).plan.counts.create).toBe(2)
    expect((await scene.stack('whole')).state).toBe('active')
    const remove = { params: { id: 'whole' }, query: { keepResources: 'true' as const } }
    await client().call(routes.deleteStack, remove)
    expect(await scene.names('Volume')).toEqual(['two'])
  })

  it('without content and without URLs is an empty bundle, never a delete of everything', async () => {
    await scene.apply([a('Label', 'one')], { stackName: 'careful' })
    const { status, problems } = await refusal(scene.apply({ sources: [] }, { stack: 'careful' }))
    expect({ status, code: problems[0]?.code }).toEqual({ status: 422, code: 'bundle.empty' })
    expect(problems[0]?.hint).toContain('uninstall')
    expect(await scene.names('Label')).toEqual(['one'])
  })

  it('imports all or none', async () => {
    await scene.make('Label', { name: 'loose' })
    await scene.apply([a('Label', 'taken')], { stackName: 'owner' })
    await scene.createStack('importer')
    const ask = (...displayNames: string[]) =>
      client().call(routes.importIntoStack, {
        params: { id: 'importer' },
        body: { resources: displayNames.map(displayName => ({ kind: 'Label', displayName })) },
      })
    expect((await refusal(ask('loose', 'taken'))).codes).toContain('resource.owned')
    expect((await scene.stack('importer')).resources).toEqual([])
    const { exported } = await ask('loose')
    // The answer is the text for the bundle: with it there is nothing to do.
    const pasted = { sources: [{ name: 'pasted.json', content: JSON.stringify(exported) }] }
    expect((await scene.apply(pasted, { stack: 'importer' })).outcome.did).toBe('nothing')
  })

  it('reports what changed outside, and follows it when asked', async () => {
    await scene.apply([a('Label', 'one', { color: '#111111' }), a('Label', 'two')], { stackName: 'fresh' })
    await scene.change('Label', 'one', { color: '#222222' })
    await scene.remove('Label', 'two')
    const ask = (body: object) => client().call(routes.refreshStack, { params: { id: 'fresh' }, body })
    const seen = await ask({})
    expect(seen.drift.map(({ name, gone }) => [name, gone])).toEqual([
      ['one', false],
      ['two', true],
    ])
    expect((await scene.stack('fresh')).resources).toHaveLength(2)
    await ask({ accept: true })
    expect((await scene.stack('fresh')).resources).toMatchObject([{ name: 'one', lastApplied: { color: '#222222' } }])
    expect((await scene.live('Label', 'one')).spec.color).toBe('#222222')
    expect((await ask({})).drift).toEqual([])
  })

  it('keeps the newest 200 events and the first', async () => {
    const { id } = await scene.createStack('long')
    for (let n = 0; n < 205; n++)
      await client().call(routes.patchStack, { params: { id }, body: { description: String(n) } })
    const events = await scene.history(id)
    expect(events).toHaveLength(201)
    expect([events[0]?.seq, events.at(-2)?.seq, events.at(-1)?.seq]).toEqual([206, 7, 1])
  })

  it('is not needed: a stateless apply records and deletes nothing, and takes over by name only when told', async () => {
    const bundle = [a('Label', 'one'), a('Volume', 'two')]
    const { stackId, outcome } = await scene.apply(bundle, { noStack: true })
    expect({ stackId, did: outcome.did }).toEqual({ stackId: null, did: 'applied' })
    expect((await client().call(routes.listStacks, {})).stacks).toEqual([])
    expect((await refusal(scene.apply(bundle, { noStack: true }))).codes).toContain('resource.exists')
    await scene.apply(bundle, { noStack: true, adopt: 'byName' })
    // A Volume has no unique name: it is made anew each time.
    expect([await scene.names('Label'), await scene.names('Volume')]).toEqual([['one'], ['two', 'two']])
  })
})
