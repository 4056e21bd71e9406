// What the original got wrong, by the numbers of the reference: each test asserts the opposite. Those of reading, export and
// flags are tested in their rooms.
import { describe, expect, it } from 'vitest'
import { ProblemsError } from '../../lib/errors.ts'
import { Secret } from '../../lib/redact.ts'
import { createEngine } from '../engine.ts'
import { memoryPorts } from './ports.fake.ts'
import { allLive, aRequest, type Doc, doc, marked, writeOutside } from './request.fake.ts'

const journaled = () => {
  const ports = memoryPorts({ transaction: 'journal' })
  return { ports, engine: createEngine(ports), platform: ports.platforms[0] }
}

const everyKind = (names: (kind: string) => string): Doc[] => [
  doc('Mark/a', { name: names('Mark') }),
  doc('Store/a', { name: names('Store'), url: 'x' }),
  doc('Disk/a', { name: names('Disk'), size: '1GiB' }),
  doc('RuleA/a', { name: names('RuleA'), every: '1m', threshold: 1 }),
  doc('RuleB/b', { name: names('RuleB'), every: '1m', silentFor: '5m' }),
  doc('Group/a', { name: names('Group') }),
]

const confirm = ['massDelete', 'dataLoss'] as const

describe('defects of the original', () => {
  it('1: rollback restores the name, the status and every other field', async () => {
    const { engine, platform } = journaled()
    const rule = (name: string, spec: object) => doc('RuleA/hot', { name, every: '1m', threshold: 1, ...spec })
    const { stackId } = await engine.apply(aRequest({ docs: [rule('before', { status: 'inactive', offset: '10s' })] }))
    const before = platform.snapshot()
    platform.faults.onWrite = (_, write) => (write.do === 'create' ? 'fail before' : undefined)
    const docs = [rule('after', { status: 'active', threshold: 5 }), doc('Group/last')]
    const { outcome } = await engine.apply(aRequest({ docs, stack: stackId! }))
    expect(outcome.did).toBe('rolled back')
    expect(platform.snapshot()).toEqual(before)
  })

  it('2: rollback removes new secrets and restores overwritten ones', async () => {
    const { engine, platform } = journaled()
    const store = (key: string) => doc(`Store/${key}`, { url: 'x', password: { secretRef: { key } } })
    const first = { docs: [store('one')], secrets: { one: new Secret('former') } }
    const { stackId } = await engine.apply(aRequest(first))
    const before = platform.snapshot()
    platform.faults.onWrite = (_, write) => (write.do === 'create' ? 'fail before' : undefined)
    const secrets = { one: new Secret('latter'), two: new Secret('new') }
    await engine.apply(aRequest({ docs: [store('one'), store('two')], secrets, stack: stackId! }))
    expect(platform.snapshot()).toEqual(before)
    expect([...(await platform.secrets.fingerprints(['one', 'two'])).values()]).toEqual([
      platform.secrets.fingerprint(new Secret('former')),
    ])
  })

  it('3: a change of only the display name is applied, for every kind', async () => {
    const ports = memoryPorts()
    const engine = createEngine(ports)
    const { stackId } = await engine.apply(aRequest({ docs: everyKind(kind => `${kind} one`) }))
    const ids = (await allLive(ports)).map(({ id }) => id)
    const { plan } = await engine.apply(aRequest({ docs: everyKind(kind => `${kind} two`), stack: stackId! }))
    expect(plan.counts.update).toBe(6)
    const after = await allLive(ports)
    expect(after.map(({ id }) => id)).toEqual(ids)
    expect(after.every(({ kind, displayName }) => displayName === `${kind} two`)).toBe(true)
  })

  it('4: rollback runs in reverse', async () => {
    const { engine, platform } = journaled()
    const docs = [
      doc('Disk/a', { size: '1GiB' }),
      doc('Disk/b', { size: '1GiB', basedOn: { name: 'a' } }),
      doc('Group/z'),
    ]
    const chain = [...docs, doc('Disk/c', { size: '1GiB', basedOn: { name: 'b' } })]
    platform.faults.onWrite = (_, write) =>
      write.do === 'create' && write.displayName === 'c' ? 'fail before' : undefined
    await engine.apply(aRequest({ docs: chain }))
    const lines = platform.writes.map(write => `${write.do} ${'displayName' in write ? write.displayName : ''}`.trim())
    const creates = platform.writes.flatMap(write => (write.do === 'create' ? [write.id] : []))
    const removes = platform.writes.flatMap(write => (write.do === 'remove' ? [write.id] : []))
    expect(lines).toContain('create b')
    expect(removes).toEqual(creates.toReversed())
  })

  it('5: a mark is deleted after its associations, and its name is free before another takes it', async () => {
    const { engine, platform } = journaled()
    const docs = [doc('Mark/m1', { name: 'same' }), doc('Disk/d', { size: '1GiB', ...marked('m1') })]
    const { stackId } = await engine.apply(aRequest({ docs }))
    platform.writes.length = 0
    const next = [doc('Mark/m2', { name: 'same' }), doc('Disk/d', { size: '1GiB' })]
    expect((await engine.apply(aRequest({ docs: next, stack: stackId! }))).outcome.did).toBe('applied')
    expect(platform.writes.map(write => write.do)).toEqual(['dissociate', 'remove', 'create'])
  })

  it('6: an apply of an invalid bundle is an error', async () => {
    const { engine } = journaled()
    const bad = engine.apply(aRequest({ docs: [doc('Disk/d', { size: 'large' })] }))
    await expect(bad).rejects.toThrow(ProblemsError)
  })

  it('7: a failed apply that would have made its stack leaves none, and logs no second error', async () => {
    const { engine, platform, ports } = journaled()
    platform.faults.onWrite = () => 'fail before'
    const { outcome, stackId } = await engine.apply(aRequest({ docs: [doc('Mark/m1')] }))
    expect({ did: outcome.did, stackId, logged: ports.logged }).toEqual({
      did: 'rolled back',
      stackId: null,
      logged: [],
    })
    expect((await engine.stacks({}, { limit: 9 })).stacks).toEqual([])
  })

  it('8: a live read that fails blocks and does not look like new', async () => {
    const { engine, platform } = journaled()
    const { stackId } = await engine.apply(aRequest({ docs: [doc('Mark/m1')] }))
    platform.faults = { unreadable: new Set(platform.state.resources.keys()) }
    const { plan } = await engine.plan(aRequest({ docs: [doc('Mark/m1')], stack: stackId! }))
    expect(plan).toMatchObject({ blockers: [{ code: 'live.unreadable' }], counts: { create: 0 }, applicable: false })
    const blocked = engine.apply(aRequest({ docs: [doc('Mark/m1')], stack: stackId! }))
    await expect(blocked).rejects.toMatchObject({ code: 'plan.blocked' })
    expect(platform.state.resources.size).toBe(1)
  })

  it.each([499, 500, 501, 1_001])(
    '9: paging ends and is complete: a mark comes back on all of %i that carried it',
    async count => {
      const { engine, platform } = journaled()
      const { stackId } = await engine.apply(aRequest({ docs: [doc('Mark/m1'), doc('Group/g')] }))
      const [mark] = await platform.find([{ kind: 'Mark', displayName: 'm1' }])
      const disk = { apiVersion: 'cairn.dev/v1', displayName: 'd', spec: { size: '1GiB', format: 'raw' }, refersTo: [] }
      for (let n = 0; n < count; n++) {
        const from = { kind: 'Disk', id: `id${n}` }
        platform.outside(
          { do: 'create', ...from, ...disk },
          { do: 'associate', from, to: { kind: 'Mark', id: mark!.id } },
        )
      }
      const before = platform.snapshot()
      let isRemoved = false
      platform.faults.onWrite = (_, write) => {
        if (write.do === 'remove') isRemoved = true
        return write.do === 'remove' ? 'fail after' : undefined
      }
      const { outcome } = await engine.apply(aRequest({ docs: [doc('Group/g')], stack: stackId! }))
      expect({ did: outcome.did, isRemoved }).toEqual({ did: 'rolled back', isRemoved: true })
      expect(platform.snapshot()).toEqual(before)
    },
  )

  it('11: two stacks cannot own one resource, and history is bounded', async () => {
    const ports = memoryPorts()
    const engine = createEngine(ports)
    const first = await engine.apply(aRequest({ docs: [doc('Mark/m1')], stackName: 'first' }))
    const [mark] = await allLive(ports)
    const adopting = doc('Mark/other', { name: 'm1' }, { lifecycle: { adopt: { id: mark!.id } } })
    await expect(engine.apply(aRequest({ docs: [adopting] }))).rejects.toMatchObject({
      problems: [{ code: 'resource.owned' }],
    })
    for (let n = 0; n < 210; n++) await engine.updateStack(first.stackId!, { description: `${n}` }, { by: 'ann' })
    const events = await engine.history(first.stackId!, { limit: 1_000 })
    expect(events).toHaveLength(201)
    expect(events.at(-1)).toMatchObject({ seq: 1, type: 'apply' })
  })

  it('12: what was shown is what is applied', async () => {
    const ports = memoryPorts()
    const engine = createEngine(ports)
    const { plan } = await engine.plan(aRequest({ docs: [doc('Mark/m1'), doc('Group/g')] }), { save: true })
    const given = { secrets: {}, confirm: [], lockWaitMs: 0, by: 'ann' }
    const answer = await engine.applySaved(plan.id, given)
    expect(answer.plan.actions).toEqual(plan.actions)
    expect((await allLive(ports)).map(({ kind }) => kind).sort()).toEqual(['Group', 'Mark'])
  })

  it('13: a stack with a resource deleted outside can be exported, applied and uninstalled', async () => {
    const ports = memoryPorts()
    const engine = createEngine(ports)
    const docs = everyKind(kind => `${kind} one`)
    const { stackId } = await engine.apply(aRequest({ docs }))
    const removeAll = async () => {
      for (const { kind, id } of await allLive(ports)) await writeOutside(ports, { do: 'remove', kind, id })
    }
    await removeAll()
    const exported = await engine.export({ stacks: [stackId!], resources: [], filters: {} })
    expect({ resources: exported.resources, problems: exported.problems }).toEqual({ resources: [], problems: [] })
    expect((await engine.apply(aRequest({ docs, stack: stackId! }))).plan.counts.create).toBe(6)
    await removeAll()
    const { outcome } = await engine.uninstall({ stack: stackId!, by: 'ann', confirm, lockWaitMs: 0 })
    expect(outcome.did).toBe('applied')
    expect((await engine.stack(stackId!)).resources).toEqual([])
  })

  it('14: skipped is not removed', async () => {
    const ports = memoryPorts()
    const engine = createEngine(ports)
    const { stackId } = await engine.apply(aRequest({ docs: everyKind(kind => kind.toLowerCase()) }))
    const skip = ['Mark', 'Store', 'Disk', 'RuleA', 'RuleB'].map(kind => ({ kind }))
    await engine.apply(aRequest({ docs: [doc('Group/a', { name: 'group' })], skip, stack: stackId! }))
    expect(await allLive(ports)).toHaveLength(6)
    expect((await engine.stack(stackId!)).resources).toHaveLength(6)
  })

  it('15: the second member of a list is not ignored', async () => {
    const ports = memoryPorts()
    const engine = createEngine(ports)
    const group = (weight: number) => doc('Group/a', { members: [{ name: 'x' }, { name: 'y', weight }] })
    const { stackId } = await engine.apply(aRequest({ docs: [group(1)] }))
    await engine.apply(aRequest({ docs: [group(2)], stack: stackId! }))
    expect((await allLive(ports))[0]?.spec.members).toMatchObject([{ weight: 1 }, { weight: 2 }])
  })

  it('16: equal means no write, for all kinds', async () => {
    const { engine, platform, ports } = journaled()
    const docs = everyKind(kind => `${kind} one`)
    const { stackId } = await engine.apply(aRequest({ docs }))
    const [writes, commits] = [platform.writes.length, ports.store.commits]
    const { outcome } = await engine.apply(aRequest({ docs: docs.toReversed(), stack: stackId! }))
    expect(outcome).toEqual({ did: 'nothing' })
    expect([platform.writes.length, ports.store.commits]).toEqual([writes, commits])
  })
})
