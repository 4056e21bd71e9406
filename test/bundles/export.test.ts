// Live resources as a bundle again: what comes along, what stays out, and that applying it changes nothing.
import { afterEach, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { exportBundle } from '../../src/server/contract/bundles.ts'
import { a, onEachDatabase, type Resource, refusal, told, withLabel } from './scene.ts'

interface Exported {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Record<string, unknown>
}

const read = (yaml: string): Exported[] =>
  parseAllDocuments(yaml).flatMap(document => (document.toJS() === null ? [] : [document.toJS() as Exported]))

onEachDatabase('an export', scene => {
  afterEach(() => scene.clear())

  const addresses = async (body: Parameters<typeof scene.exported>[0]) =>
    read(await scene.exported(body)).map(({ kind, metadata }) => `${kind}/${metadata.name}`)

  /** In the order and the spelling that an export has. */
  const source = `apiVersion: cairn.dev/v1
kind: Label
metadata:
  name: edge
spec:
  color: "#aabbcc"
---
apiVersion: cairn.dev/v1
kind: Datastore
metadata:
  name: store
spec:
  name: Harbour
  host: harbor.example:5000
  username: fleet
  password:
    secretRef:
      key: pw
  associations:
    - kind: Label
      name: edge
---
apiVersion: cairn.dev/v1
kind: Volume
metadata:
  name: web_data
  lifecycle:
    onRemove: retain
spec:
  datastore:
    name: store
  size:
    envRef:
      key: size
      default: 2GiB
`
  const given = { secrets: { pw: 'v3ry-s3cret' }, env: { size: '3GiB' } }

  it('of an unchanged stack is its source, byte for byte, twice, and has nothing to do when planned against it', async () => {
    await scene.apply(source, { stackName: 'source', ...given })
    const exported = await scene.exported({ stacks: ['source'] })
    expect(exported).toBe(source)
    expect(await scene.exported({ stacks: ['source'] })).toBe(exported)
    const { plan } = await scene.plan(exported, { stack: 'source', env: given.env })
    expect(told(plan)).toEqual([])
    expect(await scene.exported({ stacks: ['source'], resolve: true })).toContain('size: 3GiB')
  })

  it('as JSON holds the same', async () => {
    await scene.apply(source, { stackName: 'source', ...given })
    const json = await scene.server.client.call(exportBundle, { body: { stacks: ['source'] } })
    expect(json).toEqual(read(source))
  })

  it('is applied again after a hand has edited it', async () => {
    await scene.apply(source, { stackName: 'source', ...given })
    const edited = (await scene.exported({ stacks: ['source'] })).replace('#aabbcc', '#ccbbaa')
    const { plan } = await scene.apply(edited, { stack: 'source', env: given.env })
    expect(told(plan)).toEqual(['update Label/edge spec.color'])
    expect(await scene.exported({ stacks: ['source'] })).toBe(edited)
  })

  it('has the associations that are live, and leaves out what is gone', async () => {
    await scene.apply(source, { stackName: 'source', ...given })
    await scene.change('Datastore', 'Harbour', { associations: [] })
    expect(await scene.exported({ stacks: ['source'] })).not.toContain('associations')
    await scene.remove('Volume', 'web_data')
    const answer = await scene.server.fetch('/api/v1/bundles/export', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/yaml' },
      body: JSON.stringify({ stacks: ['source'] }),
    })
    expect(answer.headers.get('x-cairn-warnings')).toContain('Volume/web_data')
    expect(read(await answer.text()).map(({ kind }) => kind)).toEqual(['Datastore', 'Label'])
  })

  it('selects by kind, label, name and id, alone and together; shared Labels come along once', async () => {
    const bundle: Resource[] = [
      a('Label', 'red'),
      a('Label', 'blue'),
      a('Variable', 'one', { value: 1, ...withLabel('red') }),
      a('Variable', 'two', { value: 2, ...withLabel('red', 'blue') }),
      a('Volume', 'three', withLabel('blue')),
      a('Volume', 'four', { name: 'three' }),
    ]
    await scene.apply(bundle, { stackName: 'colours' })
    const all = ['Label/blue', 'Label/red', 'Variable/one', 'Variable/two', 'Volume/four', 'Volume/three']
    expect((await addresses({ all: true })).sort()).toEqual(all)
    expect(await addresses({ all: true, filters: { kinds: ['Variable'] } })).toEqual([
      'Label/blue',
      'Label/red',
      'Variable/one',
      'Variable/two',
    ])
    expect(await addresses({ all: true, filters: { labels: ['blue'] } })).toEqual([
      'Label/blue',
      'Label/red',
      'Variable/two',
      'Volume/three',
    ])
    expect(await addresses({ all: true, filters: { labels: ['blue'], kinds: ['Volume'] } })).toEqual([
      'Label/blue',
      'Volume/three',
    ])
    expect(await addresses({ all: true, filters: { displayNames: ['one'] } })).toEqual(['Label/red', 'Variable/one'])
    expect(await addresses({ all: true, filters: { kinds: ['Machine'] } })).toEqual([])
    // A name that fits several exports all of them.
    expect(await addresses({ resources: [{ kind: 'Volume', name: 'three' }] })).toEqual([
      'Label/blue',
      'Volume/four',
      'Volume/three',
    ])
    const { id } = (await scene.live('Variable', 'one')).metadata
    const [, as] = read(await scene.exported({ resources: [{ kind: 'Variable', id, as: 'uno' }] }))
    expect(as).toMatchObject({ metadata: { name: 'one' }, spec: { name: 'uno', value: 1 } })
    const missing = [
      { kind: 'Variable', id: 'nowhere' },
      { kind: 'Volume', id: 'neither' },
    ]
    const { status, problems } = await refusal(scene.exported({ resources: missing }))
    expect({ status, count: problems.length }).toEqual({ status: 422, count: 2 })
  })

  it('names what no stack has from its display name, the same each time, and brings along what it refers to', async () => {
    await scene.make('Datastore', { name: 'Harbour Master' })
    await scene.make('Volume', { name: 'data', datastore: { external: 'Harbour Master' } })
    const body = { resources: [{ kind: 'Volume', name: 'data' }] }
    const first = await scene.exported(body)
    expect(first).toBe(await scene.exported(body))
    const [store, volume] = read(first)
    expect(store?.metadata.name).toMatch(/^harbour-master-[0-9a-f]{6}$/)
    expect(volume?.spec.datastore).toEqual({ name: store?.metadata.name })
    const [alone] = read(await scene.exported({ ...body, noDependencies: true }))
    expect(alone?.spec.datastore).toEqual({ external: 'Harbour Master' })
  })
})

const count = 10_001

onEachDatabase(
  'a large export',
  scene => {
    it(`pages to the end: ${count} resources, none missing, none twice`, async () => {
      const labels = Array.from({ length: count }, (_, n) => a('Label', `label-${n}`))
      await scene.apply(labels, { stackName: 'large' })
      const names = read(await scene.exported({ stacks: ['large'] })).map(({ metadata }) => metadata.name)
      expect(new Set(names).size).toBe(count)
      expect(names).toHaveLength(count)
      for (const limit of [101, 500]) expect(await paged(limit)).toBe(count)
    })

    async function paged(limit: number): Promise<number> {
      const seen = new Set<string>()
      let path: string | undefined = `?limit=${limit}`
      while (path !== undefined) {
        const answer = await scene.server.fetch(`/api/v1/resources/Label${path}`)
        const { resources, next } = (await answer.json()) as {
          resources: { metadata: { id: string } }[]
          next?: string
        }
        for (const { metadata } of resources) seen.add(metadata.id)
        path = next === undefined ? undefined : `?limit=${limit}&cursor=${encodeURIComponent(next)}`
      }
      return seen.size
    }
  },
  { flags: ['--limit', 'resources=20000', '--limit', 'requestBytes=40000000', '--limit', 'fileBytes=40000000'] },
)
