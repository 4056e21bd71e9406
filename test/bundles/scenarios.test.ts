// A stack from its first apply on: the six rows of the seed, what plans say, that they bind, and who may write at a time.
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { cancelStack, getStack, listStacks, unlockStack } from '../../src/server/contract/stacks.ts'
import { type Applied, a, changesSince, onEachDatabase, refusal, told } from './scene.ts'
import { type TestServer, until } from './server.ts'

onEachDatabase('stack S1 of the seed', scene => {
  const label = (name: string) => `kind: Label
metadata:
  name: lucid_einstein
spec:
  name: ${name}
`
  const associated = `
  association:
    - kind: Label
      name: lucid_einstein
`
  const datastore = (more = associated) => `kind: Datastore
metadata:
  name: pristine_noir
spec:
  name: datastore_1${more.trimEnd()}
`
  const volume = (more = associated) => `kind: Volume
metadata:
  name: charmed_saratoba
spec:
  name: volume_1${more.trimEnd()}
`
  const policy = `kind: DiscoveryPolicy
metadata:
  name: alcord_mumphries
spec:
  name: policy_1
  sources: [{ type: registry, registry: { url: https://registry.example, repositories: [team/web] } }]${associated}`

  let id: string
  let labelId: string
  let datastoreId: string
  let volumeId: string
  const apply = (...documents: string[]) => scene.apply(documents.join('---\n'), { stack: id })
  /** Byte for byte. */
  const record = async () => (await scene.server.fetch(`/api/v1/stacks/${id}`)).text()
  const resources = async () =>
    (await scene.stack(id)).resources.map(({ kind, name, id, associations }) => ({ kind, name, id, associations }))
  const toLabel = [{ kind: 'Label', name: 'lucid_einstein' }]
  const three = () => [
    { kind: 'Datastore', name: 'pristine_noir', id: datastoreId, associations: toLabel },
    { kind: 'Label', name: 'lucid_einstein', id: labelId, associations: [] },
    { kind: 'Volume', name: 'charmed_saratoba', id: volumeId, associations: toLabel },
  ]

  it('begins empty and without URLs', async () => {
    const { id: made, ...stack } = await scene.createStack('S1')
    id = made
    expect(stack).toMatchObject({ state: 'active', resources: [], config: { urls: [] }, revision: 1 })
    expect(stack.updatedAt).toBe(stack.createdAt)
  })

  it('row 1: everything is new: the Label, then Datastore and Volume, then both associations', async () => {
    const before = await scene.lastChange()
    const { plan, outcome, warnings } = await apply(label('label_1'), datastore(), volume())
    expect(outcome).toEqual({ did: 'applied', madeStack: false })
    expect(told(plan)).toEqual([
      'create Label/lucid_einstein',
      'create Datastore/pristine_noir',
      'create Volume/charmed_saratoba',
      'associate Datastore/pristine_noir Label/lucid_einstein',
      'associate Volume/charmed_saratoba Label/lucid_einstein',
    ])
    // The seed writes `association`; it is read, and said.
    expect(warnings.map(({ path }) => path)).toEqual([
      'Datastore/pristine_noir.spec.association',
      'Volume/charmed_saratoba.spec.association',
    ])
    labelId = (await scene.live('Label', 'label_1')).metadata.id
    datastoreId = (await scene.live('Datastore', 'datastore_1')).metadata.id
    volumeId = (await scene.live('Volume', 'volume_1')).metadata.id
    expect(await resources()).toEqual(three())
    const [event, ...older] = await scene.history(id)
    expect(event).toMatchObject({ type: 'apply', by: 'local', planId: plan.id, counts: { create: 3 } })
    expect(older.map(({ type }) => type)).toEqual(['create'])
    expect((await changesSince(scene.server, before)).slice(0, 1)).toEqual(['created Label label_1'])
  })

  it('row 2: the same again does nothing: no write, no event, and the record is equal byte for byte', async () => {
    const before = { record: await record(), events: await scene.history(id), change: await scene.lastChange() }
    const rows = await scene.server.query('select * from resources order by id')
    for (const documents of [
      [label('label_1'), datastore(), volume()],
      [volume(), datastore(), label('label_1')],
    ]) {
      const { outcome, plan } = await apply(...documents)
      expect(outcome).toEqual({ did: 'nothing' })
      expect(plan.counts).toMatchObject({ create: 0, update: 0, delete: 0, unchanged: 3 })
    }
    expect(await record()).toBe(before.record)
    expect(await scene.history(id)).toEqual(before.events)
    expect(await scene.lastChange()).toBe(before.change)
    expect(await scene.server.query('select * from resources order by id')).toEqual(rows)
  })

  it('row 3: the Label is renamed in place, and nothing else is written', async () => {
    const before = { stack: await scene.stack(id), change: await scene.lastChange() }
    const { plan } = await apply(label('cool label name'), datastore(), volume())
    expect(told(plan)).toEqual(['update Label/lucid_einstein spec.name'])
    expect(plan.actions[0]?.changes).toEqual([
      { path: 'spec.name', old: 'label_1', new: 'cool label name', why: 'bundle' },
    ])
    expect((await scene.live('Label', 'cool label name')).metadata.id).toBe(labelId)
    expect(await resources()).toEqual(three())
    const after = await scene.stack(id)
    expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(before.stack.updatedAt))
    expect(after.createdAt).toBe(before.stack.createdAt)
    expect((await changesSince(scene.server, before.change)).sort()).toEqual([
      'stack Stack S1',
      'updated Label cool label name',
    ])
  })

  it('row 4: a DiscoveryPolicy with the Label is added as the fourth resource', async () => {
    const { updatedAt } = await scene.stack(id)
    const { plan } = await apply(label('cool label name'), datastore(), volume(), policy)
    expect(told(plan)).toEqual([
      'create DiscoveryPolicy/alcord_mumphries',
      'associate DiscoveryPolicy/alcord_mumphries Label/lucid_einstein',
    ])
    const { id: policyId } = (await scene.live('DiscoveryPolicy', 'policy_1')).metadata
    const added = { kind: 'DiscoveryPolicy', name: 'alcord_mumphries', id: policyId, associations: toLabel }
    const [first, ...others] = three()
    expect(await resources()).toEqual([first, added, ...others])
    expect(Date.parse((await scene.stack(id)).updatedAt)).toBeGreaterThan(Date.parse(updatedAt))
  })

  it('row 5: taken out again, its association and then itself are deleted', async () => {
    const { updatedAt } = await scene.stack(id)
    const { plan } = await apply(label('cool label name'), datastore(), volume())
    expect(told(plan)).toEqual([
      'delete DiscoveryPolicy/alcord_mumphries',
      'dissociate DiscoveryPolicy/alcord_mumphries Label/lucid_einstein',
    ])
    expect(await scene.names('DiscoveryPolicy')).toEqual([])
    expect(await resources()).toEqual(three())
    expect(Date.parse((await scene.stack(id)).updatedAt)).toBeGreaterThan(Date.parse(updatedAt))
  })

  it('row 6: without Label and associations both associations go, then the Label; the others stay', async () => {
    const { updatedAt } = await scene.stack(id)
    const { plan } = await apply(datastore(''), volume(''))
    expect(told(plan)).toEqual([
      'delete Label/lucid_einstein',
      'dissociate Datastore/pristine_noir Label/lucid_einstein',
      'dissociate Volume/charmed_saratoba Label/lucid_einstein',
    ])
    expect(await resources()).toEqual([
      { kind: 'Datastore', name: 'pristine_noir', id: datastoreId, associations: [] },
      { kind: 'Volume', name: 'charmed_saratoba', id: volumeId, associations: [] },
    ])
    expect(await scene.names('Label')).toEqual([])
    expect((await scene.live('Volume', 'volume_1')).spec.associations).toEqual([])
    expect(Date.parse((await scene.stack(id)).updatedAt)).toBeGreaterThan(Date.parse(updatedAt))
    expect((await scene.history(id)).map(({ type }) => type)).toEqual([...Array(5).fill('apply'), 'create'])
  })

  afterAll(() => scene.clear())
})

onEachDatabase('a plan', scene => {
  afterEach(() => scene.clear())

  const web = (size: string, more = {}) => a('Volume', 'web', { size, ...more })

  it('tells new, changed, removed and unchanged apart, and leaves no trace', async () => {
    await scene.apply([a('Label', 'one'), a('Label', 'two'), a('Label', 'three')], { stackName: 'mixed' })
    const before = { change: await scene.lastChange(), stack: await scene.stack('mixed') }
    const bundle = [a('Label', 'one'), a('Label', 'two', { color: '#00ff00' }), a('Label', 'four')]
    const first = await scene.plan(bundle, { stack: 'mixed' })
    const second = await scene.plan(bundle.toReversed(), { stack: 'mixed' })
    expect(told(first.plan)).toEqual(['create Label/four', 'update Label/two spec.color', 'delete Label/three'])
    expect(first.plan.counts).toMatchObject({ create: 1, update: 1, delete: 1, unchanged: 1 })
    expect({ ...second.plan, expiresAt: '' }).toEqual({ ...first.plan, expiresAt: '' })
    expect(await scene.lastChange()).toBe(before.change)
    expect(await scene.stack('mixed')).toEqual(before.stack)
    expect(await scene.server.query('select * from plans')).toEqual([])
  })

  it('shows drift apart, takes it back, and calls a field that moved on both sides by all three values', async () => {
    await scene.apply([web('1GiB', { description: 'old' })], { stackName: 'drift' })
    await scene.change('Volume', 'web', { size: '2GiB' })
    const { plan: back } = await scene.plan([web('1GiB', { description: 'old' })], { stack: 'drift' })
    expect(back.drift).toEqual([
      {
        kind: 'Volume',
        name: 'web',
        gone: false,
        changes: [{ path: 'spec.size', old: '1GiB', new: '2GiB', why: 'drift' }],
      },
    ])
    expect(back.actions[0]).toMatchObject({ action: 'update', why: 'drifted' })
    expect(back.actions[0]?.changes).toEqual([{ path: 'spec.size', old: '2GiB', new: '1GiB', why: 'drift' }])

    const { plan: both } = await scene.plan([web('3GiB', { description: 'new' })], { stack: 'drift' })
    expect(both.actions[0]?.changes).toEqual([
      { path: 'spec.description', old: 'old', new: 'new', why: 'bundle' },
      { path: 'spec.size', old: '2GiB', new: '3GiB', last: '1GiB', why: 'both' },
    ])
  })

  it('has nothing to do where bundle and live have converged; the record follows without an event', async () => {
    await scene.apply([web('1GiB')], { stackName: 'same' })
    await scene.change('Volume', 'web', { size: '2GiB' })
    const before = await scene.history('same')
    const { plan } = await scene.apply([web('2GiB')], { stack: 'same' })
    expect(plan.actions).toMatchObject([{ action: 'none', why: 'converged' }])
    expect(await scene.history('same')).toEqual(before)
    expect((await scene.stack('same')).resources[0]?.lastApplied).toMatchObject({ size: '2GiB' })
    expect(told((await scene.plan([web('2GiB')], { stack: 'same' })).plan)).toEqual([])
  })

  it('leaves alone what the bundle does not manage and what it ignores', async () => {
    const ignoring = (size: string) => a('Volume', 'web', { size }, { lifecycle: { ignore: ['spec.size'] } })
    await scene.apply([ignoring('1GiB')], { stackName: 'ignoring' })
    await scene.change('Volume', 'web', { size: '9GiB', description: 'by hand' })
    const before = { ...(await scene.stack('ignoring')), events: await scene.history('ignoring') }
    const { plan } = await scene.apply([ignoring('2GiB')], { stack: 'ignoring' })
    expect(told(plan)).toEqual([])
    expect((await scene.stack('ignoring')).updatedAt).toBe(before.updatedAt)
    expect(await scene.history('ignoring')).toEqual(before.events)
    expect((await scene.live('Volume', 'web')).spec).toMatchObject({ size: '9GiB', description: 'by hand' })
  })

  it('gives a field that left the bundle its default again', async () => {
    await scene.apply([web('1GiB', { readOnly: true })], { stackName: 'default' })
    const { plan } = await scene.apply([web('1GiB')], { stack: 'default' })
    expect(plan.actions[0]?.changes).toMatchObject([{ path: 'spec.readOnly', old: true, new: false }])
    expect((await scene.live('Volume', 'web')).spec.readOnly).toBe(false)
  })

  it('replaces what has a new value in an immutable field, under a new id, and asks for the loss of its data', async () => {
    await scene.apply([web('1GiB')], { stackName: 'anew' })
    const { id } = (await scene.live('Volume', 'web')).metadata
    const changed = [web('1GiB', { kind: 'container' })]
    const { plan } = await scene.plan(changed, { stack: 'anew' })
    expect(plan.actions[0]).toMatchObject({ action: 'replace', why: 'an immutable field changed' })
    expect(plan.actions[0]?.changes).toEqual([
      { path: 'spec.kind', old: 'disk', new: 'container', why: 'bundle', forcesReplacement: true },
    ])
    expect(plan.needs).toContain('dataLoss')
    expect(await refusal(scene.apply(changed, { stack: 'anew' }))).toMatchObject({ status: 428 })
    await scene.apply(changed, { stack: 'anew', confirm: ['dataLoss', 'massDelete'] })
    expect((await scene.live('Volume', 'web')).metadata.id).not.toBe(id)
  })

  it('of a bundle with problems still has summary and plan of what can be understood, and cannot be applied', async () => {
    const bundle =
      'kind: Label\nmetadata: { name: fine }\n---\nkind: Volume\nmetadata: { name: bad }\nspec: { sise: 1GiB }\n'
    const { status, codes, body } = await refusal(scene.plan(bundle))
    expect({ status, codes }).toEqual({ status: 422, codes: ['key.unknown'] })
    const { summary, plan } = body as unknown as Applied
    expect(summary.resources.map(({ name }) => name)).toContain('fine')
    expect(told(plan)).toContain('create Label/fine')
    expect(plan.applicable).toBe(false)
    expect(await refusal(scene.apply(bundle))).toMatchObject({ status: 422, codes: ['key.unknown'] })
    expect((await scene.server.client.call(listStacks, {})).stacks).toEqual([])
  })

  it('makes what was deleted outside anew under a new id, for every kind', async () => {
    const all = [
      a('Label', 'l-one'),
      a('Variable', 'v-one', { value: 1 }),
      a('Machine', 'm-one'),
      a('Instance', 'i-one', { roles: {} }),
      a('Volume', 'vol-one'),
      a('Datastore', 'd-one'),
      a('CachedImage', 'c-one', { image: 'registry.example/web', tag: '1' }),
      a('CachedImageSet', 's-one'),
      a('DiscoveryPolicy', 'dp-one', {
        sources: [{ type: 'registry', registry: { url: 'https://r.example', repositories: ['a'] } }],
      }),
      a('PullPolicy', 'p-one'),
      a('RolloutPolicy', 'r-one'),
    ]
    await scene.apply(all, { stackName: 'gone' })
    const before = new Map((await scene.stack('gone')).resources.map(({ name, id }) => [name, id]))
    for (const { kind, metadata } of all) await scene.remove(kind, String(metadata.name))
    expect((await scene.stack('gone')).live.every(({ state }) => state === 'gone')).toBe(true)
    // It can be exported as it is: there is nothing left to export.
    expect(await scene.exported({ stacks: ['gone'] })).not.toContain('kind:')
    const { plan } = await scene.apply(all, { stack: 'gone' })
    expect(plan.actions.map(({ action, why }) => `${action}, ${why}`)).toEqual(all.map(() => 'create, deleted outside'))
    for (const { name, id } of (await scene.stack('gone')).resources) expect(id).not.toBe(before.get(name))
  })

  it('takes what is gone live and from the bundle out of the record, without failing', async () => {
    await scene.apply([a('Label', 'stays'), a('Label', 'goes')], { stackName: 'gone' })
    await scene.remove('Label', 'goes')
    const { plan } = await scene.apply([a('Label', 'stays')], { stack: 'gone' })
    expect(plan.actions.find(({ name }) => name === 'goes')).toMatchObject({ why: 'already gone' })
    expect((await scene.stack('gone')).resources.map(({ name }) => name)).toEqual(['stays'])
  })
})

onEachDatabase('a plan binds', scene => {
  afterEach(() => scene.clear())

  const bundle = [
    a('Datastore', 'store', { username: 'me', password: { secretRef: { key: 'pw' } } }),
    a('Label', 'lab'),
  ]
  const secrets = { pw: 'first' }
  const saved = async (more = {}) =>
    (await scene.plan(bundle, { save: true, stack: 'bound', secrets, ...more })).plan.id
  const stale = async (planId: string, more = {}) => {
    const { status, codes, problems } = await refusal(scene.applyPlan(planId, { secrets, ...more }))
    expect({ status, code: codes[0] }).toEqual({ status: 409, code: 'plan.stale' })
    return problems.map(({ path, reason }) => `${path} ${reason}`).join('\n')
  }

  it('is applied after a restart of the server, exactly as it was shown', async () => {
    await scene.createStack('bound')
    const { plan } = await scene.plan(bundle, { save: true, stack: 'bound', secrets })
    await scene.server.stop()
    await scene.server.start()
    const applied = await scene.applyPlan(plan.id, { secrets })
    expect(applied.outcome.did).toBe('applied')
    expect({ ...applied.plan, expiresAt: '' }).toEqual({ ...plan, expiresAt: '' })
    expect(await stale(plan.id)).toContain('stack')
  })

  it('is stale when the record has moved', async () => {
    await scene.createStack('bound')
    const planId = await saved()
    await scene.apply([a('Label', 'other')], { stack: 'bound' })
    expect(await stale(planId)).toMatch(/stack|record/)
    expect(await scene.names('Datastore')).toEqual([])
  })

  it('is stale when a live resource has moved', async () => {
    await scene.apply(bundle, { stackName: 'bound', secrets })
    const changed = bundle.map(one => (one.kind === 'Label' ? a('Label', 'lab', { color: '#000000' }) : one))
    const { plan } = await scene.plan(changed, { save: true, stack: 'bound', secrets })
    await scene.change('Label', 'lab', { description: 'by hand' })
    expect(await stale(plan.id)).toContain('Label/lab')
    expect((await scene.live('Label', 'lab')).spec).not.toHaveProperty('color')
  })

  it('is stale when what it would create is there by now', async () => {
    await scene.createStack('bound')
    const planId = await saved()
    await scene.make('Label', { name: 'lab' })
    await stale(planId)
  })

  it('is stale for another secret than it was made with', async () => {
    await scene.createStack('bound')
    const planId = await saved()
    await stale(planId, { secrets: { pw: 'second' } })
    expect((await scene.applyPlan(planId, { secrets })).outcome.did).toBe('applied')
  })

  it('with `expectPlan` is refused for another bundle and for other values', async () => {
    const named = (value: string) => [a('Label', 'lab', { description: value })]
    const withEnv = [a('Label', 'lab', { description: { envRef: { key: 'text' } } })]
    await scene.createStack('bound')
    const { plan } = await scene.plan(withEnv, { stack: 'bound', env: { text: 'one' } })
    const expectPlan = { id: plan.id, basis: plan.basis, expiresAt: plan.expiresAt }
    for (const [given, env] of [
      [withEnv, { text: 'two' }],
      [named('one'), {}],
    ] as const) {
      const { status, codes } = await refusal(scene.apply(given, { stack: 'bound', env, expectPlan }))
      expect({ status, code: codes[0] }).toEqual({ status: 409, code: 'plan.stale' })
    }
    const done = await scene.apply(withEnv, { stack: 'bound', env: { text: 'one' }, expectPlan })
    expect(done.outcome.did).toBe('applied')
  })

  it('is not there any more when it has expired', async () => {
    await scene.createStack('bound')
    const planId = await saved()
    await scene.server.query(`update plans set expires_at = '2020-01-01T00:00:00.000Z'`)
    expect((await refusal(scene.applyPlan(planId, { secrets }))).status).toBeOneOf([404, 409])
    expect(await scene.names('Label')).toEqual([])
  })
})

onEachDatabase('the lock of a stack', (scene, kind) => {
  afterEach(() => scene.clear())

  const many = (mark: string) => Array.from({ length: 300 }, (_, n) => a('Label', `l${n}`, { description: mark }))
  const lockOf = async (id: string) => (await scene.server.client.call(getStack, { params: { id } })).lock

  /** As another replica would hold it. */
  async function lockedByAnother(name: string) {
    const { id } = await scene.createStack(name)
    const [since, until] = [Date.now(), Date.now() + 3_600_000].map(at => new Date(at).toISOString())
    await scene.server.query(
      `insert into leases (key, fence, holder, operation, since, expires_at) values ('${id}', 1, 'another', 'apply', '${since}', '${until}')`,
    )
    return id
  }

  it('lets one of two applies at once go first: the end is one of the two orders, never a mix', async () => {
    const { id } = await scene.createStack('two')
    const outcomes = await Promise.all(
      ['first', 'second'].map(mark =>
        scene.apply(many(mark), { stack: id, lockWait: '60s' }).then(({ outcome }) => outcome.did),
      ),
    )
    expect(outcomes).toEqual(['applied', 'applied'])
    const marks = await scene.server.query(`select distinct spec from resources where kind = 'Label'`)
    expect(marks).toHaveLength(1)
    const applies = (await scene.history(id)).filter(({ type }) => type === 'apply')
    expect(applies.map(({ counts }) => [counts?.create, counts?.update])).toEqual([
      [0, 300],
      [300, 0],
    ])
  })

  it('tells who holds it, as 409, when nobody wants to wait', async () => {
    const id = await lockedByAnother('held')
    expect(await lockOf(id)).toMatchObject({ holder: 'another', operation: 'apply' })
    const { status, codes, problems } = await refusal(scene.apply([a('Label', 'lab')], { stack: id }))
    expect({ status, codes }).toEqual({ status: 409, codes: ['stack.locked'] })
    expect(problems[0]?.reason).toContain('another')
    expect(await scene.names('Label')).toEqual([])
    // Plans take no lock.
    expect(told((await scene.plan([a('Label', 'lab')], { stack: id })).plan)).toEqual(['create Label/lab'])
  })

  it('is waited for, and taken away by force, which is noted', async () => {
    const id = await lockedByAnother('forced')
    const waiting = scene.apply([a('Label', 'lab')], { stack: id, lockWait: '60s' })
    await setTimeout(300)
    const { was } = await scene.server.client.call(unlockStack, { params: { id }, body: { force: true } })
    expect(was).toMatchObject({ holder: 'another' })
    expect((await waiting).outcome.did).toBe('applied')
    expect((await scene.history(id)).map(({ type }) => type)).toEqual(['apply', 'unlock', 'create'])
    expect(await lockOf(id)).toBeNull()
  })

  // SQLite has one writer: what holds it up there holds up the lock as well.
  describe.runIf(kind === 'postgres')('while an apply stands still', () => {
    it('shows who holds it, and takes everything back when it is cancelled', async () => {
      await scene.apply([a('Label', 'lab')], { stackName: 'slow' })
      const before = await scene.stack('slow')
      const release = await holdWrites(scene.server)
      const slow = refusal(scene.apply([a('Label', 'lab', { color: '#123456' })], { stack: 'slow' }))
      try {
        await until('it holds the lock', async () => (await lockOf('slow')) !== null)
        expect(await lockOf('slow')).toMatchObject({ holder: 'local', operation: 'apply' })
        const { client } = scene.server
        expect(await client.call(cancelStack, { params: { id: 'slow' }, body: {} })).toEqual({ cancelled: true })
      } finally {
        await release()
      }
      expect((await slow).body).toMatchObject({ outcome: { did: 'rolled back' } })
      const after = await scene.stack('slow')
      expect(after.resources).toEqual(before.resources)
      expect((await scene.live('Label', 'lab')).spec).not.toHaveProperty('color')
    })
  })
})

/** Holds up every write to resources, so that an apply stands still under its lock. */
async function holdWrites({ database }: TestServer): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query('begin')
  await client.query('lock table resources in share mode')
  return () => client.end()
}
