import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { Secret } from '../../lib/redact.ts'
import { type MemoryPorts, memoryPorts } from '../apply/ports.fake.ts'
import { allLive, aRequest, type Doc, doc, editOutside, marked, writeOutside } from '../apply/request.fake.ts'
import { docsOf, wish } from '../apply/wish.fake.ts'
import { createEngine, type Engine, type ExportRequest } from '../engine.ts'
import { defaultLimits } from '../model/source.ts'
import { readDocuments } from '../read/documents.ts'
import { testKinds } from '../validate/kinds.fake.ts'
import { understand } from '../validate/understand.ts'
import { exportedJson, exportedYaml } from './text.ts'

const everything = { stacks: [], resources: [], filters: {} } satisfies ExportRequest

/** What a text means, whatever its order and spelling. */
function meaning(name: string, content: string): string {
  const documents = readDocuments([{ name, content }], defaultLimits)
  const { bundle, problems } = understand(documents, { kinds: testKinds, env: {}, options: {}, limits: defaultLimits })
  expect(problems).toEqual([])
  return bundle.hash
}

const meaningOf = (docs: readonly Doc[]): string => meaning('bundle.json', JSON.stringify(docs))

describe('an export', () => {
  let ports: MemoryPorts
  let engine: Engine
  beforeEach(() => {
    ports = memoryPorts()
    engine = createEngine(ports)
  })

  const apply = (docs: readonly Doc[], given: Partial<Parameters<typeof aRequest>[0]> = {}) =>
    engine.apply(aRequest({ docs, stackName: 'web', ...given }))
  const exported = async (request: Partial<ExportRequest> = {}) => engine.export({ ...everything, ...request })
  const addresses = async (request: Partial<ExportRequest>) =>
    (await exported(request)).resources.map(({ kind, metadata }) => `${kind}/${metadata.name}`)

  const shop = [
    doc('Mark/edge', { name: 'Edge', color: 'red' }),
    doc('Mark/home'),
    doc('Store/main', { url: 'https://example.org', password: { secretRef: { key: 'pw' } }, ...marked('edge') }),
    doc('Disk/data', { size: '10GiB', store: { name: 'main' }, ...marked('edge', 'home') }),
    doc('Disk/scratch', { size: '1GiB' }),
  ]
  const withSecret = { secrets: { pw: new Secret('hush') } }

  it('gives an unchanged stack back as it was written, without defaults, ids and secrets', async () => {
    const { stackId } = await apply(shop, withSecret)
    const { resources, problems, warnings } = await exported({ stacks: [stackId!] })
    expect([problems, warnings]).toEqual([[], []])
    expect(meaning('x.yaml', exportedYaml(resources))).toBe(meaningOf(shop))
    expect(meaning('x.json', exportedJson(resources))).toBe(meaningOf(shop))
    expect(resources.find(({ kind }) => kind === 'Store')).toEqual({
      apiVersion: 'cairn.dev/v1',
      kind: 'Store',
      metadata: { name: 'main' },
      spec: {
        url: 'https://example.org',
        password: { secretRef: { key: 'pw' } },
        associations: [{ kind: 'Mark', name: 'edge' }],
      },
    })
  })

  it('has what is needed before what needs it, then kinds and names in order, and the same bytes each time', async () => {
    await apply(shop, withSecret)
    const order = ['Disk/scratch', 'Mark/edge', 'Mark/home', 'Store/main', 'Disk/data']
    expect(await addresses({ all: true })).toEqual(order)
    expect(exportedYaml((await exported()).resources)).toBe(exportedYaml((await exported()).resources))
  })

  it.each<[string, Partial<ExportRequest>, string[]]>([
    ['of a kind brings what it needs', { filters: { kinds: ['Store'] } }, ['Mark/edge', 'Store/main']],
    ['of a kind without what it needs', { filters: { kinds: ['Store'] }, noDependencies: true }, ['Store/main']],
    ['by label', { filters: { labels: ['home'] } }, ['Mark/edge', 'Mark/home', 'Store/main', 'Disk/data']],
    ['by label and kind', { filters: { labels: ['Edge'], kinds: ['Store'] } }, ['Mark/edge', 'Store/main']],
    ['by name', { filters: { displayNames: ['scratch', 'Edge'] } }, ['Disk/scratch', 'Mark/edge']],
    ['of a stack, narrowed', { stacks: ['web'], filters: { kinds: ['Mark'] } }, ['Mark/edge', 'Mark/home']],
    [
      'of a stack, narrowed by label',
      { stacks: ['web'], filters: { labels: ['Edge'], kinds: ['Store'] } },
      ['Mark/edge', 'Store/main'],
    ],
    [
      'of one and of another that it shares a label with',
      {
        resources: [
          { kind: 'Store', name: 'main' },
          { kind: 'Mark', name: 'Edge' },
        ],
      },
      ['Mark/edge', 'Store/main'],
    ],
    ['of nothing that is there', { filters: { kinds: ['Group'] } }, []],
  ])('selects %s', async (_, request, expected) => {
    await apply(shop, withSecret)
    expect(await addresses(request)).toEqual(expected)
  })

  it('names as external what does not come along', async () => {
    await apply(shop, withSecret)
    const { resources } = await exported({ filters: { displayNames: ['data'] }, noDependencies: true })
    expect(resources[0]?.spec).toEqual({
      size: '10GiB',
      store: { external: 'main' },
      associations: [
        { kind: 'Mark', external: 'Edge' },
        { kind: 'Mark', external: 'home' },
      ],
    })
  })

  it('gathers everything that was asked for and is not there', async () => {
    const wishes = [
      { kind: 'Store', name: 'none' },
      { kind: 'Disk', id: 'nope' },
    ]
    const { resources, problems } = await exported({ resources: wishes })
    expect(resources).toEqual([])
    expect(problems.map(({ code, path }) => [code, path])).toEqual([
      ['resource.unknown', 'resources[0]'],
      ['resource.unknown', 'resources[1]'],
    ])
  })

  it('exports all that a name fits, and under another display name when told', async () => {
    await apply([doc('Disk/a', { name: 'twin', size: '1GiB' }), doc('Disk/b', { name: 'twin', size: '2GiB' })])
    expect(await addresses({ resources: [{ kind: 'Disk', name: 'twin' }] })).toEqual(['Disk/a', 'Disk/b'])
    const [one] = await allLive(ports)
    const { resources } = await exported({ resources: [{ kind: 'Disk', id: one!.id, as: 'other' }] })
    expect(resources[0]?.spec.name).toBe('other')
  })

  it('makes the same unique name each time for what no stack owns', async () => {
    const whole = { apiVersion: 'cairn.dev/v1', kind: 'Mark', spec: {}, refersTo: [] }
    await writeOutside(
      ports,
      { do: 'create', ...whole, id: 'one', displayName: 'Größe & Co.' },
      { do: 'create', ...whole, id: 'two', displayName: '日本' },
    )
    const names = (await exported()).resources.map(({ metadata }) => metadata.name)
    expect(names).toEqual([
      expect.stringMatching(/^gro-e-co-[0-9a-f]{6}$/),
      expect.stringMatching(/^mark-[0-9a-f]{6}$/),
    ])
    expect((await exported()).resources.map(({ metadata }) => metadata.name)).toEqual(names)
    expect(meaning('x.yaml', exportedYaml((await exported()).resources))).toMatch(/./)
  })

  it('leaves out what the stack has lost, and says so', async () => {
    await apply(shop, withSecret)
    const scratch = (await allLive(ports)).find(({ displayName }) => displayName === 'scratch')!
    await writeOutside(ports, { do: 'remove', kind: 'Disk', id: scratch.id })
    const { resources, warnings } = await exported({ stacks: ['web'] })
    expect(resources).toHaveLength(shop.length - 1)
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([['export.gone', 'Disk/scratch']])
  })

  it('puts env refs back where live is still what they gave, and values elsewhere or when told', async () => {
    const ref = (key: string, fallback: string) => ({ envRef: { key, default: fallback } })
    await apply([
      doc('Disk/data', { name: ref('title', 'Data'), size: ref('size', '1024MiB'), notes: { a: ref('note', 'x') } }),
    ])
    const [live] = await allLive(ports)
    const spec = async (request: Partial<ExportRequest> = {}) =>
      (await exported({ stacks: ['web'], ...request })).resources[0]?.spec
    expect(await spec()).toEqual({
      name: ref('title', 'Data'),
      size: ref('size', '1024MiB'),
      notes: { a: ref('note', 'x') },
    })
    await editOutside(ports, live!, { spec: { ...live!.spec, size: '5GiB' } })
    expect(await spec()).toEqual({ name: ref('title', 'Data'), size: '5GiB', notes: { a: ref('note', 'x') } })
    expect(await spec({ resolve: true })).toEqual({ name: 'Data', size: '5GiB', notes: { a: 'x' } })
  })

  it('puts an env ref back in a reference and in a list, and never in the place of another member of a set', async () => {
    const ref = (key: string, fallback: string) => ({ envRef: { key, default: fallback } })
    await apply([
      doc('Store/main', { url: 'https://example.org' }),
      doc('Disk/data', {
        size: '1GiB',
        store: { name: ref('store', 'main') },
        parts: [{ size: ref('part', '1024MiB') }],
      }),
      doc('Group/first', { tags: ['zeta', ref('tag', 'alpha')] }),
      doc('Group/last', { tags: ['alpha', ref('tag', 'zeta')] }),
    ])
    const { resources } = await exported({ stacks: ['web'] })
    const specOf = (name: string) => resources.find(({ metadata }) => metadata.name === name)?.spec
    expect(specOf('data')).toMatchObject({
      store: { name: ref('store', 'main') },
      parts: [{ size: ref('part', '1024MiB') }],
    })
    expect(specOf('first')).toEqual({ tags: ['alpha', 'zeta'] })
    expect(specOf('last')).toEqual({ tags: ['alpha', ref('tag', 'zeta')] })
    const again = await engine.apply(aRequest({ docs: resources as readonly Doc[], stack: 'web' }))
    expect(again.plan.actions.map(({ action }) => action)).toEqual(['none', 'none', 'none', 'none'])
  })

  it('names what no stack has after its display name, without marks on its letters', async () => {
    await writeOutside(ports, {
      do: 'create',
      kind: 'Mark',
      id: 'm1',
      apiVersion: 'cairn.dev/v1',
      displayName: 'Zürich, Café',
      spec: {},
      refersTo: [],
    })
    expect(await addresses({ all: true })).toEqual([expect.stringMatching(/^Mark\/zurich-cafe-[0-9a-f]{6}$/)])
  })

  it('keeps the lifecycle that was declared', async () => {
    await apply([doc('Mark/edge', {}, { lifecycle: { onRemove: 'protect' } })])
    expect((await exported()).resources[0]?.metadata).toEqual({ name: 'edge', lifecycle: { onRemove: 'protect' } })
  })

  it('writes strict names without underscores, and reports those that become equal', async () => {
    await apply([doc('Mark/a_b'), doc('Mark/c_d')])
    expect(await addresses({ strictNames: true })).toEqual(['Mark/a-b', 'Mark/c-d'])
    await apply([doc('Mark/a-b', { name: 'other' })], { stackName: 'more' })
    expect((await exported({ strictNames: true })).problems.map(({ code }) => code)).toEqual(['name.duplicate'])
  })

  it('says which reference leads nowhere', async () => {
    await apply(shop, withSecret)
    const main = (await allLive(ports)).find(({ displayName }) => displayName === 'main')!
    await writeOutside(ports, { do: 'remove', kind: 'Store', id: main.id })
    const { warnings } = await exported({ filters: { kinds: ['Disk'] } })
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([['export.dangling', 'Disk/data']])
  })

  it('of whatever was applied means the same, and applying it changes nothing', async () => {
    const parameters = {
      numRuns: Number(process.env.CAIRN_RUNS ?? 25),
      ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
    }
    await fc.assert(
      fc.asyncProperty(wish, async wanted => {
        const world = createEngine(memoryPorts())
        const docs = docsOf(wanted)
        const usesSecret = wanted.stores.some(({ secret }) => secret)
        const request = aRequest({ docs, stackName: 'web', ...(usesSecret && { secrets: { k: new Secret('hush') } }) })
        const { stackId } = await world.apply(request)
        const { resources } = await world.export({ ...everything, stacks: [stackId!] })
        expect(meaning('x.yaml', exportedYaml(resources))).toBe(meaningOf(docs))
        const again = await world.apply(aRequest({ docs: resources as readonly Doc[], stack: stackId! }))
        expect(again.outcome).toEqual({ did: 'nothing' })
      }),
      parameters,
    )
  })
})
