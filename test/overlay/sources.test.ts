// Packages of every kind of source, over http from a real server and from disk, as an ordinary user installs them.
import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { debOf, type FakeEntry, gzip, rpmOf, tarOf, zipOf, zstd } from '../../src/lib/archive/archives.fake.ts'
import type { PackageSource } from '../../src/resources/overlay-config.ts'
import { snapshotTree } from '../machine/etc-snapshot.ts'
import { describeWith } from '../require.ts'
import { type BlobServer, serveBlobs } from './blob-server.ts'
import { type RootlessMachine, rootlessMachine } from './rootless.ts'

const entries: readonly FakeEntry[] = [
  { name: 'tool-1.0/', kind: 'directory' },
  { name: 'tool-1.0/bin/', kind: 'directory' },
  { name: 'tool-1.0/bin/tool', content: '#!/bin/sh\n', mode: 0o4755 },
  { name: 'tool-1.0/bin/alias', kind: 'symlink', link: 'tool' },
  { name: 'tool-1.0/share/readme', content: 'read me\n', mode: 0o666 },
]
const tar = tarOf(entries)
const blobs = {
  tool: Buffer.from('#!/bin/sh\n'),
  'tool.tar': tar,
  'tool.tar.gz': gzip(tar),
  'tool.tar.zst': zstd(tar),
  'tool.zip': zipOf(entries),
  'tool.deb': debOf(entries),
  'tool.rpm': rpmOf(entries),
}
/** What every archive above gives: read-only, without special bits, all of one time. */
const unpacked = {
  bin: 'directory 555',
  'bin/alias': 'link -> tool',
  'bin/tool': 'file 555 1000 #!/bin/sh\n',
  share: 'directory 555',
  'share/readme': 'file 444 1000 read me\n',
}

let machine: RootlessMachine
let server: BlobServer
beforeAll(async () => {
  machine = await rootlessMachine()
  server = await serveBlobs(blobs)
})
beforeEach(() => machine.user.clear())
afterAll(async () => {
  await server?.close()
  machine?.user.remove()
})

const withSource = (source: PackageSource) => ({ version: 'v1', packageByNames: { tool: { version: '1', source } } })

interface Prepared {
  readonly packages: readonly { readonly name: string; readonly state: string; readonly fresh: boolean }[]
  readonly warnings: readonly { readonly code: string }[]
}

async function prepare(source: PackageSource) {
  const { code, said } = await machine.node<Prepared>('prepare', withSource(source))
  expect(code, JSON.stringify(said)).toBe(0)
  const { state, fresh } = said.packages.find(({ name }) => name === 'tool')!
  return { state, fresh, warnings: said.warnings.map(warning => warning.code) }
}

/** Path -> what is there, without the owner. */
function contentOf(state: string): Record<string, string> {
  const directory = machine.store(`states/${state}`)
  return Object.fromEntries(
    Object.entries(snapshotTree(directory)).map(([path, line]) => {
      const [kind = '', mode, , ...rest] = line.split(' ')
      if (kind === 'link') return [path, `link ${rest.join(' ')}`]
      return [
        path,
        kind === 'file' ? `file ${mode} ${rest[0]} ${readFileSync(join(directory, path))}` : `${kind} ${mode}`,
      ]
    }),
  )
}

describe('a source', () => {
  it.each<[PackageSource['type'], keyof typeof blobs]>([
    ['url+tar', 'tool.tar'],
    ['url+tar', 'tool.tar.gz'],
    ['url+tar', 'tool.tar.zst'],
    ['url+zip', 'tool.zip'],
    ['url+deb', 'tool.deb'],
    ['url+rpm', 'tool.rpm'],
  ])('of type %s with %s is unpacked', async (type, path) => {
    const checksum = server.checksum(path)
    const { state, warnings } = await prepare({ type, uri: server.url(path), checksum, stripComponents: 1 })
    expect(contentOf(state)).toEqual(unpacked)
    expect(warnings).toEqual([])
    expect(readdirSync(machine.store('content/pending'))).toEqual([])
  })

  it('of type url is one file, where and with the mode that is said', async () => {
    const from = { type: 'url', uri: server.url('tool'), checksum: server.checksum('tool') } as const
    expect(contentOf((await prepare(from)).state)).toMatchObject({ 'bin/tool': 'file 555 1000 #!/bin/sh\n' })
    expect(contentOf((await prepare({ ...from, path: 'share/x', mode: '0644' })).state)).toEqual({
      share: 'directory 555',
      'share/x': 'file 444 1000 #!/bin/sh\n',
    })
  })

  it('of type file is a file or a directory, relative to the config', async () => {
    machine.user.write('local/bin/tool', '#!/bin/sh\n')
    chmodSync(join(machine.user.home, 'local/bin/tool'), 0o755)
    symlinkSync('tool', join(machine.user.home, 'local/bin/alias'))
    machine.user.write('local/share/readme', 'read me\n')
    expect(contentOf((await prepare({ type: 'file', uri: './local' })).state)).toEqual(unpacked)
    const one = await prepare({
      type: 'file',
      uri: join(machine.user.home, 'local/share/readme'),
      path: 'readme',
      mode: '0444',
    })
    expect(contentOf(one.state)).toEqual({ readme: 'file 444 1000 read me\n' })
    machine.user.write('local/share/readme', 'read me again\n')
    expect((await prepare({ type: 'file', uri: './local' })).fresh).toBe(true)
  })

  it('of type inline is its text', async () => {
    const { state } = await prepare({ type: 'inline', content: 'ä\n', path: 'etc/x', mode: '0444' })
    expect(contentOf(state)).toEqual({ etc: 'directory 555', 'etc/x': 'file 444 1000 ä\n' })
  })

  it('with a checksum is the same package wherever it comes from; without one Cairn warns', async () => {
    const pinned = { type: 'url', uri: server.url('tool'), checksum: server.checksum('tool') } as const
    const { state } = await prepare(pinned)
    const copy = machine.user.write('mirror/tool', blobs.tool)
    expect(await prepare({ ...pinned, uri: `file://${copy}` })).toMatchObject({ state, fresh: false })
    expect(await prepare({ type: 'url', uri: server.url('tool') })).toMatchObject({ warnings: ['source.unpinned'] })
  })
})

describeWith(['xz'], 'a source of type url+tar with tool.tar.xz', () => {
  it('is unpacked', async () => {
    const xz = await serveBlobs({ 'tool.tar.xz': execFileSync('xz', ['-c'], { input: tar }) })
    const uri = xz.url('tool.tar.xz')
    const { state } = await prepare({ type: 'url+tar', uri, checksum: xz.checksum('tool.tar.xz'), stripComponents: 1 })
    await xz.close()
    expect(contentOf(state)).toEqual(unpacked)
  })
})

describe('a source with another checksum', () => {
  it.each<[PackageSource['type'], keyof typeof blobs]>([
    ['url', 'tool'],
    ['url+tar', 'tool.tar.gz'],
    ['url+zip', 'tool.zip'],
  ])('is refused (%s), and nothing of it is in the store', async (type, path) => {
    const checksum = `sha256:${'0'.repeat(64)}`
    for (const command of ['prepare', 'plan', 'apply']) {
      const { code, said } = await machine.node(command, withSource({ type, uri: server.url(path), checksum }))
      expect(code).toBe(3)
      expect(said).toMatchObject({
        error: {
          code: 'input.invalid',
          problems: [{ code: 'source.checksum-mismatch', path: 'packageByNames.tool.source.checksum' }],
        },
      })
    }
    expect(machine.inStore()).toEqual([])
    expect(machine.current()).toBeNull()
  })
})
