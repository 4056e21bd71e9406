import { describe, expect, it } from 'vitest'
import { disk, documents, mark, store, told, understandText } from './understand.fake.ts'
import { checkRows } from './understand.suite.ts'

describe('the spec', () => {
  checkRows([
    [
      'finds a misspelt key, and does not miss the right one',
      'kind: Disk\nmetadata: { name: x }\nspec:\n  sise: 1GiB\n',
      ['key.unknown Disk/x.spec.sise 4:3'],
      '"size"',
    ],
    ['offers the keys that every kind has', disk('x', '  nmae: y\n'), ['key.unknown Disk/x.spec.nmae 5:3'], '"name"'],
    [
      'misses a required field',
      'kind: Disk\nmetadata: { name: x }\nspec: {}\n',
      ['value.missing Disk/x.spec.size 3:1'],
    ],
    [
      'misses a required field of an absent spec',
      'kind: Disk\nmetadata: { name: x }\n',
      ['value.missing Disk/x.spec.size 1:1'],
    ],
    ['refuses a boolean for text', store('x', '  user: true\n'), ['value.type Store/x.spec.user 5:9']],
    ['refuses null for text', store('x', '  user: null\n'), ['value.type Store/x.spec.user 5:9']],
    ['refuses text for a list', disk('x', '  parts: one\n'), ['value.type Disk/x.spec.parts 5:10']],
    ['refuses what is out of range', store('x', '  retries: 11\n'), ['value.range Store/x.spec.retries 5:12']],
    [
      'refuses a wrong part of a list',
      disk('x', '  parts: [{ size: 1GiB }, { size: big }]\n'),
      ['value.invalid Disk/x.spec.parts[1].size 5:35'],
    ],
    ['names what is allowed', disk('x', '  format: qcow3\n'), ['value.not-allowed Disk/x.spec.format 5:11'], '"qcow2"'],
    [
      'applies the rules between fields',
      'kind: RuleA\nmetadata: { name: x }\nspec: { every: 1m, threshold: 1, offset: 2m }\n',
      ['value.range RuleA/x.spec.offset 3:42'],
    ],
    [
      'does not apply them to what does not fit',
      'kind: RuleA\nmetadata: { name: x }\nspec: { every: often, threshold: 1, offset: 2m }\n',
      ['value.invalid RuleA/x.spec.every 3:16'],
    ],
  ])

  it('takes numbers where text is wanted, written without exponent', () => {
    const { bundle, problems } = understandText(
      disk('x', '  parts: [{ size: 1024, title: 12e3 }]\n  notes: { a: 1.5, b: 0.00000015 }\n'),
    )
    expect(problems).toEqual([])
    expect(bundle.resources[0]?.spec).toEqual({
      size: '1GiB',
      format: 'raw',
      parts: [{ size: '1KiB', title: '12000' }],
      notes: { a: '1.5', b: '0.00000015' },
    })
  })

  it('reads association as associations, and says so', () => {
    const { problems, warnings, bundle } = understandText(
      documents(mark('edge'), disk('x', '  association: [{ kind: Mark, name: edge }]\n')),
    )
    expect(problems).toEqual([])
    expect(told(warnings)).toEqual(['key.respelled Disk/x.spec.association 8:3'])
    expect(bundle.resources[0]?.associations).toEqual([{ kind: 'Mark', name: 'edge' }])
  })

  it('only warns of unknown keys when told so, and drops them', () => {
    const { problems, warnings, bundle } = understandText(
      documents(
        store('main'),
        disk('x', '  extra: 1\n  store: { name: main, more: 2 }\n  parts: [{ size: 1B, other: 3 }]\n'),
      ),
      { options: { unknownKeys: 'warn' } },
    )
    expect(problems).toEqual([])
    expect(told(warnings)).toEqual([
      'key.unknown Disk/x.spec.extra 10:3',
      'key.unknown Disk/x.spec.store.more 11:24',
      'key.unknown Disk/x.spec.parts[0].other 12:23',
    ])
    expect(bundle.resources[0]?.spec).toEqual({
      size: '1GiB',
      format: 'raw',
      store: { name: 'main' },
      parts: [{ size: '1B' }],
    })
  })

  it('misses what stands under a misspelt key when such keys are only warned of', () => {
    const { problems, warnings } = understandText('kind: Disk\nmetadata: { nmae: x }\nspec: { sise: 1GiB }\n', {
      options: { unknownKeys: 'warn' },
    })
    expect(told(problems)).toEqual([
      'name.missing resources[0].metadata.name 2:1',
      'value.missing resources[0].spec.size 3:1',
    ])
    expect(told(warnings)).toEqual([
      'key.unknown resources[0].metadata.nmae 2:13',
      'key.unknown resources[0].spec.sise 3:9',
    ])
  })
})
