// The stack of the reference, row by row: each row is applied to what the one before left.
import { describe, expect, it } from 'vitest'
import type { Stack } from '../model/stack.ts'
import { aWorld, printWrites, shortly, type Wish } from './world.fake.ts'

const label = (as: string): Wish => ({ kind: 'Mark', name: 'lucid_einstein', as })
const others = (marks: string[]): Wish[] => [
  { kind: 'Store', name: 'pristine_noir', as: 'store_1', spec: { url: 'https://example.org' }, with: marks },
  { kind: 'Disk', name: 'charmed_saratoba', as: 'disk_1', spec: { size: '1GiB' }, with: marks },
]
const policy: Wish = { kind: 'Group', name: 'alcord_mumphries', with: ['lucid_einstein'] }
const marks = ['lucid_einstein']

describe('stack S1', () => {
  const world = aWorld()
  let before: Stack | null = null
  const apply = (wishes: Wish[]) => {
    before = structuredClone(world.stack)
    world.later(60_000)
    return world.apply(wishes)
  }

  it('1: all new: the label, then the others, then the associations', async () => {
    const { writes, plan } = await apply([label('mark_1'), ...others(marks)])
    expect(printWrites(writes)).toEqual([
      'create Mark/lucid_einstein',
      'create Disk/charmed_saratoba',
      'create Store/pristine_noir',
      'associate Disk/charmed_saratoba → Mark/lucid_einstein',
      'associate Store/pristine_noir → Mark/lucid_einstein',
    ])
    expect(plan).toMatchObject({ applicable: true, blockers: [], needs: [], counts: { create: 3 } })
    expect(world.stack?.resources.map(({ kind, name, associations }) => ({ kind, name, associations }))).toEqual([
      { kind: 'Disk', name: 'charmed_saratoba', associations: [{ kind: 'Mark', name: 'lucid_einstein' }] },
      { kind: 'Mark', name: 'lucid_einstein', associations: [] },
      { kind: 'Store', name: 'pristine_noir', associations: [{ kind: 'Mark', name: 'lucid_einstein' }] },
    ])
    expect(world.events.map(({ type }) => type)).toEqual(['apply'])
    expect(world.live('store_1').associations).toEqual([{ kind: 'Mark', id: world.live('mark_1').id }])
  })

  it('2: the same again: no write, no event, the record byte for byte', async () => {
    const { writes, plan } = await apply([label('mark_1'), ...others(marks)])
    expect(printWrites(writes)).toEqual([])
    expect(writes.record).toEqual({ change: null, event: null })
    expect(JSON.stringify(world.stack)).toBe(JSON.stringify(before))
    expect(plan.counts).toMatchObject({ create: 0, update: 0, unchanged: 3 })
  })

  it('3: another display name: the same label is renamed and nothing else is written', async () => {
    const { id } = world.live('mark_1')
    const { writes, plan } = await apply([label('cool label name'), ...others(marks)])
    expect(printWrites(writes)).toEqual(['update Mark/lucid_einstein'])
    expect(plan.actions[0]).toMatchObject({
      action: 'update',
      id,
      changes: [{ path: 'spec.name', old: 'mark_1', new: 'cool label name', why: 'bundle' }],
      why: 'changed in the bundle',
    })
    expect(world.live('cool label name').id).toBe(id)
    expect(world.stack!.updatedAt > before!.updatedAt).toBe(true)
    expect(world.stack!.resources.map(one => one.id)).toEqual(before!.resources.map(one => one.id))
  })

  it('4: one more: it is created, and a fourth stands in the record', async () => {
    const { writes } = await apply([label('cool label name'), ...others(marks), policy])
    expect(printWrites(writes)).toEqual([
      'create Group/alcord_mumphries',
      'associate Group/alcord_mumphries → Mark/lucid_einstein',
    ])
    expect(world.stack!.resources).toHaveLength(4)
  })

  it('5: it is taken out: its association, then itself', async () => {
    const { writes, plan } = await apply([label('cool label name'), ...others(marks)])
    expect(printWrites(writes)).toEqual([
      'dissociate Group/alcord_mumphries → Mark/lucid_einstein',
      'delete Group/alcord_mumphries',
    ])
    expect(shortly(plan)[0]).toBe('delete Group/alcord_mumphries: no longer in the bundle')
    expect(plan.actions[0]!.reason).toBe('bundle.yaml no longer has it')
    expect(world.stack!.resources).toHaveLength(3)
  })

  it('6: label and associations are taken out: both associations, then the label', async () => {
    const { writes, plan } = await apply(others([]))
    expect(printWrites(writes)).toEqual([
      'dissociate Disk/charmed_saratoba → Mark/lucid_einstein',
      'dissociate Store/pristine_noir → Mark/lucid_einstein',
      'delete Mark/lucid_einstein',
    ])
    expect(plan.associations.map(({ action, why }) => ({ action, why }))).toEqual([
      { action: 'delete', why: 'removed' },
      { action: 'delete', why: 'removed' },
    ])
    expect(world.stack!.resources.map(({ name, associations }) => ({ name, associations }))).toEqual([
      { name: 'charmed_saratoba', associations: [] },
      { name: 'pristine_noir', associations: [] },
    ])
    expect(world.stack!.updatedAt > before!.updatedAt).toBe(true)
  })
})
