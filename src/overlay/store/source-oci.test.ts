// An image as a package, from a door that has its blobs at hand.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ContentDoor } from '../../content/door.ts'
import type { BlobStatus, ContentRef, Sha256 } from '../../content/messages.ts'
import { type FakeEntry, gzip, tarOf, zstd } from '../../lib/archive/archives.fake.ts'
import { removeTree } from '../../lib/durable.ts'
import { ProblemsError } from '../../lib/errors.ts'
import { realFiles } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import { silentProgress } from '../../lib/progress.ts'
import type { PackageSource } from '../../resources/overlay-config.ts'
import { layoutOf } from '../layout.ts'
import { stateNameOf } from './fingerprint.ts'
import { sourcePackage } from './source.ts'
import { walkTree } from './tree.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-oci-'))
})
afterEach(() => removeTree(realFiles, base))

interface GivenLayer {
  readonly mediaType: string
  readonly body: Buffer
  readonly annotations?: Readonly<Record<string, string>>
}

const oci = 'application/vnd.oci.image'
const layer = (entries: readonly FakeEntry[]): GivenLayer => ({
  mediaType: `${oci}.layer.v1.tar+gzip`,
  body: gzip(tarOf(entries)),
})
const file = (name: string, content = name): FakeEntry => ({ name, content })
const title = (name: string) => ({ 'org.opencontainers.image.title': name })

interface OpenDoor extends ContentDoor {
  readonly asked: ContentRef[]
  released: number
}

/** Each blob in a file of its own, the manifest first, as the verifier would name them. */
function doorWith(layers: readonly GivenLayer[], config = Buffer.from('{}')): OpenDoor {
  const blobs: BlobStatus[] = []
  const add = (role: BlobStatus['role'], mediaType: string, body: Buffer) => {
    const sha256 = sha256Hex(body) as Sha256
    const path = join(base, sha256)
    writeFileSync(path, body)
    if (!blobs.some(blob => blob.sha256 === sha256))
      blobs.push({ sha256, role, mediaType, state: 'verified', size: body.length, currentSize: body.length, path })
    return { mediaType, digest: `sha256:${sha256}`, size: body.length }
  }
  const described = {
    config: add('config', `${oci}.config.v1+json`, config),
    layers: layers.map(({ mediaType, body, annotations }) => ({ ...add('layer', mediaType, body), annotations })),
  }
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, ...described }))
  add('manifest', `${oci}.manifest.v1+json`, manifest)
  blobs.unshift(blobs.pop()!)
  const door: OpenDoor = {
    asked: [],
    released: 0,
    fetch: async ({ scope, ref }) => {
      door.asked.push(ref)
      const sizes = { totalSize: 0, currentSize: 0, waitingForCerts: false }
      return {
        status: { scope, id: 'x', name: ref.name, state: 'verified', sha256: blobs[0]!.sha256, blobs, ...sizes },
        release: () => {
          door.released++
        },
      }
    },
  }
  return door
}

const image = { type: 'oci', uri: 'registry.example/team/app:1' } as const
const pin = 'c'.repeat(64)
const pinned = { ...image, checksum: `sha256:${pin}` }

const made = (source: PackageSource) =>
  sourcePackage({
    files: realFiles,
    name: 'tool',
    config: { version: '1', source },
    declaredAt: 'packageByNames.tool',
    baseDirectory: base,
    requireChecksums: false,
  })

/** Path to what is there: `444 text`, `555 text`, `-> link`. */
async function built(door: ContentDoor, source: PackageSource = pinned): Promise<Record<string, string>> {
  const directory = join(base, 'built')
  mkdirSync(directory)
  const { release } = await made(source).package!.build(directory, {
    ...{ files: realFiles, layout: layoutOf({ root: base }), content: door },
    ...{ progress: silentProgress, signal: new AbortController().signal },
  })
  release?.()
  const found = [...walkTree(realFiles, directory)].filter(({ kind }) => kind !== 'directory')
  const shown = found.map(({ path, kind }): [string, string] => {
    const place = join(directory, path)
    if (kind === 'link') return [path, `-> ${realFiles.readlink(place)}`]
    const isExecutable = (realFiles.lstat(place)!.mode & 0o100) !== 0
    return [path, `${isExecutable ? 555 : 444} ${readFileSync(place)}`]
  })
  return Object.fromEntries(shown)
}

describe('a package of an image', () => {
  it('has its layers on top of one another, and lets go of them', async () => {
    const door = doorWith([
      layer([{ name: 'bin/tool', content: 'old', mode: 0o755 }, file('share/a'), file('share/b'), file('etc/x/one')]),
      { mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', body: gzip(tarOf([file('share/.wh.a', '')])) },
      { mediaType: `${oci}.layer.v1.tar+zstd`, body: zstd(tarOf([{ name: 'bin/tool', content: 'new', mode: 0o755 }])) },
      { mediaType: `${oci}.layer.v1.tar`, body: tarOf([file('etc/x/.wh..wh..opq', ''), file('etc/x/two')]) },
    ])
    expect(await built(door)).toEqual({ 'bin/tool': '555 new', 'etc/x/two': '444 etc/x/two', 'share/b': '444 share/b' })
    expect(door.released).toBe(1)
    expect(door.asked).toMatchObject([
      {
        sources: [{ kind: 'registry', host: 'registry.example', repository: 'team/app' }],
        ...{ tag: '1', sha256: pin, platform: { os: 'linux' } },
      },
    ])
  })

  it('may have the same layer twice', async () => {
    const again = layer([file('a', '1')])
    expect(await built(doorWith([again, layer([file('a', '2')]), again]))).toEqual({ a: '444 1' })
  })

  it('drops leading parts, and keeps absolute links only when told so', async () => {
    const door = doorWith([layer([file('app-1/lib/x'), { name: 'app-1/out', kind: 'symlink', link: '/etc/x' }])])
    const more = { stripComponents: 1, allowAbsoluteLinks: true }
    expect(await built(door, { ...pinned, ...more })).toEqual({ 'lib/x': '444 app-1/lib/x', out: '-> /etc/x' })
    removeTree(realFiles, join(base, 'built'))
    await expect(built(door)).rejects.toMatchObject({ problems: [{ code: 'archive.link-escape' }] })
    expect(door.released).toBe(2)
  })
})

describe('a package of an artifact', () => {
  const blob = (annotations: Readonly<Record<string, string>> = {}): GivenLayer => ({
    mediaType: 'application/vnd.example.tool',
    body: Buffer.from('#!'),
    annotations,
  })

  it('has a file for each layer that is no archive, by its title, else where the config says', async () => {
    const door = doorWith([blob(title('bin/titled')), { ...blob(), body: Buffer.from('untitled') }])
    expect(await built(door)).toEqual({ 'bin/titled': '555 #!', 'bin/tool': '555 untitled' })
    removeTree(realFiles, join(base, 'built'))
    expect(await built(door, { ...pinned, path: 'share/x', mode: '0644' })).toEqual({
      'bin/titled': '444 #!',
      'share/x': '444 untitled',
    })
  })

  it.each(['application/x-tar', 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar'])(
    'unpacks a layer of type %s',
    async mediaType => {
      const door = doorWith([{ mediaType, body: gzip(tarOf([file('Chart.yaml')])), annotations: title('chart.tgz') }])
      expect(await built(door)).toEqual({ 'Chart.yaml': '444 Chart.yaml' })
    },
  )

  it.each(['../outside', '/etc/x', 'a/../../x'])('is refused when a title leads out of it: %s', async name => {
    const door = doorWith([blob(title(name))])
    const failure = await built(door).catch(error => error)
    expect(failure).toBeInstanceOf(ProblemsError)
    expect(failure.problems).toMatchObject([
      { code: 'archive.traversal', path: 'packageByNames.tool.source.uri', reason: expect.stringContaining(name) },
    ])
    expect(door.released).toBe(1)
  })

  it('is refused when what came is no image at all', async () => {
    const door = doorWith([])
    const alone: ContentDoor = {
      fetch: async request => {
        const { status, release } = await door.fetch(request)
        return { status: { ...status, blobs: status.blobs.map(one => ({ ...one, role: 'blob' as const })) }, release }
      },
    }
    await expect(built(alone)).rejects.toMatchObject({ code: 'content.manifest-invalid' })
    expect(door.released).toBe(1)
  })
})

describe('what names a package of an image', () => {
  const nameOf = (source: PackageSource) => stateNameOf(made(source).package!)
  const warnings = (source: PackageSource) => made(source).warnings.map(({ code }) => code)

  it('is the digest, wherever it stands and whichever registry has it', () => {
    expect(nameOf({ type: 'oci', uri: 'mirror.example/app', checksum: pinned.checksum })).toBe(nameOf(pinned))
    expect(nameOf({ type: 'oci', uri: `registry.example/team/app@sha256:${pin}` })).toBe(nameOf(pinned))
    expect(warnings({ type: 'oci', uri: `registry.example/team/app@sha256:${pin}` })).toEqual([])
  })

  it('is the name with its tag where there is none, and that is warned of', () => {
    expect(nameOf({ ...image, uri: 'registry.example/team/app:2' })).not.toBe(nameOf(image))
    expect(warnings(image)).toEqual(['source.unpinned'])
  })

  it('is every field that changes the result', () => {
    const names = [pinned, { ...pinned, path: 'x' }, { ...pinned, mode: '0444' }, { ...pinned, stripComponents: 1 }]
    expect(new Set(names.map(nameOf)).size).toBe(names.length)
  })

  it.each<[string, PackageSource]>([
    ['two digests', { ...pinned, uri: `registry.example/team/app@sha256:${'d'.repeat(64)}` }],
    ['a password', { ...pinned, uri: 'ann:secret@registry.example/team/app' }],
    ['an address of a file', { ...pinned, uri: 'https://registry.example/team/app' }],
    ['a file', { ...pinned, uri: './image.tar' }],
  ])('is nothing that %s could be', (_, source) => {
    const { package: none, problems } = made(source)
    expect(none).toBeNull()
    expect(problems).toMatchObject([{ code: 'source.uri-invalid', path: 'packageByNames.tool.source.uri' }])
    expect(JSON.stringify(problems)).not.toContain('secret')
  })
})
