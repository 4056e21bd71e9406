// Packages from a real registry: images with their layers, artifacts that are plain files. What the store has is not fetched
// again, and what two packages share is fetched once.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { sha256Hex } from '../../src/lib/json.ts'
import type { PackageSource } from '../../src/resources/overlay-config.ts'
import { type CountingProxy, countingProxy } from '../content/counting-proxy.ts'
import { type Layer, type MadeImage, makeImage, ownPlatform } from '../content/image.ts'
import { pushImage, putBlob, putManifest, type RealRegistry, startRegistry } from '../content/registry.ts'
import { snapshotTree } from '../machine/etc-snapshot.ts'
import { describeWith } from '../require.ts'
import { type RootlessMachine, rootlessMachine } from './rootless.ts'

const otherPlatform = ownPlatform === 'linux/arm64' ? 'linux/amd64' : 'linux/arm64'
const file = (name: string, text: string, mode?: number) => ({
  name,
  body: Buffer.from(text),
  ...(mode !== undefined && { mode }),
})
const lower: Layer = [
  file('bin/tool', 'old', 0o755),
  file('share/gone', 'x'),
  file('share/d/x', 'x'),
  file('share/kept', 'k'),
]
const upper: Layer = [
  file('bin/tool', `for ${ownPlatform}`, 0o755),
  file('share/.wh.gone', ''),
  file('share/d/.wh..wh..opq', ''),
  file('share/d/y', 'y'),
]
const unpacked = {
  'bin/tool': `555 for ${ownPlatform}`,
  'share/d/y': '444 y',
  'share/kept': '444 k',
}

interface Prepared {
  readonly packages: readonly { readonly name: string; readonly state: string; readonly fresh: boolean }[]
  readonly warnings: readonly { readonly code: string }[]
}

interface Refused {
  readonly error: { readonly problems: readonly { readonly code: string; readonly reason: string }[] }
}

describeWith(['docker-registry'], 'a package from a real registry', () => {
  let machine: RootlessMachine
  let registry: RealRegistry
  let proxy: CountingProxy
  let image: MadeImage
  let artifact: string
  beforeAll(async () => {
    machine = await rootlessMachine()
    registry = await startRegistry()
    // Our platform is not the first one.
    const others = [lower, [file('bin/tool', 'for others')]]
    image = await makeImage({ platforms: { [otherPlatform]: others, [ownPlatform]: [lower, upper] } })
    await pushImage(registry, image, { repository: 'team/app', tag: '1' })
    artifact = await pushArtifact()
  })
  beforeEach(async () => {
    proxy = await countingProxy(registry)
  })
  afterEach(async () => {
    await proxy.close()
    machine.user.clear()
  })
  afterAll(async () => {
    await registry?.stop()
    machine?.user.remove()
  })

  /** As `oras push` makes them: no image config, layers with titles and types of their own. Returns the digest. */
  async function pushArtifact(): Promise<string> {
    const put = async (body: string, mediaType: string, title?: string) => {
      await putBlob(registry, 'team/tool', Buffer.from(body))
      const annotations = title === undefined ? {} : { annotations: { 'org.opencontainers.image.title': title } }
      return { mediaType, digest: `sha256:${sha256Hex(body)}`, size: body.length, ...annotations }
    }
    const mediaType = 'application/vnd.oci.image.manifest.v1+json'
    const manifest = {
      ...{ schemaVersion: 2, mediaType, artifactType: 'application/vnd.example.tool' },
      config: await put('{}', 'application/vnd.oci.empty.v1+json'),
      layers: [
        await put('#!/bin/sh\n', 'application/vnd.example.tool', 'bin/tool'),
        await put('nobody named it', 'application/octet-stream'),
      ],
    }
    const body = Buffer.from(JSON.stringify(manifest))
    await putManifest(registry, { repository: 'team/tool', reference: '1', mediaType, body })
    return sha256Hex(body)
  }

  const uri = (name: string) => `${proxy.host}/${name}`
  const configOf = (packages: Readonly<Record<string, PackageSource>>) => ({
    version: 'v1',
    packageByNames: Object.fromEntries(
      Object.entries(packages).map(([name, source]) => [name, { version: '1', source }]),
    ),
  })
  async function prepare(packages: Readonly<Record<string, PackageSource>>) {
    const { code, said } = await machine.node<Prepared>('prepare', configOf(packages))
    expect(code, JSON.stringify(said)).toBe(0)
    const found = (name: string) => said.packages.find(pkg => pkg.name === name)!
    return { found, warnings: said.warnings.map(warning => warning.code) }
  }
  async function refused(source: PackageSource) {
    const { code, said } = await machine.node<Refused>('prepare', configOf({ tool: source }))
    expect(code, JSON.stringify(said)).toBe(3)
    expect(machine.inStore()).toEqual([])
    return said.error.problems
  }

  function contentOf(state: string): Record<string, string> {
    const directory = machine.store(`states/${state}`)
    const files = Object.entries(snapshotTree(directory)).filter(([, line]) => line.startsWith('file'))
    return Object.fromEntries(
      files.map(([path, line]) => [path, `${line.split(' ')[1]} ${readFileSync(join(directory, path))}`]),
    )
  }

  it('has the layers of the image for this machine, on top of one another, and of no other', async () => {
    const { found, warnings } = await prepare({
      tool: { type: 'oci', uri: uri('team/app'), checksum: `sha256:${image.index.sha256}` },
    })
    expect(contentOf(found('tool').state)).toEqual(unpacked)
    expect(warnings).toEqual([])
    const ours = [image.index.sha256, image.manifests[1]!.sha256, ...image.parts[ownPlatform]!]
    expect(Object.fromEntries(proxy.fetched())).toEqual(Object.fromEntries(ours.map(sha256 => [sha256, 1])))
    expect(machine.inStore().filter(name => name.startsWith('content/'))).toEqual([])
  })

  it('without a checksum is what its tag is now, with a warning; with one it is the same from any registry', async () => {
    const { found, warnings } = await prepare({
      tagged: { type: 'oci', uri: uri('team/app:1') },
      named: { type: 'oci', uri: `${registry.host}/team/app@sha256:${image.index.sha256}` },
    })
    expect(warnings).toEqual(['source.unpinned'])
    for (const name of ['tagged', 'named']) expect(contentOf(found(name).state)).toEqual(unpacked)
    const checksum = `sha256:${image.index.sha256}`
    const again = await prepare({ named: { type: 'oci', uri: uri('team/app'), checksum } })
    expect(again.found('named')).toMatchObject({ state: found('named').state, fresh: false })
  })

  it('of an artifact has its files, by their titles and where the config says', async () => {
    const source = { type: 'oci', uri: uri('team/tool:1'), checksum: `sha256:${artifact}` } as const
    const { found } = await prepare({ tool: { ...source, path: 'share/note', mode: '0444' }, other: source })
    expect(contentOf(found('tool').state)).toEqual({
      'bin/tool': '444 #!/bin/sh\n',
      'share/note': '444 nobody named it',
    })
    expect(contentOf(found('other').state)).toEqual({
      'bin/tool': '555 #!/bin/sh\n',
      'bin/other': '555 nobody named it',
    })
  })

  it('that shares its blobs with another is fetched once', async () => {
    const pinned = { type: 'oci', uri: uri('team/app'), checksum: `sha256:${image.index.sha256}` } as const
    const { found } = await prepare({
      one: pinned,
      two: { ...pinned, path: 'elsewhere' },
      three: { type: 'oci', uri: uri('team/app:1') },
    })
    expect(new Set(['one', 'two', 'three'].map(name => found(name).state)).size).toBe(3)
    for (const name of ['one', 'two', 'three']) expect(contentOf(found(name).state)).toEqual(unpacked)
    const counts = [...proxy.fetched().values()]
    expect(counts).toEqual(counts.map(() => 1))
  })

  it('that is in the store needs no registry: nobody is asked for it', async () => {
    const packages: Record<string, PackageSource> = {
      app: { type: 'oci', uri: uri('team/app:1') },
      tool: { type: 'oci', uri: uri('team/tool:1'), checksum: `sha256:${artifact}` },
    }
    await prepare(packages)
    const asked = proxy.connections()
    expect(asked).toBeGreaterThan(0)
    const { found } = await prepare(packages)
    expect([found('app').fresh, found('tool').fresh]).toEqual([false, false])
    expect(await machine.node('apply', configOf(packages))).toMatchObject({ code: 0, said: { generation: 1 } })
    expect(proxy.connections()).toBe(asked)
  })

  it('that has nothing for this machine is refused, and what there is is named', async () => {
    const foreign = await makeImage({ platforms: { [otherPlatform]: [lower], 'linux/s390x': [lower] } })
    await pushImage(registry, foreign, { repository: 'team/foreign', tag: '1' })
    const [problem, ...more] = await refused({ type: 'oci', uri: uri('team/foreign:1') })
    expect(more).toEqual([])
    expect(problem).toMatchObject({ code: 'content.no-platform' })
    for (const platform of [otherPlatform, 'linux/s390x']) expect(problem?.reason).toContain(platform)
  })

  it('with another digest than its checksum, or that is not there, is refused', async () => {
    const [wrong] = await refused({ type: 'oci', uri: uri('team/app:1'), checksum: `sha256:${'0'.repeat(64)}` })
    expect(wrong?.code).toBe('source.not-found')
    const [missing] = await refused({ type: 'oci', uri: uri('team/app:9') })
    expect(missing?.code).toBe('source.not-found')
  })
})

describeWith(['docker-registry'], 'a package from a registry that wants a password', () => {
  let machine: RootlessMachine
  let registry: RealRegistry
  beforeAll(async () => {
    machine = await rootlessMachine()
    registry = await startRegistry({ auth: true })
    const image = await makeImage({ platforms: { [ownPlatform]: [lower] } })
    await pushImage(registry, image, { repository: 'private', tag: '1' })
  })
  afterAll(async () => {
    await registry?.stop()
    machine?.user.remove()
  })

  it('is had with the one in the settings of the machine, which is nowhere else', async () => {
    const source = { type: 'oci', uri: `${registry.host}/private:1` } as const
    const config = { version: 'v1', packageByNames: { tool: { version: '1', source } } }
    expect(await machine.node('prepare', config)).toMatchObject({
      code: 3,
      said: { error: { problems: [{ code: 'source.unauthorized' }] } },
    })
    const { username, password } = registry.credentials!
    machine.user.write('machine/etc/cairn/password', `${password}\n`)
    const store = { host: registry.host, username, passwordFile: 'password' }
    machine.user.write('machine/etc/cairn/content.json', JSON.stringify({ datastores: [store] }))
    expect(await machine.node('prepare', config)).toMatchObject({ code: 0 })
    const { stdout } = await machine.user.run(['grep', '-rlF', password, machine.user.home])
    expect(stdout).toBe(`${machine.etc('cairn/password')}\n`)
  })
})
