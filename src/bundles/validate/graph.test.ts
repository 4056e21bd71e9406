import { describe, expect, it } from 'vitest'
import { disk, documents, mark, store, told, understandText } from './understand.fake.ts'
import { checkRows } from './understand.suite.ts'

describe('references', () => {
  const associated = (list: string) => disk('x', `  associations: ${list}\n`)
  checkRows([
    [
      'misses the target of an association, and offers the nearest',
      documents(mark('edge'), associated('[{ kind: Mark, name: egde }]')),
      ['reference.missing Disk/x.spec.associations[0] 8:18'],
      '"edge"',
    ],
    [
      'tells each association on its own',
      documents(
        mark('edge'),
        associated(
          '[{ kind: Mark, name: edge }, { kind: Mark, name: edge }, { kind: Store, name: x }, { kind: Mark, name: zzz }]',
        ),
      ),
      [
        'reference.duplicate Disk/x.spec.associations[1] 8:46',
        'reference.kind Disk/x.spec.associations[2] 8:74',
        'reference.missing Disk/x.spec.associations[3] 8:100',
      ],
    ],
    [
      'refuses any association of a kind that has none',
      documents(mark('edge'), `${mark('other')}spec: { associations: [{ kind: Mark, name: edge }] }\n`),
      ['reference.kind Mark/other.spec.associations[0] 6:24'],
    ],
    [
      'refuses associations that are no list',
      associated('{ kind: Mark, name: edge }'),
      ['value.type Disk/x.spec.associations 5:17'],
    ],
    [
      'refuses an association that is text',
      associated('[edge]'),
      ['value.type Disk/x.spec.associations[0] 5:18'],
      '{ kind: Mark, name: edge }',
    ],
    [
      'refuses an association without kind',
      associated('[{ name: edge }]'),
      ['value.missing Disk/x.spec.associations[0].kind 5:18'],
    ],
    [
      'refuses an association without name',
      associated('[{ kind: Mark }]'),
      ['value.missing Disk/x.spec.associations[0].name 5:18'],
    ],
    [
      'refuses an association by name and external',
      associated('[{ kind: Mark, name: a, external: b }]'),
      ['value.invalid Disk/x.spec.associations[0] 5:18'],
    ],
    [
      'tells a misspelt key of an association once',
      associated('[{ kind: Mark, nmae: edge }]'),
      ['key.unknown Disk/x.spec.associations[0].nmae 5:32'],
      '"name"',
    ],
    ['leaves a live target to the planner', associated('[{ kind: Mark, external: Some mark }]'), []],
    [
      'refuses too many associations',
      associated('[{ kind: Mark, name: a }, { kind: Mark, name: b }]'),
      ['limit.associations Disk/x.spec.associations 5:17'],
      undefined,
      { limits: { associations: 1 } },
    ],
    [
      'misses the target of a reference',
      disk('x', '  store: { name: main }\n'),
      ['reference.missing Disk/x.spec.store 5:10'],
      'external',
    ],
    [
      'refuses a reference to another kind',
      documents(disk('main'), disk('x', '  store: { name: main }\n')),
      ['reference.kind Disk/x.spec.store 10:10'],
    ],
    [
      'refuses a reference that says another kind',
      documents(disk('main'), disk('x', '  store: { kind: Disk, name: main }\n')),
      ['reference.kind Disk/x.spec.store 10:10'],
    ],
    [
      'refuses a reference that is text',
      documents(store('main'), disk('x', '  store: main\n')),
      ['value.type Disk/x.spec.store 10:10'],
      '{ name: main }',
    ],
    [
      'refuses a reference by id',
      disk('x', '  store: { id: "123" }\n'),
      ['value.invalid Disk/x.spec.store 5:10'],
      'external',
    ],
    [
      'tells a misspelt key of a reference once',
      documents(store('main'), disk('x', '  store: { nmae: main }\n')),
      ['key.unknown Disk/x.spec.store.nmae 10:12'],
      '"name"',
    ],
    [
      'asks for the kind where several fit',
      documents(store('both'), disk('both'), disk('x', '  origin: { name: both }\n')),
      ['reference.kind Disk/x.spec.origin 15:11'],
      'kind: Store',
    ],
    [
      'asks for the kind of a live one where several could be meant',
      disk('x', '  origin: { external: both }\n'),
      ['reference.kind Disk/x.spec.origin 5:11'],
    ],
    [
      'refuses a resource that refers to itself',
      disk('x', '  basedOn: { name: x }\n'),
      ['reference.cycle Disk/x.spec.basedOn 5:12'],
    ],
    [
      'leaves what is named by display name to the planner',
      'kind: Group\nmetadata: { name: g }\nspec: { stores: { Nowhere: {} } }\n',
      [],
    ],
  ])

  it('spells out a circle, once', () => {
    const { problems, bundle } = understandText(
      documents(
        disk('c', '  basedOn: { name: a }\n'),
        disk('a', '  basedOn: { name: b }\n'),
        disk('b', '  basedOn: { name: c }\n'),
        disk('d', '  basedOn: { name: a }\n'),
      ),
    )
    expect(told(problems)).toEqual(['reference.cycle Disk/a.spec.basedOn 11:12'])
    expect(problems[0]?.reason).toContain('Disk/a -> Disk/b -> Disk/c -> Disk/a')
    expect(bundle.resources).toHaveLength(4)
  })

  it('resolves references to kind and name, and display names where the bundle has them', () => {
    const { bundle, problems } = understandText(
      documents(
        store('main', '  name: Main store\n'),
        disk('x', '  store: { name: main }\n  origin: { name: main }\n  basedOn: { external: Golden }\n'),
        'kind: Group\nmetadata: { name: g }\nspec: { stores: { Main store: {}, Other: {} } }\n',
      ),
    )
    expect(problems).toEqual([])
    const [xDisk, group] = bundle.resources
    const marked = { byDisplayName: false, optional: false }
    expect(xDisk?.references).toEqual([
      { path: 'spec.store', target: { kind: 'Store', name: 'main' }, ...marked },
      { path: 'spec.basedOn', target: { kind: 'Disk', external: 'Golden' }, ...marked },
      { path: 'spec.origin', target: { kind: 'Store', name: 'main' }, ...marked },
    ])
    expect(group?.references).toEqual([
      {
        path: 'spec.stores["Main store"]',
        target: { kind: 'Store', name: 'main' },
        byDisplayName: true,
        optional: false,
      },
      { path: 'spec.stores.Other', target: { kind: 'Store', external: 'Other' }, byDisplayName: true, optional: false },
    ])
  })

  it.each([
    ['has a wrong field', store('main', '  retries: 99\n'), 'value.range'],
    ['has a misspelt kind', store('main').replace('Store', 'Stor'), 'kind.unknown'],
    ['has an unknown kind', store('main').replace('Store', 'Whatever'), 'kind.unknown'],
    ['has a misspelt metadata', store('main').replace('metadata', 'metadta'), 'key.unknown'],
    ['has no name', store('main').replace('name: main', ''), 'name.missing'],
    ['could not be read', `${store('main')}  user: "open\n`, 'yaml.syntax'],
    ['is there twice', documents(store('main'), store('main')), 'name.duplicate'],
  ])('does not miss a target that %s', (_what, target, code) => {
    const { problems } = understandText({
      'disks.yaml': disk('x', '  store: { name: main }\n'),
      'stores.yaml': target,
    })
    expect(problems.map(problem => problem.code)).toEqual([code])
  })

  it('misses a target that is nearly the name of another, though a document could not be read', () => {
    const { problems } = understandText({
      'disks.yaml': disk('x', '  store: { name: mian }\n'),
      'stores.yaml': documents(store('main'), 'a: "open\n'),
    })
    expect(problems.map(({ code }) => code)).toEqual(['reference.missing', 'yaml.syntax'])
  })
})
