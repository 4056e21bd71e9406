import { describe, expect, it } from 'vitest'
import { documents, mark, told, understandText } from './understand.fake.ts'
import { checkRows } from './understand.suite.ts'

describe('the envelope', () => {
  checkRows([
    [
      'takes a misspelt metadata as one Problem, not also as a missing name',
      'kind: Mark\nmetadta:\n  name: edge\n',
      ['key.unknown resources[0].metadta 2:1'],
      '"metadata"',
    ],
    [
      'takes a misspelt name as one Problem',
      'kind: Mark\nmetadata:\n  nmae: edge\n',
      ['key.unknown resources[0].metadata.nmae 3:3'],
      '"name"',
    ],
    [
      'takes a misspelt kind as one Problem',
      'knid: Mark\nmetadata: { name: edge }\n',
      ['key.unknown resources[0].knid 1:1'],
      '"kind"',
    ],
    [
      'takes a misspelt spec as one Problem',
      'kind: Store\nmetadata: { name: edge }\nspce: { url: u }\n',
      ['key.unknown Store/edge.spce 3:1'],
      '"spec"',
    ],
    [
      'refuses a key that means nothing',
      `${mark('edge')}extra: 1\n`,
      ['key.unknown Mark/edge.extra 3:1'],
      'Known here',
    ],
    [
      'refuses keys of prototypes, wherever they stand',
      'kind: Disk\nmetadata: { name: x, constructor: 1 }\n__proto__: { spec: 1 }\nspec:\n  size: 1GiB\n  constructor: 2\n  notes:\n    __proto__: { polluted: true }\n',
      [
        'key.unknown Disk/x.metadata.constructor 2:22',
        'key.unknown Disk/x.__proto__ 3:1',
        'key.unknown Disk/x.spec.constructor 6:3',
        'key.unknown Disk/x.spec.notes.__proto__ 8:5',
      ],
    ],
    ['refuses a scalar', 'just text\n', ['resource.not-mapping resources[0] 1:1']],
    ['refuses a list of numbers', '- 1\n', ['resource.not-mapping resources[0] 1:3']],
    ['refuses null as a resource', '[null]\n', ['resource.not-mapping resources[0] 1:2']],
    ['asks an empty mapping for its kind, and for nothing else', '{}\n', ['kind.missing resources[0].kind 1:1']],
    [
      'finds a kind in another case',
      mark('edge').replace('Mark', 'mark'),
      ['kind.unknown resources[0].kind 1:7'],
      '"Mark"',
    ],
    ['finds a misspelt kind', mark('edge').replace('Mark', 'Makr'), ['kind.unknown resources[0].kind 1:7'], '"Mark"'],
    [
      'says how secrets are given',
      mark('edge').replace('Mark', 'Secret'),
      ['kind.unknown resources[0].kind 1:7'],
      'supplied at apply',
    ],
    [
      'says which apiVersion a kind of InfluxDB has',
      mark('edge').replace('Mark', 'Bucket'),
      ['kind.unknown resources[0].kind 1:7'],
      'influxdata.com/v2alpha1',
    ],
    [
      'says which apiVersion another kind has',
      'kind: Foreign\nmetadata: { name: far }\n',
      ['kind.unknown resources[0].kind 1:7'],
      'foreign.example/v1',
    ],
    [
      'refuses an unknown version',
      `apiVersion: cairn.dev/v9\n${mark('edge')}`,
      ['api-version.unknown resources[0].apiVersion 1:13'],
      'cairn.dev/v1',
    ],
    [
      'tells an unknown default version once',
      documents(mark('a1'), mark('b1')),
      ['api-version.unknown defaultApiVersion'],
      'cairn.dev/v1',
      { defaultApiVersion: 'cairn.dev/v9' },
    ],
    ['refuses a kind that is a list', 'kind: [Mark]\nmetadata: { name: edge }\n', ['value.type resources[0].kind 1:7']],
    ['refuses metadata that is text', 'kind: Mark\nmetadata: edge\n', ['value.type resources[0].metadata 2:11']],
    [
      'refuses a spec that is a list',
      'kind: Mark\nmetadata: { name: edge }\nspec: [1]\n',
      ['value.type Mark/edge.spec 3:7'],
    ],
  ])

  it('knows a document by the default version of the request', () => {
    const { problems, bundle } = understandText('kind: Foreign\nmetadata: { name: far }\n', {
      defaultApiVersion: 'foreign.example/v1',
    })
    expect(problems).toEqual([])
    expect(bundle.resources.map(({ apiVersion }) => apiVersion)).toEqual(['foreign.example/v1'])
  })

  it('drops a status and says so, so that an answer of the API can be applied', () => {
    const { problems, warnings, summary } = understandText(`${mark('edge')}status: { phase: ready }\n`)
    expect(problems).toEqual([])
    expect(told(warnings)).toEqual(['status.dropped Mark/edge.status 3:1'])
    expect(summary.resources).toHaveLength(1)
  })

  it('leaves Object.prototype alone', () => {
    understandText('__proto__: { polluted: true }\nkind: Mark\nmetadata: { name: x1, __proto__: { polluted: true } }\n')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})
