import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/json.ts'
import type { Spec } from '../../resources/kind.ts'
import { acceptLive, compareFields, mergeOverLive } from './three-way.ts'
import { kindsByName } from './world.fake.ts'

const disk = kindsByName.get('Disk')!
const group = kindsByName.get('Group')!
const names = { last: 'd', live: 'd', wanted: 'd' }

function compare(kind: typeof disk, last: Spec | null, live: Spec, wanted: Spec, ignore: string[] = []) {
  const { changes, converged, unchanged } = compareFields({ kind, last, live, wanted, ignore }, names)
  return { changes, converged, unchanged: unchanged - 1 } // the name is always one of them
}
const merge = (kind: typeof disk, last: Spec | null, live: Spec, wanted: Spec, ignore: string[] = []): Json =>
  mergeOverLive({ kind, last, live, wanted, ignore }) as Json

describe('the three-way table', () => {
  const size = (value: string) => ({ size: value })
  it.each([
    ['same, same: nothing', size('1GiB'), size('1GiB'), size('1GiB'), []],
    [
      'changed in the bundle',
      size('1GiB'),
      size('1GiB'),
      size('2GiB'),
      [{ path: 'spec.size', old: '1GiB', new: '2GiB', why: 'bundle' }],
    ],
    [
      'changed outside: back',
      size('1GiB'),
      size('3GiB'),
      size('1GiB'),
      [{ path: 'spec.size', old: '3GiB', new: '1GiB', why: 'drift' }],
    ],
    [
      'changed in both, to different values: three are shown',
      size('1GiB'),
      size('3GiB'),
      size('2GiB'),
      [{ path: 'spec.size', old: '3GiB', new: '2GiB', last: '1GiB', why: 'both' }],
    ],
    [
      'taken out of the bundle',
      { size: '1GiB', share: 1 },
      { size: '1GiB', share: 1 },
      size('1GiB'),
      [{ path: 'spec.share', old: 1, why: 'default' }],
    ],
    ['in neither last nor wanted: not managed', size('1GiB'), { size: '1GiB', share: 1 }, size('1GiB'), []],
    [
      'gone outside',
      { size: '1GiB', share: 1 },
      size('1GiB'),
      { size: '1GiB', share: 1 },
      [{ path: 'spec.share', new: 1, why: 'drift' }],
    ],
    [
      'immutable',
      { format: 'raw' },
      { format: 'raw' },
      { format: 'qcow2' },
      [{ path: 'spec.format', old: 'raw', new: 'qcow2', why: 'bundle', forcesReplacement: true }],
    ],
  ])('%s', (_, last, live, wanted, changes) => {
    expect(compare(disk, last, live, wanted)).toMatchObject({ changes, converged: false })
    expect(compare(disk, last, merge(disk, last, live, wanted) as Spec, wanted).changes).toEqual([])
  })

  it('calls what both sides changed to the same converged', () => {
    expect(compare(disk, size('1GiB'), size('2GiB'), size('2GiB'))).toEqual({
      changes: [],
      converged: true,
      unchanged: 1,
    })
  })

  it('knows no drift when nothing was applied yet', () => {
    expect(compare(disk, null, { size: '1GiB', share: 1 }, size('2GiB'))).toMatchObject({
      changes: [{ path: 'spec.size', old: '1GiB', new: '2GiB', why: 'bundle' }],
      converged: false,
    })
  })

  it('leaves ignored paths, and what is below them, as they are live', () => {
    const [last, live, wanted] = [
      { size: '1GiB', notes: { a: '1' } },
      { size: '3GiB', notes: { a: '2' } },
      { size: '2GiB', notes: { a: '3' } },
    ]
    expect(compare(disk, last, live, wanted, ['spec.size', 'spec.notes']).changes).toEqual([])
    expect(merge(disk, last, live, wanted, ['spec.size', 'spec.notes.a'])).toEqual({ size: '3GiB', notes: { a: '2' } })
    expect(compare(disk, last, live, wanted, ['spec.si']).changes.map(({ path }) => path)).toEqual([
      'spec.size',
      'spec.notes.a',
    ])
  })

  it('goes through maps key by key: what others put there stays, what was ours goes', () => {
    const last = { notes: { ours: '1', old: '1' } }
    const live = { notes: { ours: '1', old: '1', theirs: '1' } }
    const wanted = { notes: { ours: '2' } }
    expect(compare(disk, last, live, wanted).changes).toEqual([
      { path: 'spec.notes.ours', old: '1', new: '2', why: 'bundle' },
      { path: 'spec.notes.old', old: '1', why: 'default' },
    ])
    expect(merge(disk, last, live, wanted)).toEqual({ notes: { ours: '2', theirs: '1' } })
    expect(merge(disk, last, live, {})).toEqual({ notes: { theirs: '1' } })
    expect(merge(disk, last, last, {})).toEqual({})
  })

  it('compares lists as a whole, and lists with keys member by member in any order', () => {
    const parts = (...sizes: string[]) => ({ parts: sizes.map(one => ({ size: one })) })
    expect(compare(disk, parts('1B', '2B'), parts('1B', '2B'), parts('2B', '1B')).changes).toMatchObject([
      { path: 'spec.parts', why: 'bundle' },
    ])
    const members = (weights: Record<string, number>) => ({
      members: Object.entries(weights).map(([name, weight]) => ({ name, weight })),
    })
    const [last, live, wanted] = [members({ a: 1, b: 1 }), members({ b: 5, a: 1, theirs: 9 }), members({ c: 3, a: 2 })]
    expect(compare(group, last, live, wanted).changes).toEqual([
      { path: 'spec.members.c', new: { name: 'c', weight: 3 }, why: 'bundle' },
      { path: 'spec.members.a.weight', old: 1, new: 2, why: 'bundle' },
      { path: 'spec.members.b', old: { name: 'b', weight: 5 }, last: { name: 'b', weight: 1 }, why: 'both' },
    ])
    expect(merge(group, last, live, wanted)).toEqual(members({ c: 3, a: 2, theirs: 9 }))
    expect(compare(group, members({ a: 1, b: 2 }), members({ b: 2, a: 1 }), members({ a: 1, b: 2 })).changes).toEqual(
      [],
    )
  })

  it('takes keys such as constructor as data', () => {
    const notes = { notes: { constructor: 'x' } }
    expect(compare(disk, notes, { notes: {} }, notes).changes).toMatchObject([
      { path: 'spec.notes.constructor', new: 'x' },
    ])
  })

  it('accepts live values only where the record had one', () => {
    expect(
      acceptLive(
        disk,
        { size: '1GiB', share: 1, notes: { a: '1' } },
        { size: '2GiB', notes: { a: '2', b: '3' }, format: 'raw' },
      ),
    ).toEqual({ size: '2GiB', notes: { a: '2' } })
  })
})
