import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StateName } from '../../names.ts'
import { type GcOptions, type GcView, planGc } from './plan.ts'
import type { Root } from './root.ts'

const now = new Date('2026-03-10T12:00:00Z')
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000).toISOString()

/** `{ a: 'b c' }`: a refers to b and c. Each state has 10 bytes. */
function aView(references: Record<string, string>, more: Partial<GcView> = {}): GcView {
  const states = new Map(
    Object.entries(references).map(([state, to]) => [
      state as StateName,
      { size: 10, references: to.split(' ').filter(Boolean) as StateName[], recorded: true },
    ]),
  )
  return {
    states,
    roots: [],
    generations: [],
    current: null,
    journalOpen: false,
    garbage: [],
    voidRecords: [],
    ...more,
  }
}

/** Generation n, made n days before the last, names state `etc<n>`. */
function generations(count: number, current = count): Pick<GcView, 'roots' | 'generations' | 'current'> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  return {
    current,
    generations: numbers.map(generation => ({ generation, createdAt: daysAgo(count - generation) })),
    roots: numbers.map(generation => ({
      state: `etc${generation}` as StateName,
      cause: { is: 'generation', generation, current: generation === current },
    })),
  }
}

const root = (state: string, cause: Root['cause'] = { is: 'static' }): Root => ({ state: state as StateName, cause })
const plan = (view: GcView, options: GcOptions = {}) => planGc(view, { now, ...options })
const removed = (view: GcView, options: GcOptions = {}) => plan(view, options).statesToRemove.map(({ state }) => state)

describe('states', () => {
  it('stay when a root leads to them over any number of references', () => {
    const view = aView({ etc: 'unit', unit: 'tool', tool: '', old: 'tool' }, { roots: [root('etc')] })
    expect(plan(view)).toMatchObject({
      statesToRemove: [{ state: 'old', size: 10, why: 'unused' }],
      kept: 3,
      freedBytes: 10,
      generationsToRemove: [],
    })
  })

  it.each<[string, Root['cause']]>([
    ['a generation', { is: 'generation', generation: 1, current: false }],
    ['etc/static', { is: 'static' }],
    ['an open journal', { is: 'journal', file: '/j' }],
    ['a temp root', { is: 'temp-root', pid: 1, file: '/t' }],
    ['a process', { is: 'process', pid: 1, name: 'x', file: '/proc/1/maps' }],
  ])('stay because of %s', (_, cause) => {
    expect(removed(aView({ a: '' }, { roots: [root('a', cause)] }))).toEqual([])
  })

  it('go before the states they refer to, whatever their names', () => {
    expect(removed(aView({ a: '', b: 'a', c: 'a b', d: 'c' }))).toEqual(['d', 'c', 'b', 'a'])
    expect(removed(aView({ d: '', c: 'd', b: 'c d', a: 'b' }))).toEqual(['a', 'b', 'c', 'd'])
  })

  it('may refer to themselves and to what is not there', () => {
    expect(removed(aView({ a: 'a gone', b: 'gone' }, { roots: [root('b')] }))).toEqual(['a'])
  })

  it('without record go when nothing leads to them, and stay with what they mention when something does', () => {
    const view = aView({ lost: 'tool', tool: '', unfinished: '' }, { roots: [root('lost')] })
    for (const state of ['lost', 'unfinished'] as StateName[])
      (view.states as Map<StateName, unknown>).set(state, { ...view.states.get(state), recorded: false })
    expect(plan(view).statesToRemove).toEqual([{ state: 'unfinished', size: 10, why: 'no record' }])
  })
})

describe('generations', () => {
  const five = aView({ etc1: '', etc2: 'shared', etc3: 'shared', etc4: '', etc5: '', shared: '' }, generations(5))

  it('all stay unless asked', () => {
    expect(plan(five)).toMatchObject({ generationsToRemove: [], statesToRemove: [] })
  })

  it('go beyond the newest N, with the states that only they used, and it is said which one was the last', () => {
    expect(plan(five, { keep: 2 })).toMatchObject({
      generationsToRemove: [1, 2, 3],
      statesToRemove: [
        { state: 'etc1', why: 'generation 1' },
        { state: 'etc2', why: 'generation 2' },
        { state: 'etc3', why: 'generation 3' },
        { state: 'shared', why: 'generation 3' },
      ],
    })
  })

  it('keep what a remaining generation shares', () => {
    expect(removed(five, { keep: 3 })).toEqual(['etc1', 'etc2'])
  })

  it('go when older than asked, by the time they were made', () => {
    expect(plan(five, { olderThanMs: 2.5 * 86_400_000 }).generationsToRemove).toEqual([1, 2])
  })

  it('go only when both limits say so', () => {
    expect(plan(five, { keep: 4, olderThanMs: 86_400_000 }).generationsToRemove).toEqual([1])
    expect(plan(five, { keep: 1, olderThanMs: 3.5 * 86_400_000 }).generationsToRemove).toEqual([1])
  })

  it('current and the one before it always stay, also after a rollback', () => {
    expect(plan(five, { keep: 0 }).generationsToRemove).toEqual([1, 2, 3])
    expect(plan({ ...five, ...generations(5, 3) }, { keep: 1 }).generationsToRemove).toEqual([1, 4])
    expect(plan({ ...five, ...generations(5, 1) }, { olderThanMs: 0 }).generationsToRemove).toEqual([2, 3, 4])
  })

  it('all may go after an uninstall', () => {
    expect(plan({ ...five, current: null }, { keep: 0 }).generationsToRemove).toEqual([1, 2, 3, 4, 5])
  })

  it('all stay while a journal is open, and it is said', () => {
    expect(plan({ ...five, journalOpen: true }, { keep: 1 })).toMatchObject({
      generationsToRemove: [],
      generationsHeld: true,
    })
    expect(plan({ ...five, journalOpen: true }).generationsHeld).toBe(false)
  })

  it('of unknown age stay when age is what counts', () => {
    const view = { ...five, generations: five.generations.map(each => ({ ...each, createdAt: '' })) }
    expect(plan(view, { olderThanMs: 0 }).generationsToRemove).toEqual([])
  })
})

describe('bytes', () => {
  it('are freed until there are enough, garbage first', () => {
    const garbage = [{ path: '/t', what: 'leftover trash', size: 5 }] as const
    const view = aView({ a: '', b: '', c: '' }, { garbage })
    expect(plan(view, { maxFreed: 6 })).toMatchObject({ freedBytes: 15, kept: 2, garbage })
    expect(removed(view, { maxFreed: 6 })).toEqual(['a'])
    expect(removed(view, { maxFreed: 16 })).toEqual(['a', 'b'])
    expect(removed(view, { maxFreed: 0 })).toEqual([])
  })
})

it('for any store: what stays is closed under references, and what goes leaves nothing dangling at any point', () => {
  const name = fc.nat(11).map(index => `s${index}`)
  const graph = fc.dictionary(
    name,
    fc.array(name, { maxLength: 4 }).map(names => names.join(' ')),
    { maxKeys: 12 },
  )
  fc.assert(
    fc.property(graph, fc.array(name, { maxLength: 3 }), fc.option(fc.nat(200)), (references, roots, maxFreed) => {
      // Fingerprints rule out circles: a state refers to later names only.
      for (const [from, to] of Object.entries(references))
        references[from] = to
          .split(' ')
          .filter(each => Number(each.slice(1)) > Number(from.slice(1)))
          .join(' ')
      const view = aView(references, { roots: roots.map(state => root(state)) })
      const left = new Map(view.states)
      for (const { state } of plan(view, maxFreed === null ? {} : { maxFreed }).statesToRemove) {
        expect(left.delete(state)).toBe(true)
        for (const [from, { references: to }] of left)
          for (const each of to) if (view.states.has(each)) expect([from, left.has(each)]).toEqual([from, true])
      }
      for (const state of roots as StateName[]) expect(left.has(state)).toBe(view.states.has(state))
    }),
    { seed: Number(process.env.CAIRN_SEED ?? Date.now()) },
  )
})
