// The sources against a real docker-registry, with images of our own making and of the tools that people use.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { OpenRequest, Origins } from '../../src/content/downloader/origin.ts'
import { createOrigins } from '../../src/content/downloader/origins/origins.ts'
import type { Datastore, Sha256 } from '../../src/content/messages.ts'
import type { Source } from '../../src/content/source.ts'
import { realClock } from '../../src/lib/clock.ts'
import { realFiles } from '../../src/lib/files.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { findProgram, run } from '../../src/lib/run.ts'
import { describeWith } from '../require.ts'
import { type MadeImage, makeImage, ownPlatform, randomLayer } from './image.ts'
import { pushImage, putBlob, putManifest, type RealRegistry, startRegistry } from './registry.ts'

const never = new AbortController().signal
const indexType = 'application/vnd.oci.image.index.v1+json'
const manifestType = 'application/vnd.oci.image.manifest.v1+json'

const inRegistry = ({ host }: RealRegistry, repository: string): Source => ({ kind: 'registry', host, repository })

function originsWith(datastores: readonly Datastore[] = []): Origins {
  const origins = createOrigins({ clock: realClock, proxyEnv: {}, files: realFiles })
  origins.configure(datastores, 20_000)
  return origins
}

async function read(origins: Origins, request: Pick<OpenRequest, 'source'> & Partial<OpenRequest>) {
  const opened = await origins.open({ as: 'blob', from: 0, signal: never, ...request })
  return { ...opened, bytes: Buffer.concat(await Array.fromAsync(opened.body)) }
}

const smallImage = () =>
  makeImage({
    platforms: {
      [ownPlatform]: [1, 2, 3].map(seed => randomLayer({ seed, bytes: 200_000 })),
      'linux/s390x': [randomLayer({ seed: 4, bytes: 1000 })],
    },
  })

describeWith(['docker-registry'], 'a docker-registry', () => {
  const origins = originsWith()
  let registry: RealRegistry
  let image: MadeImage
  beforeAll(async () => {
    registry = await startRegistry()
    image = await smallImage()
    await pushImage(registry, image, { repository: 'team/app', tag: 'v1' })
  })
  afterAll(() => registry.stop())

  it('resolves a tag to the digest of its index', async () => {
    const { sha256, body } = image.index
    const found = await origins.resolve(inRegistry(registry, 'team/app'), { kind: 'tag', tag: 'v1' }, never)
    expect(found).toEqual([{ sha256, mediaType: indexType, size: body.length }])
  })

  it('gives index, manifests and blobs by their digests, byte for byte', async () => {
    const source = inRegistry(registry, 'team/app')
    for (const { sha256, mediaType } of [image.index, ...image.manifests]) {
      const got = await read(origins, { source, sha256, as: 'manifest', mediaType })
      expect([sha256Hex(got.bytes), got.contentType]).toEqual([sha256, mediaType])
    }
    for (const sha256 of image.blobs.keys()) {
      const got = await read(origins, { source, sha256 })
      expect([sha256Hex(got.bytes), got.total]).toEqual([sha256, got.bytes.length])
    }
  })

  it('goes on in the middle of a blob', async () => {
    const sha256 = image.parts[ownPlatform]![1]!
    const body = image.blobs.get(sha256)!
    const got = await read(origins, {
      source: inRegistry(registry, 'team/app'),
      sha256,
      from: 70_000,
      total: body.length,
    })
    expect([got.offset, got.total]).toEqual([70_000, body.length])
    expect(got.bytes.equals(body.subarray(70_000))).toBe(true)
  })

  it('has no referrers endpoint: what refers to a digest is found at the tags that stand in for it', async () => {
    const { sha256: root } = image.index
    const source = inRegistry(registry, 'team/app')
    const find = () => origins.resolve(source, { kind: 'referrers', sha256: root }, never)
    expect(await find()).toEqual([])

    const config = Buffer.from('{}')
    await putBlob(registry, 'team/app', config)
    const described = { mediaType: 'application/vnd.oci.empty.v1+json', digest: `sha256:${sha256Hex(config)}`, size: 2 }
    const signature = (name: string) =>
      Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: manifestType,
          config: described,
          layers: [],
          annotations: { name },
        }),
      )
    const [v2, v3] = [signature('v2'), signature('v3')]
    const put = (reference: string, body: Buffer, mediaType = manifestType) =>
      putManifest(registry, { repository: 'team/app', reference, mediaType, body })
    await put(`sha256-${root}.sig`, v2)
    await put(`sha256:${sha256Hex(v3)}`, v3)
    const entry = { mediaType: manifestType, digest: `sha256:${sha256Hex(v3)}`, size: v3.length }
    const list = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [entry] })
    await put(`sha256-${root}`, Buffer.from(list), indexType)
    expect(await find()).toEqual(
      [v3, v2].map(body => ({ sha256: sha256Hex(body), mediaType: manifestType, size: body.length })),
    )
  })

  it('does not have what was never pushed', async () => {
    const source = inRegistry(registry, 'team/app')
    const sha256 = sha256Hex('never') as Sha256
    await expect(read(origins, { source, sha256 })).rejects.toMatchObject({ code: 'source.not-found', kind: 'missing' })
    await expect(origins.resolve(source, { kind: 'tag', tag: 'v9' }, never)).rejects.toMatchObject({ kind: 'missing' })
  })
})

describeWith(['docker-registry'], 'a docker-registry that wants a password', () => {
  let registry: RealRegistry
  let image: MadeImage
  beforeAll(async () => {
    registry = await startRegistry({ auth: true })
    image = await smallImage()
    await pushImage(registry, image, { repository: 'private', tag: 'v1' })
  })
  afterAll(() => registry.stop())

  it('gives everything to whoever has it', async () => {
    const origins = originsWith([{ host: registry.host, ...registry.credentials }])
    const source = inRegistry(registry, 'private')
    const [found] = await origins.resolve(source, { kind: 'tag', tag: 'v1' }, never)
    expect(found?.sha256).toBe(image.index.sha256)
    for (const sha256 of image.blobs.keys())
      expect(sha256Hex((await read(origins, { source, sha256 })).bytes)).toBe(sha256)
  })

  it.each([
    ['without one', {}],
    ['with a wrong one', { username: 'ann', password: 'canary-wrong' }],
  ])('lets nobody in %s, and does not repeat it', async (_, credentials) => {
    const origins = originsWith([{ host: registry.host, ...credentials }])
    const failure = await read(origins, { source: inRegistry(registry, 'private'), sha256: image.index.sha256 }).catch(
      (error: Error) => error,
    )
    expect(failure).toMatchObject({ code: 'source.unauthorized', kind: 'denied' })
    expect(String(failure)).not.toContain('canary')
  })
})

describeWith(['docker-registry', 'skopeo', 'umoci'], 'an image made by umoci and copied by skopeo', () => {
  const origins = originsWith()
  let directory: string
  let registry: RealRegistry
  // skopeo keeps a cache where its user has a home, or where root has one for all.
  const env = () => ({ HOME: directory, XDG_DATA_HOME: directory, _CONTAINERS_ROOTLESS_UID: '1000' })
  const tool = async (name: string, ...args: string[]) => {
    const { code, stderr } = await run(findProgram(name)!, args, { timeoutMs: 60_000, env: env() })
    if (code !== 0) throw new Error(`${name} ${args.join(' ')}: ${stderr}`)
  }
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-umoci-'))
    registry = await startRegistry()
    const layout = join(directory, 'layout')
    await tool('umoci', 'init', '--layout', layout)
    await tool('umoci', 'new', '--image', `${layout}:v1`)
    writeFileSync(join(directory, 'greeting'), 'hello')
    await tool('umoci', 'insert', '--rootless', '--image', `${layout}:v1`, join(directory, 'greeting'), '/greeting')
    const to = `docker://${registry.host}/umoci/app:v1`
    await tool('skopeo', 'copy', '--insecure-policy', '--dest-tls-verify=false', `oci:${layout}:v1`, to)
  })
  afterAll(async () => {
    await registry.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  it('is the same in the registry and in the layout, down to its layers', async () => {
    const places: Source[] = [
      inRegistry(registry, 'umoci/app'),
      { kind: 'oci-layout', path: join(directory, 'layout') },
    ]
    const pulled = await Promise.all(places.map(source => pull(source)))
    expect(pulled[0]).toEqual(pulled[1])
    expect(pulled[0]!.length).toBe(3)
  })

  /** The digests of the manifest and of all that it names, each checked. */
  async function pull(source: Source): Promise<string[]> {
    const [root] = await origins.resolve(source, { kind: 'tag', tag: 'v1' }, never)
    const manifest = (await read(origins, { source, sha256: root!.sha256, as: 'manifest' })).bytes
    expect(sha256Hex(manifest)).toBe(root!.sha256)
    const { config, layers } = JSON.parse(manifest.toString()) as { config: Named; layers: Named[] }
    const digests = [config, ...layers].map(({ digest }) => digest.slice('sha256:'.length) as Sha256)
    for (const sha256 of digests) expect(sha256Hex((await read(origins, { source, sha256 })).bytes)).toBe(sha256)
    return [root!.sha256, ...digests]
  }
})

interface Named {
  readonly digest: string
}
