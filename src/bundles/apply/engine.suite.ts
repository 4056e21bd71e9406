// What an engine does over its ports, run over memory, SQLite and PostgreSQL. Kinds are those of validate/kinds.fake.ts.
// Uses the ports only; what happens outside the engine is written through them too.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import { ProblemsError, RefusedError } from '../../lib/errors.ts'
import { Secret } from '../../lib/redact.ts'
import { createEngine, type Engine, type EnginePorts } from '../engine.ts'
import type { Stack } from '../model/stack.ts'
import type { Live, Write } from '../platform.ts'
import type { ApplyAnswer } from '../request.ts'
import { type MovableClock, movableClock } from './clock.fake.ts'
import {
  allLive,
  aRequest,
  type Doc,
  doc,
  editOutside,
  liveOf,
  marked,
  sourceOf,
  writeOutside,
} from './request.fake.ts'

export interface EngineUnderTest {
  readonly ports: EnginePorts
  close(): Promise<void>
}

/** `open` gives ports over an empty store and platform that live by this clock; the first platform has the test kinds. */
export function engineSuite(title: string, open: (clock: Clock) => Promise<EngineUnderTest>) {
  describe(`the engine over ${title}`, () => {
    stackOfTheSeed(open)
    describe('in general', () => {
      const world = opened(open, beforeEach, afterEach)
      plans(world)
      ownership(world)
      removal(world)
      stacks(world)
      locks(world)
      bindingPlans(world)
      values(world)
    })
  })
}

interface World {
  readonly ports: EnginePorts
  readonly engine: Engine
  readonly clock: MovableClock
  apply(docs: readonly Doc[], given?: Partial<Parameters<typeof aRequest>[0]>): Promise<ApplyAnswer>
  stackOf(answer: ApplyAnswer): Promise<Stack>
  /** One that the stack has, as it is live. */
  live(stack: Stack, address: string): Promise<Live | undefined>
}

type Hook = (work: () => Promise<void>) => void

function opened(open: (clock: Clock) => Promise<EngineUnderTest>, before: Hook, after: Hook): World {
  let under: EngineUnderTest
  let engine: Engine
  let clock: MovableClock
  before(async () => {
    clock = movableClock()
    under = await open(clock)
    engine = createEngine(under.ports)
  })
  after(() => under.close())
  return {
    get ports() {
      return under.ports
    },
    get engine() {
      return engine
    },
    get clock() {
      return clock
    },
    apply: (docs, given) => engine.apply(aRequest({ docs, ...given })),
    stackOf: ({ stackId }) => engine.stack(stackId!),
    live: async ({ resources }, address) => {
      const resource = resources.find(({ kind, name }) => `${kind}/${name}` === address)
      return resource && liveOf(under.ports, resource)
    },
  }
}

/** What a promise is refused with: its code, and code and path of each problem. */
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    error => {
      if (error instanceof RefusedError)
        return { code: error.code, problems: error.problems.map(({ code, path }) => `${code} at ${path}`) }
      if (error instanceof ProblemsError) return error.problems.map(({ code, path }) => `${code} at ${path}`)
      throw error
    },
  )

const addresses = ({ resources }: Stack) => resources.map(({ kind, name }) => `${kind}/${name}`).sort()

const both = ['massDelete', 'dataLoss'] as const

const label = doc('Mark/lucid_einstein', { name: 'label_1' })
const datastore = doc('Store/pristine_noir', {
  name: 'datastore_1',
  url: 'https://example.org',
  ...marked('lucid_einstein'),
})
const volume = doc('Disk/charmed_saratoba', { name: 'volume_1', size: '1GiB', ...marked('lucid_einstein') })
const policy = doc('Group/alcord_mumphries', { name: 'policy_1', ...marked('lucid_einstein') })

function stackOfTheSeed(open: (clock: Clock) => Promise<EngineUnderTest>) {
  describe('stack S1, row by row', () => {
    const world = opened(open, beforeAll, afterAll)
    let before: Stack
    const history = async () => (await world.engine.history('S1', { limit: 100 })).map(({ type }) => type)
    const apply = async (...docs: Doc[]) => {
      before = await world.engine.stack('S1')
      const answer = await world.apply(docs, { stack: 'S1' })
      return { answer, after: await world.engine.stack('S1') }
    }
    const ids = ({ resources }: Stack) => new Map(resources.map(({ kind, name, id }) => [`${kind}/${name}`, id]))

    it('1: everything is made, and the record has it', async () => {
      await world.engine.createStack({ name: 'S1', by: 'ann' })
      const { answer, after } = await apply(label, datastore, volume)
      expect(answer.outcome).toEqual({ did: 'applied', madeStack: false })
      expect(addresses(after)).toEqual(['Disk/charmed_saratoba', 'Mark/lucid_einstein', 'Store/pristine_noir'])
      const mark = await world.live(after, 'Mark/lucid_einstein')
      expect(mark).toMatchObject({ displayName: 'label_1', associations: [] })
      for (const address of ['Store/pristine_noir', 'Disk/charmed_saratoba'])
        expect((await world.live(after, address))?.associations).toEqual([{ kind: 'Mark', id: mark!.id }])
      const carried = [{ kind: 'Mark', name: 'lucid_einstein' }]
      expect(after.resources.map(({ kind, associations }) => [kind, associations])).toEqual([
        ['Disk', carried],
        ['Mark', []],
        ['Store', carried],
      ])
      expect(await history()).toEqual(['apply', 'create'])
      expect(after.updatedAt > before.updatedAt).toBe(true)
    })

    it('2: the same again does nothing at all', async () => {
      const live = await allLive(world.ports)
      const { answer, after } = await apply(label, datastore, volume)
      expect(answer.outcome).toEqual({ did: 'nothing' })
      expect(after).toEqual(before)
      expect(await allLive(world.ports)).toEqual(live)
      expect(await history()).toEqual(['apply', 'create'])
    })

    it('3: another display name renames the same label and writes nothing else', async () => {
      const live = await allLive(world.ports)
      const { after } = await apply(doc('Mark/lucid_einstein', { name: 'cool label name' }), datastore, volume)
      expect(ids(after)).toEqual(ids(before))
      expect(after.updatedAt > before.updatedAt).toBe(true)
      const changed = (await allLive(world.ports)).filter(({ id, revision }) =>
        live.some(other => other.id === id && other.revision !== revision),
      )
      expect(changed).toMatchObject([{ kind: 'Mark', displayName: 'cool label name' }])
    })

    it('4: a fourth resource is made', async () => {
      const renamed = doc('Mark/lucid_einstein', { name: 'cool label name' })
      const { after } = await apply(renamed, datastore, volume, policy)
      expect(addresses(after)).toContain('Group/alcord_mumphries')
      expect((await world.live(after, 'Group/alcord_mumphries'))?.associations).toHaveLength(1)
      expect([...ids(before)].every(([address, id]) => ids(after).get(address) === id)).toBe(true)
      expect(after.updatedAt > before.updatedAt).toBe(true)
    })

    it('5: taken out again, it is deleted', async () => {
      const renamed = doc('Mark/lucid_einstein', { name: 'cool label name' })
      const gone = (await world.live(await world.engine.stack('S1'), 'Group/alcord_mumphries'))!
      const { after } = await apply(renamed, datastore, volume)
      expect(addresses(after)).toEqual(['Disk/charmed_saratoba', 'Mark/lucid_einstein', 'Store/pristine_noir'])
      expect(await liveOf(world.ports, gone)).toBeUndefined()
      expect(after.updatedAt > before.updatedAt).toBe(true)
    })

    it('6: the label and both associations taken out are deleted, the others stay', async () => {
      const bare = [datastore, volume].map(({ spec, ...rest }) => {
        const { associations, ...fields } = spec as Record<string, unknown>
        return { ...rest, spec: fields }
      })
      const { after } = await apply(...bare)
      expect(addresses(after)).toEqual(['Disk/charmed_saratoba', 'Store/pristine_noir'])
      expect(after.resources.map(({ associations }) => associations)).toEqual([[], []])
      expect(await allLive(world.ports)).toHaveLength(2)
      for (const live of await allLive(world.ports)) expect(live.associations).toEqual([])
      expect(await history()).toEqual(['apply', 'apply', 'apply', 'apply', 'apply', 'create'])
    })
  })
}

function plans(world: World) {
  describe('plans', () => {
    it('leave no trace and come out the same twice', async () => {
      const request = aRequest({ docs: [label, datastore, volume] })
      const first = await world.engine.plan(request)
      const second = await world.engine.plan(request)
      expect(first.plan.counts).toMatchObject({ create: 3 })
      expect(second.plan.id).toBe(first.plan.id)
      expect(await allLive(world.ports)).toEqual([])
      expect((await world.engine.stacks({}, { limit: 10 })).stacks).toEqual([])
    })

    it('are empty after an apply', async () => {
      const { stackId } = await world.apply([label, datastore, volume, policy])
      const { plan } = await world.engine.plan(aRequest({ docs: [policy, volume, datastore, label], stack: stackId! }))
      expect(plan.counts).toEqual({ create: 0, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0, unchanged: 4 })
    })

    it('have a summary beside the problems of a bundle that is not right', async () => {
      const answer = await world.engine.plan(aRequest({ docs: [label, doc('Disk/bad', { size: 5, nmae: 'x' })] }))
      expect(answer.problems.length).toBeGreaterThan(0)
      expect(answer.summary.resources.map(({ name }) => name)).toContain('lucid_einstein')
      expect(answer.plan.applicable).toBe(false)
    })

    it('validate asks nothing of the platform', async () => {
      const { summary, plan, problems } = await world.engine.validate(aRequest({ docs: [label, volume] }))
      expect(summary.resources).toHaveLength(2)
      expect({ actions: plan.actions, problems }).toEqual({ actions: [], problems: [] })
    })

    it('bring back what drifted, and show it apart', async () => {
      const stack = await world.stackOf(await world.apply([label, datastore]))
      const live = (await world.live(stack, 'Store/pristine_noir'))!
      await editOutside(world.ports, live, { displayName: 'moved', spec: { ...live.spec, url: 'elsewhere' } })
      const { plan } = await world.engine.plan(aRequest({ docs: [label, datastore], stack: stack.id }))
      expect(plan.drift).toMatchObject([{ kind: 'Store', name: 'pristine_noir', gone: false }])
      expect(plan.actions.filter(({ action }) => action !== 'none')).toMatchObject([
        { action: 'update', why: 'drifted' },
      ])
      await world.apply([label, datastore], { stack: stack.id })
      expect(await world.live(stack, 'Store/pristine_noir')).toMatchObject({
        displayName: 'datastore_1',
        spec: live.spec,
      })
    })

    it('make again what was deleted outside, with a new id, and do not stumble over its removal', async () => {
      const stack = await world.stackOf(await world.apply([label, datastore, volume]))
      const gone = (await world.live(stack, 'Disk/charmed_saratoba'))!
      await writeOutside(world.ports, { do: 'remove', kind: 'Disk', id: gone.id })
      await world.apply([label, datastore, volume], { stack: stack.id })
      const again = (await world.live(await world.engine.stack(stack.id), 'Disk/charmed_saratoba'))!
      expect(again.id).not.toBe(gone.id)
      expect(again.associations).toHaveLength(1)
      await writeOutside(world.ports, { do: 'remove', kind: 'Disk', id: again.id })
      const { outcome } = await world.apply([label, datastore], { stack: stack.id, confirm: [...both] })
      expect(outcome).toMatchObject({ did: 'applied' })
      expect(addresses(await world.engine.stack(stack.id))).toEqual(['Mark/lucid_einstein', 'Store/pristine_noir'])
    })

    it('follow what converged without an event', async () => {
      const stack = await world.stackOf(await world.apply([datastoreAt('one')]))
      const live = (await world.live(stack, 'Store/s'))!
      await editOutside(world.ports, live, { spec: { ...live.spec, url: 'two' } })
      await world.apply([datastoreAt('two')], { stack: stack.id })
      const after = await world.engine.stack(stack.id)
      expect(after.updatedAt).toBe(stack.updatedAt)
      expect(after.resources[0]?.lastApplied).toMatchObject({ url: 'two' })
      expect(await world.engine.history(stack.id, { limit: 10 })).toHaveLength(1)
      expect((await world.apply([datastoreAt('two')], { stack: stack.id })).outcome).toEqual({ did: 'nothing' })
    })

    it('give a freed display name to another in the same apply', async () => {
      const first = await world.apply([doc('Mark/one', { name: 'shared' }), datastoreAt('x')])
      const { outcome } = await world.apply([doc('Mark/two', { name: 'shared' }), datastoreAt('x')], {
        stack: first.stackId!,
      })
      expect(outcome).toMatchObject({ did: 'applied' })
      expect(addresses(await world.stackOf(first))).toEqual(['Mark/two', 'Store/s'])
    })

    it('replace what cannot be changed in place, references following', async () => {
      const docs = (format: string) => [
        doc('Disk/base', { size: '1GiB', format }),
        doc('Disk/top', { size: '1GiB', basedOn: { name: 'base' } }),
      ]
      const stack = await world.stackOf(await world.apply(docs('raw')))
      const base = (await world.live(stack, 'Disk/base'))!
      expect(await refused(world.apply(docs('qcow2'), { stack: stack.id }))).toEqual({
        code: 'confirm.missing',
        problems: ['confirm.missing at dataLoss'],
      })
      await world.apply(docs('qcow2'), { stack: stack.id, confirm: ['dataLoss'] })
      const after = await world.engine.stack(stack.id)
      const fresh = (await world.live(after, 'Disk/base'))!
      expect(fresh.id).not.toBe(base.id)
      expect((await world.live(after, 'Disk/top'))?.spec.basedOn).toMatchObject({ id: fresh.id })
      expect(await liveOf(world.ports, base)).toBeUndefined()
    })
  })
}

const datastoreAt = (url: string, metadata = {}) => doc('Store/s', { url }, metadata)

const foreign = (kind: string, id: string, displayName: string, spec: Live['spec'] = {}): Write => ({
  do: 'create',
  kind,
  id,
  apiVersion: 'cairn.dev/v1',
  displayName,
  spec,
  refersTo: [],
})

function ownership(world: World) {
  const put = async (kind: string, displayName: string, spec: Live['spec'] = {}) => {
    await writeOutside(world.ports, foreign(kind, world.ports.newId(), displayName, spec))
    const [live] = await world.ports.platforms[0]!.find([{ kind, displayName }])
    return live!
  }

  describe('ownership', () => {
    it('refuses a display name that somebody outside has, until it is told to adopt', async () => {
      const live = await put('Mark', 'edge')
      expect(await refused(world.apply([doc('Mark/edge')]))).toMatchObject({
        code: 'plan.blocked',
        problems: [expect.stringMatching(/^resource\.exists at /)],
      })
      const answer = await world.apply([doc('Mark/edge', { color: 'red' })], { adopt: 'byName' })
      expect(answer.plan.counts.adopt).toBe(1)
      const stack = await world.stackOf(answer)
      expect(stack.resources).toMatchObject([{ name: 'edge', id: live.id, adopted: true }])
      expect((await liveOf(world.ports, live))?.spec).toEqual({ color: 'red' })
    })

    it('adopts by id and by name in the bundle, and lets adopted ones survive an uninstall', async () => {
      const one = await put('Mark', 'one')
      const two = await put('Disk', 'two', { size: '1GiB', format: 'raw' })
      const answer = await world.apply([
        doc('Mark/a', { name: 'one' }, { lifecycle: { adopt: 'byName' } }),
        doc('Disk/b', { name: 'two', size: '1GiB' }, { lifecycle: { adopt: { id: two.id } } }),
        doc('Mark/made', {}),
      ])
      await world.engine.uninstall({ stack: answer.stackId!, by: 'ann', confirm: [...both], lockWaitMs: 0 })
      expect((await allLive(world.ports)).map(({ id }) => id).sort()).toEqual([one.id, two.id].sort())
      const stack = await world.stackOf(answer)
      expect({ state: stack.state, resources: stack.resources }).toEqual({ state: 'uninstalled', resources: [] })
    })

    it('names the stack that owns what is wanted', async () => {
      await world.apply([doc('Mark/edge')], { stackName: 'first' })
      expect(await refused(world.apply([doc('Mark/edge')], { adopt: 'byName' }))).toMatchObject({
        problems: [expect.stringMatching(/^resource\.owned at /)],
      })
    })

    it('moves an entry to another name without a write to the platform', async () => {
      const answer = await world.apply([doc('Mark/old', { name: 'display' })])
      const before = await allLive(world.ports)
      const { outcome } = await world.apply([doc('Mark/new', { name: 'display' }, { movedFrom: 'old' })], {
        stack: answer.stackId!,
      })
      expect(outcome).toMatchObject({ did: 'applied' })
      expect(addresses(await world.stackOf(answer))).toEqual(['Mark/new'])
      expect(await allLive(world.ports)).toEqual(before)
    })

    it('leaves what is skipped as it is, in the record too', async () => {
      const answer = await world.apply([datastoreAt('one'), doc('Mark/edge')])
      const before = await world.stackOf(answer)
      await world.apply([datastoreAt('two'), doc('Disk/new', { size: '1GiB' })], {
        stack: answer.stackId!,
        skip: [{ kind: 'Store' }, { kind: 'Mark', name: 'edge' }, { kind: 'Disk' }],
      })
      expect(await world.stackOf(answer)).toEqual(before)
      expect((await world.live(before, 'Store/s'))?.spec.url).toBe('one')
    })

    it('uses an external resource without owning it', async () => {
      const main = await put('Store', 'main', { url: 'x', retries: 3 })
      const answer = await world.apply([doc('Disk/d', { size: '1GiB', store: { external: 'main' } })])
      const stack = await world.stackOf(answer)
      expect(addresses(stack)).toEqual(['Disk/d'])
      expect((await world.live(stack, 'Disk/d'))?.spec.store).toMatchObject({ id: main.id })
      expect(await refused(world.apply([doc('Disk/e', { size: '1GiB', store: { external: 'none' } })]))).toMatchObject({
        problems: [expect.stringMatching(/^reference\.external at /)],
      })
    })

    it('applies without a stack: makes, records nothing, deletes nothing', async () => {
      const answer = await world.apply([doc('Disk/d', { size: '1GiB' })], { noStack: true })
      expect(answer).toMatchObject({ stackId: null, outcome: { did: 'applied' } })
      await world.apply([doc('Disk/d', { size: '1GiB' })], { noStack: true })
      expect(await allLive(world.ports)).toHaveLength(2)
      expect((await world.engine.stacks({}, { limit: 10 })).stacks).toEqual([])
    })
  })
}

function removal(world: World) {
  describe('removal', () => {
    it('keeps what is to be retained, and refuses to delete what is protected', async () => {
      const kept = doc('Mark/kept', {}, { lifecycle: { onRemove: 'retain' } })
      const guarded = doc('Mark/guarded', {}, { lifecycle: { onRemove: 'protect' } })
      const answer = await world.apply([kept, guarded, doc('Mark/other')])
      expect(await refused(world.apply([doc('Mark/other')], { stack: answer.stackId! }))).toMatchObject({
        problems: ['resource.protected at Mark/guarded'],
      })
      await world.apply([doc('Mark/guarded'), doc('Mark/other')], { stack: answer.stackId! })
      await world.apply([doc('Mark/other')], { stack: answer.stackId! })
      expect((await allLive(world.ports)).map(({ displayName }) => displayName).sort()).toEqual(['kept', 'other'])
      expect(addresses(await world.stackOf(answer))).toEqual(['Mark/other'])
    })

    it('asks for a confirmation by name when most would go or data is lost', async () => {
      const { stackId } = await world.apply([doc('Mark/a1'), doc('Disk/d', { size: '1GiB' })])
      expect(await refused(world.apply([doc('Mark/other')], { stack: stackId! }))).toEqual({
        code: 'confirm.missing',
        problems: ['confirm.missing at massDelete', 'confirm.missing at dataLoss'],
      })
      expect(
        await refused(world.apply([doc('Mark/other')], { stack: stackId!, confirm: ['massDelete'] })),
      ).toMatchObject({
        problems: ['confirm.missing at dataLoss'],
      })
      const { outcome } = await world.apply([doc('Mark/other')], { stack: stackId!, confirm: [...both] })
      expect(outcome).toMatchObject({ did: 'applied' })
    })

    it('does not delete what somebody outside refers to', async () => {
      const stack = await world.stackOf(await world.apply([datastoreAt('x'), doc('Mark/edge')]))
      const store = (await world.live(stack, 'Store/s'))!
      const spec = { size: '1GiB', format: 'raw', store: { id: store.id } }
      const refersTo = [{ kind: 'Store', id: store.id }]
      await writeOutside(world.ports, { ...foreign('Disk', world.ports.newId(), 'theirs', spec), refersTo } as Write)
      expect(await refused(world.apply([doc('Mark/edge')], { stack: stack.id }))).toMatchObject({
        problems: ['resource.referenced at Store/s'],
      })
    })

    it('refuses an apply of nothing, which is an uninstall', async () => {
      const { stackId } = await world.apply([doc('Mark/edge')])
      expect(await refused(world.engine.apply(aRequest({ stack: stackId! })))).toEqual(['bundle.empty at '])
      expect(await refused(world.apply([], { stack: stackId! }))).toEqual(['bundle.empty at '])
      expect(await allLive(world.ports)).toHaveLength(1)
    })

    it('applies again after an uninstall', async () => {
      const answer = await world.apply([label, datastore])
      await world.engine.uninstall({ stack: answer.stackId!, by: 'ann', confirm: [...both], lockWaitMs: 0 })
      expect(await allLive(world.ports)).toEqual([])
      expect((await world.stackOf(answer)).state).toBe('uninstalled')
      await world.apply([label, datastore], { stack: answer.stackId! })
      expect((await world.stackOf(answer)).state).toBe('active')
      expect(await allLive(world.ports)).toHaveLength(2)
    })

    it('deletes a stack with what it made, and once more is nothing', async () => {
      const { stackId } = await world.apply([label, datastore])
      const operation = { stack: stackId!, by: 'ann', confirm: both, lockWaitMs: 0 }
      expect((await world.engine.deleteStack({ ...operation, planOnly: true }))?.plan?.counts.delete).toBe(2)
      expect(await world.engine.deleteStack(operation)).toMatchObject({ outcome: { did: 'applied' } })
      expect(await world.engine.deleteStack(operation)).toBeNull()
      expect(await allLive(world.ports)).toEqual([])
      expect((await world.engine.stacks({}, { limit: 10 })).stacks).toEqual([])
    })

    it('deletes a stack and keeps what it made', async () => {
      const { stackId } = await world.apply([label, datastore])
      await world.engine.deleteStack({ stack: stackId!, by: 'ann', confirm: [], lockWaitMs: 0, keepResources: true })
      expect(await allLive(world.ports)).toHaveLength(2)
      expect(await refused(world.engine.stack(stackId!))).toMatchObject({ code: 'stack.unknown' })
    })
  })
}

function stacks(world: World) {
  const on = (stack: string) => ({ stack, by: 'ann', confirm: [], lockWaitMs: 0 })

  describe('stacks', () => {
    it('are created empty, changed by field, and left alone when nothing changes', async () => {
      const urls = ['https://example.org/a.yaml']
      const stack = await world.engine.createStack({ name: 'web', description: 'd', urls, reconcile: '1h', by: 'ann' })
      expect(stack).toMatchObject({ name: 'web', revision: 1, config: { urls, reconcile: '1h' }, resources: [] })
      const same = await world.engine.updateStack(stack.id, { name: 'web', urls }, { by: 'ann' })
      expect(same).toEqual(stack)
      const after = await world.engine.updateStack(
        stack.id,
        { urls: [], reconcile: null },
        { by: 'bob', ifRevision: 1 },
      )
      expect(after).toMatchObject({ name: 'web', description: 'd', revision: 2, config: { urls: [] } })
      expect(after.config.reconcile).toBeUndefined()
      expect((await world.engine.history('web', { limit: 9 })).map(({ type, by }) => [type, by])).toEqual([
        ['update', 'bob'],
        ['create', 'ann'],
      ])
      const late = world.engine.updateStack(stack.id, { name: 'late' }, { by: 'ann', ifRevision: 1 })
      expect(await refused(late)).toMatchObject({ code: 'stack.moved' })
    })

    it('are found by id or by a name that only one has', async () => {
      const one = await world.engine.createStack({ name: 'twin', by: 'ann' })
      const two = await world.engine.createStack({ name: 'twin', by: 'ann' })
      expect(await refused(world.engine.stack('twin'))).toMatchObject({ code: 'stack.ambiguous' })
      expect((await world.engine.stack(two.id)).id).toBe(two.id)
      const { stacks } = await world.engine.stacks({ names: ['twin'] }, { limit: 10 })
      expect(stacks.map(({ id }) => id)).toEqual([one.id, two.id])
      expect(await refused(world.engine.stack('nobody'))).toMatchObject({ code: 'stack.unknown' })
    })

    it('tell what is wrong with their settings', async () => {
      const urls = ['ftp://x', 'https://u:p@example.org/a']
      const created = world.engine.createStack({ name: ' ', urls, reconcile: 'soon', by: 'ann' })
      expect(await refused(created)).toEqual([
        'value.missing at name',
        'url.invalid at urls[0]',
        'url.credentials at urls[1]',
        'duration.invalid at reconcile',
      ])
    })

    it('are made by an apply that names none, born at the time of it', async () => {
      const answer = await world.apply([label], { stackName: 'made' })
      expect(answer.outcome).toEqual({ did: 'applied', madeStack: true })
      const stack = await world.stackOf(answer)
      expect(stack).toMatchObject({ name: 'made', revision: 1, updatedAt: stack.createdAt, sources: ['bundle.json'] })
      expect(await world.engine.history(stack.id, { limit: 9 })).toMatchObject([{ type: 'apply', by: 'ann' }])
      expect(answer.summary.resources).toMatchObject([{ id: stack.resources[0]?.id }])
    })

    it('apply what is behind their URLs', async () => {
      const urls = ['https://example.org/a.json', 'https://example.org/b.json']
      const served = new Map([
        [urls[0]!, sourceOf([label], urls[0])],
        [urls[1]!, sourceOf([datastore], urls[1])],
      ])
      const ports: EnginePorts = { ...world.ports, fetchSource: async url => served.get(url)! }
      const engine = createEngine(ports)
      const stack = await engine.createStack({ name: 'remote', urls, by: 'ann' })
      await engine.apply(aRequest({ stack: 'remote' }))
      expect(addresses(await engine.stack(stack.id))).toEqual(['Mark/lucid_einstein', 'Store/pristine_noir'])
      const broken = createEngine({
        ...ports,
        fetchSource: async url => ({ code: 'url.status', path: url, reason: 'answered 404' }),
      })
      expect(await refused(broken.apply(aRequest({ stack: 'remote' })))).toEqual(
        urls.map(url => `url.status at ${url}`),
      )
    })

    it('let go of one resource and of all of a kind, writing nothing to the platform', async () => {
      const answer = await world.apply([label, datastore, volume, policy])
      const live = await allLive(world.ports)
      const { stack } = await world.engine.forget({
        ...on(answer.stackId!),
        resources: [{ kind: 'Disk', name: 'charmed_saratoba' }],
      })
      expect(addresses(stack)).toEqual(['Group/alcord_mumphries', 'Mark/lucid_einstein', 'Store/pristine_noir'])
      await world.engine.forget({ ...on(answer.stackId!), resources: [{ kind: 'Store' }, { kind: 'Group' }] })
      expect(addresses(await world.stackOf(answer))).toEqual(['Mark/lucid_einstein'])
      expect(await allLive(world.ports)).toEqual(live)
      const types = (await world.engine.history(answer.stackId!, { limit: 9 })).map(({ type }) => type)
      expect(types).toEqual(['forget', 'forget', 'apply'])
    })

    it('take existing resources in, all or none, and answer with text that plans to nothing', async () => {
      await writeOutside(
        world.ports,
        foreign('Mark', world.ports.newId(), 'Edge Machines', { color: 'red' }),
        foreign('Store', world.ports.newId(), 'main', { url: 'x', retries: 3 }),
      )
      const { id } = await world.engine.createStack({ name: 'taken', by: 'ann' })
      const wishes = [
        { kind: 'Mark', displayName: 'Edge Machines' },
        { kind: 'Store', displayName: 'main', name: 'm' },
      ]
      const wrong = world.engine.import({ ...on(id), resources: [...wishes, { kind: 'Mark', displayName: 'nobody' }] })
      expect(await refused(wrong)).toMatchObject({ code: 'plan.blocked' })
      expect((await world.engine.stack(id)).resources).toEqual([])
      const live = await allLive(world.ports)
      const { stack, exported } = await world.engine.import({ ...on(id), resources: wishes })
      expect(stack.resources).toMatchObject([
        { kind: 'Mark', adopted: true },
        { kind: 'Store', name: 'm', adopted: true },
      ])
      expect(await allLive(world.ports)).toEqual(live)
      expect(exported).toHaveLength(2)
      const { outcome } = await world.apply(exported as readonly Doc[], { stack: id })
      expect(outcome).toEqual({ did: 'nothing' })
    })

    it('report drift, and take it as applied when told so', async () => {
      const answer = await world.apply([label, datastore, volume])
      const stack = await world.stackOf(answer)
      const live = (await world.live(stack, 'Store/pristine_noir'))!
      await editOutside(world.ports, live, { spec: { ...live.spec, url: 'elsewhere' } })
      const disk = (await world.live(stack, 'Disk/charmed_saratoba'))!
      await writeOutside(world.ports, { do: 'remove', kind: 'Disk', id: disk.id })
      const { drift, outcome } = await world.engine.refresh(on(stack.id))
      expect(drift.map(({ kind, gone }) => [kind, gone]).sort()).toEqual([
        ['Disk', true],
        ['Store', false],
      ])
      expect(outcome).toEqual({ did: 'nothing' })
      expect(await world.engine.stack(stack.id)).toEqual(stack)
      await world.engine.refresh({ ...on(stack.id), accept: true })
      const after = await world.engine.stack(stack.id)
      expect(addresses(after)).toEqual(['Mark/lucid_einstein', 'Store/pristine_noir'])
      expect((await world.engine.refresh(on(stack.id))).drift).toEqual([])
      expect((await world.live(after, 'Store/pristine_noir'))?.spec.url).toBe('elsewhere')
    })

    it('correct drift by themselves at their interval, and delete nothing', async () => {
      const answer = await world.apply([label, datastore])
      const stack = await world.stackOf(answer)
      const drift = async () => {
        const live = (await world.live(stack, 'Store/pristine_noir'))!
        await editOutside(world.ports, live, { spec: { ...live.spec, url: 'elsewhere' } })
      }
      const url = async () => (await world.live(stack, 'Store/pristine_noir'))?.spec.url
      await drift()
      await world.engine.reconcileDue()
      expect(await url()).toBe('elsewhere')
      await world.engine.updateStack(stack.id, { reconcile: '1h' }, { by: 'ann' })
      await world.engine.reconcileDue()
      expect(await url()).toBe('https://example.org')
      await drift()
      world.clock.advance(3_000_000)
      await world.engine.reconcileDue()
      expect(await url()).toBe('elsewhere')
      world.clock.advance(700_000)
      await world.engine.reconcileDue()
      expect(await url()).toBe('https://example.org')
      expect(await allLive(world.ports)).toHaveLength(2)
    })
  })
}

function locks(world: World) {
  describe('locks', () => {
    const hold = async (stack: string) => {
      const lease = await world.ports.store.leases.acquire(stack, { holder: 'bob', operation: 'apply' })
      if (!('fence' in lease)) throw new Error('expected to get the lease')
      return lease
    }

    it('tell who holds the stack', async () => {
      const { stackId } = await world.apply([label])
      const lease = await hold(stackId!)
      const late = world.apply([label, datastore], { stack: stackId! })
      await expect(late).rejects.toThrow(/bob/)
      await expect(late).rejects.toMatchObject({ code: 'stack.locked' })
      expect(await world.engine.lock(stackId!)).toMatchObject({ holder: 'bob' })
      await world.ports.store.leases.release(lease)
      await world.apply([label, datastore], { stack: stackId! })
      expect(await world.engine.lock(stackId!)).toBeNull()
    })

    it('let two applies at once happen one after the other when they wait', async () => {
      const { stackId } = await world.apply([label])
      const wait = { stack: stackId!, lockWaitMs: 20_000, confirm: both }
      const answers = await Promise.all([world.apply([label, datastore], wait), world.apply([label, volume], wait)])
      expect(answers.map(({ outcome }) => outcome.did)).toEqual(['applied', 'applied'])
      const after = addresses(await world.engine.stack(stackId!))
      expect([
        ['Disk/charmed_saratoba', 'Mark/lucid_einstein'],
        ['Mark/lucid_einstein', 'Store/pristine_noir'],
      ]).toContainEqual(after)
      expect(await allLive(world.ports)).toHaveLength(2)
    })

    it('are taken away by force, which the history tells', async () => {
      const { stackId } = await world.apply([label])
      await hold(stackId!)
      expect(await world.engine.unlock(stackId!, 'root')).toMatchObject({ holder: 'bob' })
      expect(await world.engine.unlock(stackId!, 'root')).toBeNull()
      expect(await world.engine.history(stackId!, { limit: 1 })).toMatchObject([{ type: 'unlock', by: 'root' }])
      await world.apply([label, datastore], { stack: stackId! })
    })

    it('stop who lost one in the middle: nothing of it is written', async () => {
      const { stackId } = await world.apply([label])
      // Taken away while the plan is made, under the lock: there the record is read once more.
      const store = new Proxy(world.ports.store, {
        get: (store, key) => {
          const value = Reflect.get(store, key)
          if (key !== 'stack') return typeof value === 'function' ? value.bind(store) : value
          return async (id: string) => {
            await store.leases.force(stackId!)
            return store.stack(id)
          }
        },
      })
      const ports: EnginePorts = { ...world.ports, store }
      const before = await world.engine.stack(stackId!)
      expect(
        await refused(createEngine(ports).apply(aRequest({ docs: [label, datastore], stack: stackId! }))),
      ).toMatchObject({ code: 'stack.lock-lost' })
      expect(await world.engine.stack(stackId!)).toEqual(before)
      expect(await allLive(world.ports)).toHaveLength(1)
    })

    it('let nobody cancel what is not under way', async () => {
      const { stackId } = await world.apply([label])
      expect(await world.engine.cancel(stackId!)).toBe(false)
    })
  })
}

function bindingPlans(world: World) {
  describe('a plan that was shown', () => {
    const expectStale = async (given: Parameters<typeof aRequest>[0], path: string | RegExp) => {
      const answer = (await refused(world.engine.apply(aRequest(given)))) as { code: string; problems: string[] }
      expect(answer.code).toBe('plan.stale')
      expect(answer.problems).toContainEqual(expect.stringMatching(path))
    }

    it('is carried out when it comes out the same', async () => {
      const { stackId } = await world.apply([label])
      const request = { docs: [label, datastore], stack: stackId! }
      const { plan } = await world.engine.plan(aRequest(request))
      const answer = await world.engine.apply(aRequest({ ...request, expectPlan: plan }))
      expect(answer.plan.id).toBe(plan.id)
      expect(answer.outcome.did).toBe('applied')
    })

    it('is refused when record, resource, bundle, values or time moved, by name', async () => {
      const { stackId } = await world.apply([label, datastore])
      const sized = doc('Disk/d', { size: { envRef: { key: 'size', default: '1GiB' } } })
      const request = { docs: [label, datastore, sized], stack: stackId! }
      const plan = async () => (await world.engine.plan(aRequest(request))).plan

      await expectStale({ ...request, docs: [label, datastore, volume], expectPlan: await plan() }, / at bundle$/)
      await expectStale({ ...request, env: { size: '2GiB' }, expectPlan: await plan() }, / at settings$/)
      const byLive = await plan()
      const stack = await world.engine.stack(stackId!)
      const live = (await world.live(stack, 'Store/pristine_noir'))!
      await editOutside(world.ports, live, { spec: { ...live.spec, url: 'elsewhere' } })
      await expectStale({ ...request, expectPlan: byLive }, / at Store\/pristine_noir$/)
      const byRecord = await plan()
      await world.apply([label, datastore], { stack: stackId! })
      await expectStale({ ...request, expectPlan: byRecord }, / at stack\//)
      const late = await plan()
      world.clock.advance(25 * 3_600_000)
      await expectStale({ ...request, expectPlan: late }, / at expiresAt$/)
      expect(addresses(await world.engine.stack(stackId!))).toEqual(['Mark/lucid_einstein', 'Store/pristine_noir'])
    })

    it('is kept and carried out by its id after a restart', async () => {
      const { stackId } = await world.apply([label])
      const request = aRequest({ docs: [label, datastore], stack: stackId! })
      const { plan } = await world.engine.plan(request, { save: true })
      const again = createEngine(world.ports)
      const given = { secrets: {}, confirm: [], lockWaitMs: 0, by: 'bob' }
      const answer = await again.applySaved(plan.id, given)
      expect(answer).toMatchObject({ plan: { id: plan.id }, outcome: { did: 'applied' } })
      expect(await refused(again.applySaved(plan.id, given))).toMatchObject({ code: 'plan.stale' })
      expect(await refused(again.applySaved('nobody', given))).toMatchObject({ code: 'plan.unknown' })
    })

    it('makes the stack that it said it would make', async () => {
      const { plan } = await world.engine.plan(aRequest({ docs: [label], stackName: 'later' }), { save: true })
      const given = { secrets: {}, confirm: [], lockWaitMs: 0, by: 'bob' }
      const answer = await world.engine.applySaved(plan.id, given)
      expect(answer.outcome).toEqual({ did: 'applied', madeStack: true })
      expect((await world.stackOf(answer)).name).toBe('later')
    })
  })
}

function values(world: World) {
  const hidden = 'correct horse battery staple'
  const withSecret = doc('Store/s', { url: 'x', password: { secretRef: { key: 'db-password' } } })

  describe('values from outside', () => {
    it('refuses an apply while values are missing, all of them named', async () => {
      const docs = [withSecret, doc('Disk/d', { size: { envRef: { key: 'size' } } })]
      const { summary } = await world.engine.plan(aRequest({ docs }))
      expect(summary).toMatchObject({ missingEnvRefs: ['size'], missingSecrets: ['db-password'] })
      const refusal = await refused(world.apply(docs))
      expect(refusal).toEqual(['env.missing at Disk/d.spec.size', 'secret.missing at Store/s'])
      expect(await allLive(world.ports)).toEqual([])
    })

    it('refuses a secret that nobody uses', async () => {
      const secrets = { other: new Secret(hidden) }
      expect(await refused(world.apply([label], { secrets }))).toEqual(['secret.unused at secrets.other'])
    })

    it('keeps a supplied secret, and plans nothing while it stays the same', async () => {
      const secrets = { 'db-password': new Secret(hidden) }
      const first = await world.apply([withSecret], { secrets })
      expect(first.plan.secrets).toEqual([{ key: 'db-password', action: 'create' }])
      const again = { stack: first.stackId! }
      expect((await world.apply([withSecret], again)).outcome).toEqual({ did: 'nothing' })
      expect((await world.apply([withSecret], { ...again, secrets })).outcome).toEqual({ did: 'nothing' })
    })

    it('shows that a secret changed, and never a value', async () => {
      const first = await world.apply([withSecret], { secrets: { 'db-password': new Secret(hidden) } })
      const given = { stack: first.stackId!, secrets: { 'db-password': new Secret(`${hidden} two`) } }
      const { plan } = await world.engine.plan(aRequest({ docs: [withSecret], ...given }), { save: true })
      expect(plan.actions[0]?.changes).toMatchObject([{ path: 'spec.password', why: 'secret' }])
      const bound = { confirm: [], lockWaitMs: 0, by: 'ann' }
      const other = { 'db-password': new Secret('another') }
      expect(await refused(world.engine.applySaved(plan.id, { ...bound, secrets: other }))).toMatchObject({
        code: 'plan.stale',
      })
      const answer = await world.engine.applySaved(plan.id, { ...bound, secrets: given.secrets })
      const seen = [
        first,
        plan,
        answer,
        await world.stackOf(first),
        await world.engine.history(first.stackId!, { limit: 9 }),
      ]
      expect(JSON.stringify(seen)).not.toContain(hidden)
    })

    it('takes no apply of an invalid bundle and none that skips validation', async () => {
      const bad = doc('Disk/d', { size: 'large', nmae: 'x' })
      expect(await refused(world.apply([label, bad]))).toEqual(
        expect.arrayContaining(['key.unknown at Disk/d.spec.nmae']),
      )
      expect(await refused(world.apply([label], { options: { skipValidation: true } }))).toMatchObject({
        code: 'apply.validation-skipped',
      })
      expect(await allLive(world.ports)).toEqual([])
      expect((await world.engine.stacks({}, { limit: 10 })).stacks).toEqual([])
    })
  })
}
