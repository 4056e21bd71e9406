import { describe, expect, it } from 'vitest'
import { kinds } from '../../resources/kinds/all.ts'
import { defaultLimits } from '../model/source.ts'
import { readDocuments } from '../read/documents.ts'
import { testKinds } from './kinds.fake.ts'
import { disk, documents, mark, store, told, understandText } from './understand.fake.ts'
import { understand } from './understand.ts'

describe('the bundle', () => {
  it('is empty only when nothing was there', () => {
    expect(told(understandText('').problems)).toEqual(['bundle.empty'])
    expect(understandText('', { options: { allowEmpty: true } }).problems).toEqual([])
    expect(told(understandText('a: "open\n').problems)).not.toContain('bundle.empty')
  })

  it('tells twelve different faults in three files as exactly twelve Problems, in order', () => {
    const understood = understandText({
      'one.yaml': documents(
        mark('Edge'), // 1
        'kind: Lable\nmetadata: { name: x }\n', // 2
        disk('a', '  store: { name: mian }\n  extra: 1\n'), // 3, 4
      ),
      'two.yaml': documents(
        store('main', '  password: clear\n  retries: 99\n'), // 5, 6
        store('main'), // 7
        'kind: Disk\nmetadata: { name: b }\nspec: { sise: 1GiB }\n', // 8
        'just text\n', // 9
      ),
      'three.json': JSON.stringify([
        { kind: 'Disk', metadata: { name: 'c' }, spec: { size: '1GiB', basedOn: { name: 'c' } } }, // 10
        { kind: 'Group', metadata: { name: 'g' }, spec: { tags: 'x' } }, // 11
        { apiVersion: 'cairn.dev/v9', kind: 'Mark', metadata: { name: 'm1' } }, // 12
      ]),
    })
    expect(told(understood.problems)).toEqual([
      'name.invalid resources[0].metadata.name one.yaml:2:19',
      'kind.unknown resources[1].kind one.yaml:4:7',
      'reference.missing Disk/a.spec.store one.yaml:11:10',
      'key.unknown Disk/a.spec.extra one.yaml:12:3',
      'secret.inline Store/main.spec.password two.yaml:5:13',
      'value.range Store/main.spec.retries two.yaml:6:12',
      'name.duplicate Store/main.metadata.name two.yaml:9:19',
      'key.unknown Disk/b.spec.sise two.yaml:15:9',
      'resource.not-mapping resources[6] two.yaml:17:1',
      'reference.cycle Disk/c.spec.basedOn three.json:1:73',
      'value.type Group/g.spec.tags three.json:1:143',
      'api-version.unknown resources[9].apiVersion three.json:1:163',
    ])
    expect(understood.warnings).toEqual([])
    expect([...understood.invalid].sort()).toEqual([
      'Disk/a',
      'Disk/b',
      'Group/g',
      'Mark/Edge',
      'Mark/m1',
      'Store/main',
    ])
  })

  it('still has a summary of what could be understood', () => {
    const { problems, summary, bundle, invalid, isComplete } = understandText(
      documents(
        mark('edge'),
        disk('bad', '  format: zip\n'),
        disk('good', '  associations: [{ kind: Mark, name: edge }]\n'),
      ),
    )
    expect(problems).toHaveLength(1)
    expect(bundle.resources.map(({ name }) => name)).toEqual(['good', 'edge'])
    expect([...invalid]).toEqual(['Disk/bad'])
    expect(isComplete).toBe(true)
    expect(summary).toEqual({
      resources: [
        {
          apiVersion: 'cairn.dev/v1',
          kind: 'Disk',
          name: 'good',
          displayName: 'good',
          spec: { size: '1GiB', format: 'raw' },
          associations: [{ kind: 'Mark', name: 'edge' }],
          envReferences: [],
        },
        {
          apiVersion: 'cairn.dev/v1',
          kind: 'Mark',
          name: 'edge',
          displayName: 'edge',
          spec: {},
          associations: [],
          envReferences: [],
        },
      ],
      associations: [{ from: { kind: 'Disk', name: 'good' }, to: { kind: 'Mark', name: 'edge' } }],
      missingEnvRefs: [],
      missingSecrets: [],
      sources: ['b.yaml'],
    })
  })

  it('is not complete while a document has no name or could not be read', () => {
    expect(understandText('kind: Mark\n').isComplete).toBe(false)
    expect(understandText(documents(mark('edge'), 'a: "open\n')).isComplete).toBe(false)
    expect(understandText(mark('{ envRef: { key: n } }')).isComplete).toBe(false)
    expect(understandText(documents(mark('edge'), mark('Edge'))).isComplete).toBe(true)
  })

  it('skips the checks of specs and references when told so, but not those of identities', () => {
    const { problems, bundle } = understandText(
      documents(disk('x', '  format: zip\n  store: { name: nowhere }\n'), disk('x')),
      { options: { skipValidation: true } },
    )
    expect(told(problems)).toEqual(['name.duplicate Disk/x.metadata.name 9:19'])
    expect(bundle.resources.map(({ spec }) => spec.format)).toEqual(['zip'])
  })

  it('orders Problems by the files as given, also those of a file that could not be read at all', () => {
    const { problems, summary } = understandText({
      'z.json': '{',
      'b.yaml': documents(disk('x', '  extra: 1\n'), 'a: "open\n'),
      'a.yaml': mark('Edge'),
      'empty.yaml': '',
    })
    expect(problems.map(({ code, source }) => `${code} ${source?.file}`)).toEqual([
      'json.syntax z.json',
      'key.unknown b.yaml',
      'yaml.syntax b.yaml',
      'name.invalid a.yaml',
    ])
    expect(summary.sources).toEqual(['a.yaml', 'b.yaml', 'empty.yaml', 'z.json'])
  })

  it('cuts a long list of Problems and says how many more there are', () => {
    const text = documents(
      ...Array.from({ length: 30 }, (_, index) => disk(`d${index}`, '  extra: 1\n  format: zip\n')),
    )
    const { problems } = understandText(text, { limits: { problems: 10 } })
    expect(problems).toHaveLength(11)
    expect(problems.at(-1)).toMatchObject({ code: 'limit.problems', reason: 'and 50 more' })
    expect(told(problems).slice(0, 2)).toEqual([
      'key.unknown Disk/d0.spec.extra 5:3',
      'value.not-allowed Disk/d0.spec.format 6:11',
    ])
  })

  it.each(kinds.map(kind => [kind.kind, kind.example]))('understands the example of %s', (_kind, content) => {
    const { problems, bundle } = understand(readDocuments([{ name: 'b.yaml', content }], defaultLimits), {
      kinds,
      env: {},
      options: {},
      limits: defaultLimits,
    })
    expect(problems.filter(({ code }) => code !== 'reference.missing')).toEqual([])
    expect(bundle.resources).toHaveLength(1)
  })

  it('puts the platform before the addresses of another than Cairn', () => {
    const { problems } = understand(
      {
        documents: [
          {
            value: { kind: 'Mark', metadata: { name: 'edge' }, extra: 1 },
            index: 0,
            file: 'a',
            locate: () => undefined,
          },
        ],
        problems: [],
        warnings: [],
      },
      { kinds: testKinds, env: {}, options: {}, limits: defaultLimits, platformOf: new Map([['Mark', 'influx']]) },
    )
    expect(told(problems)).toEqual(['key.unknown influx:Mark/edge.extra'])
  })

  it('says nothing more about a place that reading complained about', () => {
    const { problems } = understandText(disk('x', '  format: zip\n  format: zap\n'))
    expect(problems.map(({ code }) => code)).toEqual(['key.duplicate'])
  })
})
