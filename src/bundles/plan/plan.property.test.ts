// Random bundles over a platform in memory, with somebody else at work beside: what a plan promises holds for all of them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Spec } from '../../resources/kind.ts'
import type { Plan } from '../model/plan.ts'
import type { Live } from '../platform.ts'
import { aWorld, printWrites, type Wish, type World } from './world.fake.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 25),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

const names = ['a', 'b', 'c', 'd', 'e']
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 })
const given = (spec: Record<string, unknown>): Spec =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) as Spec

interface Raw {
  marks: readonly string[]
  stores: Record<string, { as: string; user: string | undefined; retries: number; with: string[] }>
  disks: Record<
    string,
    {
      size: string
      share: number | undefined
      format: 'raw' | 'qcow2'
      store: string | undefined
      basedOn: string | undefined
      notes: Record<string, string> | undefined
      with: string[]
    }
  >
  groups: Record<
    string,
    { members: { name: string; weight: number }[] | undefined; tags: string[] | undefined; stores: string[] }
  >
}

const name = fc.constantFrom(...names)
const some = fc.uniqueArray(name, { maxLength: 3 })
const shown = fc.constantFrom('s1', 's2', 's3', 's4', 's5', 's6')
const raw: fc.Arbitrary<Raw> = fc.record({
  marks: some,
  stores: fc.dictionary(
    name,
    fc.record({
      as: shown,
      user: maybe(fc.constantFrom('u', 'v')),
      retries: fc.integer({ min: 1, max: 3 }),
      with: some,
    }),
    { maxKeys: 4 },
  ),
  disks: fc.dictionary(
    name,
    fc.record({
      size: fc.constantFrom('1B', '2B'),
      share: maybe(fc.constantFrom(0, 0.5, 1)),
      format: fc.constantFrom('raw', 'qcow2'),
      store: maybe(name),
      basedOn: maybe(name),
      notes: maybe(fc.dictionary(fc.constantFrom('x', 'y', 'constructor'), fc.constantFrom('1', '2'))),
      with: some,
    }),
    { maxKeys: 5 },
  ),
  groups: fc.dictionary(
    name,
    fc.record({
      members: maybe(
        fc.uniqueArray(fc.record({ name, weight: fc.integer({ min: 1, max: 3 }) }), {
          selector: one => one.name,
          maxLength: 3,
        }),
      ),
      tags: maybe(some),
      stores: some,
    }),
    { maxKeys: 2 },
  ),
})

/** Valid: references are to what is there, disks only lie on disks before them, display names are unique. */
function wishesOf({ marks, stores, disks, groups }: Raw): Wish[] {
  const carried = (list: readonly string[]) => list.filter(one => marks.includes(one)).sort()
  const taken = new Set<string>()
  const shownAs = new Map<string, string>()
  for (const [own, { as }] of Object.entries(stores)) {
    const free = taken.has(as) ? own : as
    taken.add(free)
    shownAs.set(own, free)
  }
  return [
    ...marks.map((own): Wish => ({ kind: 'Mark', name: own, as: `mark-${own}` })),
    ...Object.entries(stores).map(
      ([own, { user, retries, with: list }]): Wish => ({
        kind: 'Store',
        name: own,
        as: shownAs.get(own)!,
        spec: given({ url: 'u', user, retries }),
        with: carried(list),
      }),
    ),
    ...Object.entries(disks).map(
      ([own, { store, basedOn, with: list, ...spec }]): Wish => ({
        kind: 'Disk',
        name: own,
        as: `disk-${own}`,
        spec: given({
          ...spec,
          store: store !== undefined && store in stores ? { name: store } : undefined,
          basedOn: basedOn !== undefined && basedOn in disks && basedOn < own ? { name: basedOn } : undefined,
        }),
        with: carried(list),
      }),
    ),
    ...Object.entries(groups).map(
      ([own, { members, tags, stores: list }]): Wish => ({
        kind: 'Group',
        name: own,
        as: `group-${own}`,
        spec: given({
          members,
          tags,
          stores: Object.fromEntries(list.filter(one => one in stores).map(one => [shownAs.get(one)!, {}])),
        }),
      }),
    ),
  ]
}

const bundle = raw.map(wishesOf)

type Meddling = { do: 'remove' | 'grow' | 'note' | 'rename'; at: number }
const meddling: fc.Arbitrary<Meddling[]> = fc.array(
  fc.record({ do: fc.constantFrom('remove', 'grow', 'note', 'rename'), at: fc.nat(50) }) as fc.Arbitrary<Meddling>,
  { maxLength: 4 },
)

/** Somebody else at work. */
function meddle(world: World, all: readonly Meddling[]): void {
  for (const { do: what, at } of all) {
    const live = [...world.platform.state.resources.values()]
    const one = live[at % (live.length || 1)]
    if (!one) continue
    if (what === 'remove') world.platform.outside({ do: 'remove', kind: one.kind, id: one.id })
    if (what === 'grow' && one.kind === 'Disk') put(world, one, { spec: { ...one.spec, size: '7B' } })
    if (what === 'note' && one.kind === 'Disk')
      put(world, one, { spec: { ...one.spec, notes: { ...(one.spec.notes as object), theirs: 'x' } } })
    if (what === 'rename' && one.kind === 'Mark') put(world, one, { displayName: `${one.displayName}'` })
  }
}

function put({ platform }: World, live: Live, change: { spec?: Spec; displayName?: string }): void {
  const { kind, id, apiVersion, displayName, spec, revision } = live
  const refersTo = platform.state.refersTo.get(id) ?? []
  platform.outside({ do: 'update', kind, id, apiVersion, displayName, spec, refersTo, ifRevision: revision, ...change })
}

/** What stands on the platform, with names for ids. */
function picture({ platform, stack }: World): unknown {
  const owned = new Map(stack?.resources.map(({ id, kind, name }) => [id, `${kind}/${name}`]))
  const text = JSON.stringify(
    [...platform.state.resources.values()].map(({ kind, id, displayName, spec, associations }) => ({
      kind,
      id,
      displayName,
      spec,
      associations: associations.map(to => to.id),
      refersTo: platform.state.refersTo.get(id),
    })),
  )
  const named = JSON.parse(
    text.replace(/"((?:id|out)-\d+)"/g, (_, id: string) => JSON.stringify(owned.get(id) ?? id)),
  ) as {
    id: string
    associations: string[]
    refersTo: { id: string }[]
  }[]
  for (const one of named) {
    one.associations.sort()
    one.refersTo.sort((a, b) => (a.id < b.id ? -1 : 1))
  }
  return named.sort((a, b) => (a.id < b.id ? -1 : 1))
}

const blocked = ({ blockers }: Plan) => blockers.length > 0

describe('whatever bundles come one after the other, and whoever meddles in between', () => {
  it('a plan after an apply has nothing to do, and the record stays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(bundle, meddling), { minLength: 1, maxLength: 4 }), async rounds => {
        const world = aWorld()
        for (const [wishes, before] of rounds) {
          meddle(world, before)
          if (blocked(await world.plan(wishes))) continue
          await world.apply(wishes)
          const again = await world.apply(wishes)
          expect(again.plan.actions.filter(({ action }) => action !== 'none')).toEqual([])
          expect(again.plan.associations.filter(({ action }) => action !== 'none')).toEqual([])
          expect(printWrites(again.writes)).toEqual([])
          expect(again.writes.record).toEqual({ change: null, event: null })
          expect(again.plan.drift).toEqual([])
        }
      }),
      parameters,
    )
  })

  it('the way does not matter: through other bundles or at once, the same stands there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bundle, { minLength: 1, maxLength: 3 }), bundle, async (others, last) => {
        const [long, short] = [aWorld(), aWorld()]
        for (const wishes of [...others, last]) if (!blocked(await long.plan(wishes))) await long.apply(wishes)
        fc.pre(!blocked(await long.plan(last)))
        await short.apply(last)
        expect(picture(long)).toEqual(picture(short))
      }),
      parameters,
    )
  })

  it('the order keeps what actions wait for, writes keep it too, and the plan prints the same twice', async () => {
    await fc.assert(
      fc.asyncProperty(bundle, meddling, bundle, async (first, between, second) => {
        const world = aWorld()
        await world.apply(first)
        meddle(world, between)
        const plan = await world.plan(second)
        expect(JSON.stringify(await world.plan(second.toReversed()))).toBe(JSON.stringify(plan))
        if (blocked(plan)) return
        const seen = new Set<string>()
        for (const { action, kind, name, dependsOn } of plan.actions) {
          for (const address of dependsOn) expect(seen).toContain(address)
          if (action !== 'none') seen.add(`${kind}/${name}`)
        }
        const { writes } = await world.apply(second)
        for (const list of writes.platforms.values())
          for (const { seq, after } of list) expect(Math.max(0, ...after)).toBeLessThan(seq)
      }),
      parameters,
    )
  })

  it('what nobody manages is never touched', async () => {
    await fc.assert(
      fc.asyncProperty(bundle, bundle, async (first, second) => {
        const world = aWorld()
        await world.apply(first)
        const foreign = world.make('Mark', 'foreign')
        const theirs: string[] = []
        for (const live of [...world.platform.state.resources.values()]) {
          if (live.kind !== 'Disk') continue
          put(world, live, { spec: { ...live.spec, notes: { ...(live.spec.notes as object), theirs: 'x' } } })
          world.platform.outside({ do: 'associate', from: live, to: foreign })
          theirs.push(live.id)
        }
        const plan = await world.plan(second)
        if (blocked(plan)) return
        await world.apply(second)
        expect(world.live('foreign')).toEqual(foreign)
        for (const id of theirs) {
          const live = world.platform.state.resources.get(id)
          if (!live) continue
          expect(live.spec.notes).toMatchObject({ theirs: 'x' })
          expect(live.associations).toContainEqual({ kind: 'Mark', id: foreign.id })
        }
      }),
      parameters,
    )
  })
})
