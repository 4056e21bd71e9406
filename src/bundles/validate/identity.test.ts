import { describe, expect, it } from 'vitest'
import { disk, documents, mark, store, told, understandText } from './understand.fake.ts'
import { checkRows } from './understand.suite.ts'

describe('names', () => {
  checkRows([
    ['needs a name', 'kind: Mark\nmetadata: {}\n', ['name.missing resources[0].metadata.name 2:1']],
    ['needs metadata', 'kind: Mark\n', ['name.missing resources[0].metadata.name 1:1']],
    ['offers a name in lower case', mark('Foo'), ['name.invalid resources[0].metadata.name 2:19'], 'Write foo.'],
    [
      'offers a name without a dash before it',
      mark('"-a"'),
      ['name.invalid resources[0].metadata.name 2:19'],
      'Write a.',
    ],
    ['offers a name without a dot', mark('a.b'), ['name.invalid resources[0].metadata.name 2:19'], 'Write a-b.'],
    [
      'offers a shorter name',
      mark('a'.repeat(64)),
      ['name.too-long resources[0].metadata.name 2:19'],
      `Write ${'a'.repeat(63)}.`,
    ],
    ['refuses a boolean as name', mark('true'), ['value.type resources[0].metadata.name 2:19']],
    [
      'refuses a second resource of the same name',
      documents(mark('edge'), mark('edge')),
      ['name.duplicate Mark/edge.metadata.name 5:19'],
    ],
    [
      'refuses the same name for two kinds of one family',
      documents(
        'kind: RuleA\nmetadata: { name: x }\nspec: { every: 1m, threshold: 1 }\n',
        'kind: RuleB\nmetadata: { name: x }\nspec: { every: 1m, silentFor: 5m, name: other }\n',
      ),
      ['name.duplicate RuleB/x.metadata.name 6:19'],
    ],
    [
      'refuses equal display names where they are unique, over the family',
      documents(
        'kind: RuleA\nmetadata: { name: x }\nspec: { every: 1m, threshold: 1, name: same }\n',
        'kind: RuleB\nmetadata: { name: y }\nspec: { every: 1m, silentFor: 5m, name: same }\n',
      ),
      ['display-name.duplicate RuleB/y.spec.name 7:41'],
    ],
    [
      'refuses the metadata.name of one as spec.name of another, where the other stands after it',
      documents(mark('edge'), `${mark('other')}spec: { name: edge }\n`),
      ['display-name.duplicate Mark/other.spec.name 6:15'],
    ],
    [
      'refuses the metadata.name of one as spec.name of another, where the other stands before it',
      documents(`${mark('other')}spec: { name: edge }\n`, mark('edge')),
      ['display-name.duplicate Mark/other.spec.name 3:15'],
    ],
    [
      'allows equal display names where they are not unique',
      documents(disk('a', '  name: x\n'), disk('b', '  name: x\n')),
      [],
    ],
    [
      'refuses a display name that is too short',
      `${mark('edge')}spec: { name: x }\n`,
      ['value.too-short Mark/edge.spec.name 3:15'],
    ],
    ['refuses a name that is too short to be shown', mark('x'), ['value.too-short Mark/x.spec.name 1:1'], 'spec.name'],
    [
      'refuses a display name that is too long',
      `${mark('edge')}spec: { name: ${'x'.repeat(51)} }\n`,
      ['value.too-long Mark/edge.spec.name 3:15'],
    ],
    ['takes an empty display name as none', `${mark('edge')}spec: { name: '' }\n`, []],
    [
      'refuses a display name that is a list',
      `${mark('edge')}spec: { name: [x] }\n`,
      ['value.type Mark/edge.spec.name 3:15'],
    ],
    [
      'refuses movedFrom of a name that is still there',
      documents(mark('old'), 'kind: Mark\nmetadata: { name: new, movedFrom: old }\n'),
      ['moved.conflict Mark/new.metadata.movedFrom 5:35'],
    ],
    [
      'refuses movedFrom that two resources claim',
      documents(
        'kind: Mark\nmetadata: { name: one, movedFrom: old }\n',
        'kind: Mark\nmetadata: { name: two, movedFrom: [older, old] }\n',
      ),
      ['moved.conflict Mark/two.metadata.movedFrom[1] 5:43'],
    ],
    [
      'refuses movedFrom that is no name',
      'kind: Mark\nmetadata: { name: new, movedFrom: Old }\n',
      ['name.invalid Mark/new.metadata.movedFrom 2:35'],
    ],
  ])

  it('reads the number 42 as a name', () => {
    const { bundle, problems } = understandText(mark('42'))
    expect(problems).toEqual([])
    expect(bundle.resources[0]?.name).toBe('42')
  })

  it('names both places of a repeated name, across files', () => {
    const { problems } = understandText({
      'a.yaml': mark('edge'),
      'b.json': '{"kind":"Mark","metadata":{"name":"edge"}}',
    })
    expect(told(problems)).toEqual(['name.duplicate Mark/edge.metadata.name b.json:1:35'])
    expect(problems[0]?.reason).toContain('a.yaml:2:19')
  })

  it('names both claimants of a former name', () => {
    const claim = (name: string) => `kind: Mark\nmetadata: { name: ${name}, movedFrom: old }\n`
    const { problems } = understandText(documents(claim('one'), claim('two')))
    expect(problems[0]?.reason).toContain('Mark/one')
    expect(problems[0]?.path).toContain('Mark/two')
  })

  it('warns of names that differ only in - and _', () => {
    const { problems, warnings } = understandText(documents(mark('a-b'), mark('a_b'), store('a_b')))
    expect(problems).toEqual([])
    expect(told(warnings)).toEqual(['name.confusable Mark/a_b.metadata.name 5:19'])
  })
})
