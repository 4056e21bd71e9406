import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type * as z from 'zod'
import { canonicalSpec, specSchemaOf, withoutDefaults } from '../canonical.ts'
import { describeFields } from '../describe-fields.ts'
import { markedFields } from '../fields.ts'
import type { Kind, Spec } from '../kind.ts'
import { metadataSchema } from '../metadata.ts'
import { schemaProblems } from '../schema-problems.ts'
import { kinds } from './all.ts'

const kindOf = (name: string): Kind => kinds.find(({ kind }) => kind === name)!
const exampleOf = (kind: Kind) => parse(kind.example) as { [key: string]: unknown; spec: Spec }

/** Code and path of everything that is wrong, by schema and rules. */
function faults(name: string, spec: unknown): string[] {
  const kind = kindOf(name)
  const { error } = specSchemaOf(kind).safeParse(spec, { reportInput: true })
  if (error) return schemaProblems(specSchemaOf(kind), error).map(({ code, path }) => `${code} ${path}`)
  return kind.rules(spec as Spec).map(({ code, path }) => `${code} ${path.join('.')}`)
}

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  )
}

describe.each(kinds.map(kind => [kind.kind, kind] as const))('%s', (name, kind) => {
  const example = exampleOf(kind)

  it('has an example that is valid', () => {
    expect(Object.keys(example)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
    expect(example).toMatchObject({ apiVersion: kind.apiVersion, kind: name })
    expect(metadataSchema.safeParse(example.metadata).error).toBeUndefined()
    expect(faults(name, example.spec)).toEqual([])
  })

  it('has one canonical form of it, whatever the order of keys', () => {
    const once = canonicalSpec(kind, example.spec)
    const text = JSON.stringify(once)
    expect(JSON.stringify(canonicalSpec(kind, once))).toBe(text)
    expect(JSON.stringify(canonicalSpec(kind, reversed(example.spec) as Spec))).toBe(text)
    expect(faults(name, once)).toEqual([])
  })

  it('gets it back after leaving the defaults out', () => {
    const short = withoutDefaults(kind, example.spec)
    expect(faults(name, short)).toEqual([])
    expect(canonicalSpec(kind, short)).toEqual(canonicalSpec(kind, example.spec))
  })

  it('says about each field what it is for', () => {
    const fields = [...describeFields(kind.spec), ...(kind.status ? describeFields(kind.status) : [])]
    expect(fields.filter(({ about }) => !/^[A-Z`…].*\.$/.test(about))).toEqual([])
    expect(kind.summary).toMatch(/^[a-z].*[^.]$/)
  })

  it('prints columns of a resource with nothing in it', () => {
    for (const { value } of kind.columns) expect(value({ spec: {}, status: null })).toEqual(expect.any(String))
  })

  it('refuses unknown keys and those of prototypes', () => {
    for (const key of ['stray', '__proto__', 'constructor']) {
      const spec = { ...example.spec }
      Object.defineProperty(spec, key, { value: {}, enumerable: true })
      expect(faults(name, spec)).toEqual([`key.unknown ${key}`])
    }
  })

  it('marks only references to kinds that there are', () => {
    const marks = [...markedFields(specSchemaOf(kind), canonicalSpec(kind, example.spec))]
    for (const { mark } of marks)
      for (const target of mark.reference ?? []) expect(kinds.map(one => one.kind)).toContain(target)
    expect(kind.associations.every(target => kinds.some(one => one.kind === target))).toBe(true)
  })

  it('has a status that is refused when something is missing', () => {
    if (kind.status) expect(kind.status.safeParse({}).success).toBe(false)
  })
})

const references = (name: string, spec: Spec) =>
  [...markedFields(specSchemaOf(kindOf(name)), spec)].flatMap(({ path, mark }) =>
    mark.reference || mark.secret ? [`${path.join('.')}: ${mark.reference?.join('|') ?? mark.secret}`] : [],
  )

describe('what kinds refer to', () => {
  it.each<[string, Spec, string[]]>([
    ['Datastore', { password: { secretRef: { key: 'k' } } }, ['password: value']],
    [
      'Volume',
      { datastore: { name: 'd' }, trustRoots: [{ name: 't' }], machine: { id: 'm' } },
      ['datastore: Datastore', 'trustRoots.0: TrustRoot', 'machine: Machine'],
    ],
    [
      'CachedImage',
      { imagePullSecrets: [{ name: 'k' }], policyRef: { external: 'p' } },
      ['imagePullSecrets.0: named', 'policyRef: PullPolicy'],
    ],
    ['CachedImageSet', { discoveryPolicyRef: { name: 'd' } }, ['discoveryPolicyRef: DiscoveryPolicy']],
    ['DiscoveryPolicy', { sources: [{ secretRef: { name: 'k' } }] }, ['sources.0.secretRef: named']],
    [
      'RolloutPolicy',
      { pullPolicy: { name: 'p' }, order: [{ name: 'l' }] },
      ['pullPolicy: PullPolicy', 'order.0: Label'],
    ],
    [
      'Instance',
      {
        roles: {
          client: {
            settings: { a: { secretRef: { key: 'k' } } },
            machines: { jon: { settings: { b: { variableRef: { name: 'v' } } } } },
          },
        },
      },
      ['roles.client.settings.a: value', 'roles.client.machines.jon.settings.b.variableRef: Variable'],
    ],
  ])('%s %j', (name, spec, expected) => {
    expect(references(name, spec)).toEqual(expected)
  })

  it('an Instance also names machines by their display names, in either form', () => {
    const { namedReferences } = kindOf('Instance')
    const spec = {
      roles: { server: { machines: ['box'] }, client: { machines: { jon: {}, eva: { optional: true } } } },
    }
    expect(namedReferences(spec)).toEqual([
      { path: ['roles', 'server', 'machines', 0], kind: 'Machine', name: 'box', optional: false },
      { path: ['roles', 'client', 'machines', 'jon'], kind: 'Machine', name: 'jon', optional: false },
      { path: ['roles', 'client', 'machines', 'eva'], kind: 'Machine', name: 'eva', optional: true },
    ])
    expect(namedReferences(canonicalSpec(kindOf('Instance'), spec)).map(({ name }) => name)).toEqual([
      'eva',
      'jon',
      'box',
    ])
  })
})

describe('the first stack', () => {
  const associations = [{ kind: 'Label', name: 'lucid_einstein' }]
  it.each<[string, Spec]>([
    ['Label', { name: 'label_1' }],
    ['Datastore', { name: 'datastore_1', associations }],
    ['Volume', { name: 'volume_1', associations }],
    [
      'DiscoveryPolicy',
      { associations, sources: [{ type: 'registry', registry: { url: 'https://r.example', repositories: ['a'] } }] },
    ],
  ])('may have a %s with nothing but this', (name, spec) => {
    expect(faults(name, spec)).toEqual([])
  })
})

describe('defaults', () => {
  it.each<[string, Spec, Spec]>([
    ['Volume', {}, { origin: 'blank', kind: 'disk', readOnly: false, generation: 1, trustRoots: [] }],
    ['Datastore', {}, { mirrors: [], plainHttp: false }],
    ['Instance', { roles: { server: { machines: ['box'] } } }, { module: { input: 'builtin' } }],
    [
      'CachedImage',
      { image: 'nginx' },
      { image: 'nginx', imagePullPolicy: 'Always', imagePullSecrets: [], priority: 0, pullStrategy: 'Auto' },
    ],
    [
      'PullPolicy',
      {},
      {
        maxConcurrentNodes: 1,
        minDelayBetweenPulls: '10s',
        failureBackoff: { initial: '30s', max: '5m' },
        scope: 'All',
        pullTimeout: '30m',
        paused: false,
        windows: [],
      },
    ],
    ['RolloutPolicy', {}, { canary: 1, waves: ['100%'], healthWindow: '30s', pauseBetween: '0s', onFailure: 'goBack' }],
  ])('of a %s', (name, spec, expected) => {
    expect(canonicalSpec(kindOf(name), spec)).toMatchObject(expected)
  })

  it('of a PullPolicy do not take 0s for nothing', () => {
    expect(canonicalSpec(kindOf('PullPolicy'), { minDelayBetweenPulls: '0s' })).toMatchObject({
      minDelayBetweenPulls: '0s',
    })
  })

  it('of an Instance make a list of names a map', () => {
    const { roles } = canonicalSpec(kindOf('Instance'), { roles: { server: { machines: ['box'], tags: ['eu'] } } })
    expect(roles).toEqual({
      server: {
        settings: {},
        tags: { eu: { settings: {}, member: true, optional: false } },
        machines: { box: { settings: {}, optional: false } },
        extra: {},
      },
    })
  })
})

const digest = `sha256:${'a'.repeat(64)}`
const registry = { url: 'https://r.example', repositories: ['a'] }
const prometheus = { endpoint: 'https://p.example', query: 'up' }
const privateKey = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n'

describe('mistakes', () => {
  it.each<[string, string, unknown, string[]]>([
    ['a colour that is none', 'Label', { color: 'green' }, ['value.invalid color']],
    ['a variable without a value', 'Variable', {}, ['value.missing value']],
    ['a tag in capitals', 'Machine', { tags: ['Edge'] }, ['value.invalid tags[0]']],
    ['the tag all', 'Machine', { tags: ['all'] }, ['value.invalid tags[0]']],
    ['an unknown attribute of a fragment', 'Machine', { config: { unit: {} } }, ['key.unknown config.unit']],
    ['settings that belong to no role', 'Instance', { settings: {} }, ['key.unknown settings']],
    ['settings that are a list', 'Instance', { roles: { a: { settings: [] } } }, ['value.type roles.a.settings']],
    ['a role that is null', 'Instance', { roles: { a: null } }, ['value.type roles.a']],
    ['tags that are a word', 'Instance', { roles: { a: { tags: 'laptop' } } }, ['value.type roles.a.tags']],
    ['a role with a slash', 'Instance', { roles: { 'a/b': {} } }, ['key.invalid roles["a/b"]']],

    ['content for a blank volume', 'Volume', { content: { image: 'a' } }, ['value.conflict content']],
    ['a download of nothing', 'Volume', { origin: 'download' }, ['value.missing content']],
    ['content without a source', 'Volume', { origin: 'download', content: {} }, ['value.missing content']],
    [
      'two sources',
      'Volume',
      { origin: 'download', content: { image: 'a', url: 'https://x.example/a' } },
      ['value.conflict content.url'],
    ],
    [
      'a tag for a file',
      'Volume',
      { origin: 'download', content: { url: 'https://x.example/a', tag: 'b' } },
      ['value.conflict content.tag'],
    ],
    [
      'a checksum for an image',
      'Volume',
      { origin: 'download', content: { image: 'a', sha256: 'a'.repeat(64) } },
      ['value.conflict content.sha256'],
    ],
    [
      'http without a checksum',
      'Volume',
      { origin: 'download', content: { url: 'http://x.example/a' } },
      ['reference.insecure content.sha256'],
    ],
    [
      'a password in an address',
      'Volume',
      { origin: 'download', content: { url: 'https://u:p@x.example/a' } },
      ['value.invalid content.url'],
    ],
    ['cloud-init without files', 'Volume', { origin: 'cloudInit' }, ['value.missing cloudInit']],
    ['files of cloud-init for another origin', 'Volume', { cloudInit: { userData: '' } }, ['value.conflict cloudInit']],
    [
      'a file system on a download',
      'Volume',
      { origin: 'download', content: { image: 'a' }, fileSystem: 'ext4' },
      ['value.conflict fileSystem'],
    ],
    ['a blank disk on a machine without a size', 'Volume', { machine: { name: 'm' } }, ['volume.size-required size']],
    ['an origin that is not built', 'Volume', { origin: 'reference' }, ['value.not-allowed origin']],
    ['a size that is none', 'Volume', { size: 'large' }, ['value.invalid size']],

    ['a host with a scheme', 'Datastore', { host: 'https://r.example' }, ['value.invalid host']],
    ['a password without a user', 'Datastore', { password: { secretRef: { key: 'k' } } }, ['value.missing username']],
    ['a certificate that is none', 'Datastore', { ca: 'x' }, ['value.invalid ca']],
    ['a root of trust without any', 'TrustRoot', {}, ['value.missing keys']],
    ['a private key', 'TrustRoot', { keys: [privateKey] }, ['value.invalid keys[0]']],

    ['no image', 'CachedImage', {}, ['value.missing image']],
    ['an empty image', 'CachedImage', { image: '' }, ['value.too-short image']],
    ['an image in capitals', 'CachedImage', { image: 'registry.example/Team/App' }, ['value.invalid image']],
    ['tag and digest', 'CachedImage', { image: 'a', tag: 'b', digest }, ['value.conflict tag']],
    ['a tag at both places', 'CachedImage', { image: 'a:1', tag: '1' }, ['value.conflict tag']],
    ['a digest beside a tag in the image', 'CachedImage', { image: 'a:1', digest }, ['value.conflict digest']],
    ['a short digest', 'CachedImage', { image: 'a', digest: 'sha256:abc' }, ['value.invalid digest']],
    [
      'a value where only existence counts',
      'CachedImage',
      { image: 'a', tolerations: [{ key: 'k', operator: 'Exists', value: 'v' }] },
      ['value.conflict tolerations.0.value'],
    ],
    [
      'a toleration of nothing',
      'CachedImage',
      { image: 'a', tolerations: [{ value: 'v' }] },
      ['value.missing tolerations.0.key'],
    ],
    [
      'a wait for an effect that does not wait',
      'CachedImage',
      { image: 'a', tolerations: [{ key: 'k', tolerationSeconds: 5 }] },
      ['value.conflict tolerations.0.tolerationSeconds'],
    ],
    ['a priority beyond 32 bits', 'CachedImage', { image: 'a', priority: 2 ** 31 }, ['value.range priority']],
    [
      'an entry of a set with tag and digest',
      'CachedImageSet',
      { images: [{ image: 'a' }, { image: 'b', tag: 'c', digest }] },
      ['value.conflict images.1.tag'],
    ],
    ['a toleration of a set', 'CachedImageSet', { tolerations: [{}] }, ['value.missing tolerations.0.key']],

    ['no source', 'DiscoveryPolicy', { sources: [] }, ['value.too-short sources']],
    [
      'a source without its block',
      'DiscoveryPolicy',
      { sources: [{ type: 'registry' }] },
      ['value.missing sources.0.registry'],
    ],
    [
      'the block of another type',
      'DiscoveryPolicy',
      { sources: [{ type: 'registry', registry, prometheus }] },
      ['value.conflict sources.0.prometheus'],
    ],
    [
      'a source name twice',
      'DiscoveryPolicy',
      {
        sources: [
          { type: 'registry', registry, name: 'registry-1' },
          { type: 'registry', registry },
        ],
      },
      ['value.conflict sources.1.name'],
    ],
    [
      'a step of nothing',
      'DiscoveryPolicy',
      { sources: [{ type: 'prometheus', prometheus: { ...prometheus, step: '0s' } }] },
      ['value.range sources.0.prometheus.step'],
    ],
    [
      'a sync every second',
      'DiscoveryPolicy',
      { sources: [{ type: 'registry', registry }], syncInterval: '1s' },
      ['value.range syncInterval'],
    ],
    [
      'a filter that is no pattern',
      'DiscoveryPolicy',
      { sources: [{ type: 'registry', registry }], imageFilter: '(' },
      ['value.invalid imageFilter'],
    ],
    [
      'a template of Go',
      'DiscoveryPolicy',
      { sources: [{ type: 'registry', registry: { ...registry, imageTemplate: '{{range .Tags}}' } }] },
      ['value.invalid sources[0].registry.imageTemplate'],
    ],

    ['no pull at all', 'PullPolicy', { maxConcurrentNodes: 0 }, ['value.range maxConcurrentNodes']],
    [
      'a backoff that shrinks',
      'PullPolicy',
      { failureBackoff: { initial: '10m' } },
      ['value.range failureBackoff.initial'],
    ],
    ['a pull that ends at once', 'PullPolicy', { pullTimeout: '0s' }, ['value.range pullTimeout']],
    [
      'a window without time',
      'PullPolicy',
      { windows: [{ start: '08:00', end: '08:00' }] },
      ['value.range windows.0.end'],
    ],
    [
      'a time that is none',
      'PullPolicy',
      { windows: [{ start: '25:00', end: '08:00' }] },
      ['value.invalid windows[0].start'],
    ],
    [
      'a time zone that is none',
      'PullPolicy',
      { windows: [{ start: '07:00', end: '08:00', timezone: 'Mars/Base' }] },
      ['value.invalid windows[0].timezone'],
    ],
    ['a negative duration', 'PullPolicy', { pullTimeout: '-5s' }, ['value.invalid pullTimeout']],
    ['a toleration of a policy', 'PullPolicy', { tolerations: [{}] }, ['value.missing tolerations.0.key']],

    ['no waves', 'RolloutPolicy', { waves: [] }, ['value.too-short waves']],
    ['a wave of nobody', 'RolloutPolicy', { waves: [0] }, ['value.range waves[0]']],
    ['more than everybody', 'RolloutPolicy', { waves: ['120%'] }, ['value.invalid waves[0]']],
    ['a half machine', 'RolloutPolicy', { canary: 0.5 }, ['value.type canary']],
    ['an unknown way on', 'RolloutPolicy', { onFailure: 'goback' }, ['value.not-allowed onFailure']],
  ])('%s', (_, name, spec, expected) => {
    expect(faults(name, spec)).toEqual(expected)
  })

  it.each(['nginx', 'nginx:1.25', `nginx@${digest}`, 'localhost:5000/a/b_c', '[::1]:5000/a', 'r.example/a--b/c__d:X'])(
    '%s is none: an image may be named so',
    image => {
      expect(faults('CachedImage', { image })).toEqual([])
    },
  )

  it('in display names of machines and instances are seen by their patterns', () => {
    const fits = (name: string, text: string) => kindOf(name).displayName.pattern?.test(text)
    for (const good of ['a', 'web-1', 'a'.repeat(63)]) expect([good, fits('Machine', good)]).toEqual([good, true])
    for (const bad of ['', 'Web', 'a_b', '-a', 'a-', 'a/b', 'constructor', '__proto__', 'a'.repeat(64)])
      expect([bad, fits('Machine', bad)]).toEqual([bad, false])
    expect(fits('Instance', 'nightly/ssh')).toBe(true)
    expect(fits('Instance', 'nightly//ssh')).toBe(false)
  })
})

describe('columns', () => {
  const cells = (name: string, resource: { spec: Spec; status: Spec | null }) =>
    Object.fromEntries(kindOf(name).columns.map(({ title, value }) => [title, value(resource)]))

  it('of a CachedImage show the tag wherever it stands', () => {
    expect(cells('CachedImage', { spec: { image: 'a:1' }, status: null })).toMatchObject({ TAG: '1' })
    expect(cells('CachedImage', { spec: { image: 'a' }, status: null })).toMatchObject({ TAG: 'latest' })
    expect(cells('CachedImage', { spec: { image: 'a', digest }, status: null })).toMatchObject({
      TAG: '',
      DIGEST: digest,
    })
  })

  it('take status and message from the Ready condition', () => {
    const conditions = [{ type: 'Ready', status: 'False', reason: 'PullFailed', message: '1/2 machines ready' }]
    expect(cells('CachedImage', { spec: {}, status: { conditions, ready: '1/2' } })).toMatchObject({
      STATUS: 'PullFailed',
      READY: '1/2',
      MESSAGE: '1/2 machines ready',
    })
  })
})

it('is immutable: what cannot change on a volume', () => {
  const spec = canonicalSpec(kindOf('Volume'), { format: 'raw' })
  const fixed = [...markedFields(kindOf('Volume').spec as z.ZodType, spec)].filter(({ mark }) => mark.immutable)
  expect(fixed.map(({ path }) => path.join('.'))).toEqual(['origin', 'kind', 'format'])
})
