// A container really runs from a volume; and what Cairn unpacks itself is what another tool unpacks.
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { FakeEntry } from '../../src/lib/archive/archives.fake.ts'
import { findProgram, run } from '../../src/lib/run.ts'
import { type RuntimeContext, runtimeContext } from '../../src/volumes/container/context.fake.ts'
import { type FakeLayer, writeImage } from '../../src/volumes/container/images.fake.ts'
import { openRuntime } from '../../src/volumes/container/kind.ts'
import { type ContainerRuntime, imageName } from '../../src/volumes/container/runtime.ts'
import { describeWith } from '../require.ts'
import { type RealContainerd, startContainerd } from './containerd.ts'

const signal = new AbortController().signal

async function must(program: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(findProgram(program)!, args, { timeoutMs: 60_000 })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout
}

async function volumeFrom(runtime: ContainerRuntime, context: RuntimeContext, layers: readonly FakeLayer[]) {
  const { content } = writeImage(context.layout.verified, { layers, config: { config: { Cmd: ['/bin/hello'] } } })
  const target = join(context.layout.volumes, 'web+app#1')
  await runtime.load({ name: imageName(content), content, signal })
  await runtime.makeRootfs({ target, image: imageName(content), content, signal })
  return target
}

describeWith(['root', 'containerd', 'ctr', 'runc', 'busybox'], 'a container from a volume', () => {
  let containerd: RealContainerd
  let context: RuntimeContext
  let runtime: ContainerRuntime

  beforeAll(async () => {
    containerd = await startContainerd()
  })
  afterAll(() => containerd.dispose())
  afterEach(async () => {
    await runtime.removeRootfs(join(context.layout.volumes, 'web+app#1'))
    context.dispose()
  })

  const directory = (name: string): FakeEntry => ({ name, kind: 'directory', mode: 0o755 })
  /** 24 layers: a shell, a script that the last layer replaces, and files between them. */
  const layers = (): FakeLayer[] => [
    {
      tar: [
        ...['bin/', 'proc/', 'dev/', 'sys/', 'etc/'].map(directory),
        { name: 'bin/busybox', content: readFileSync(findProgram('busybox')!), mode: 0o755 },
        { name: 'bin/sh', kind: 'symlink', link: '/bin/busybox' },
        { name: 'bin/hello', content: '#!/bin/sh\necho old\n', mode: 0o755 },
      ],
    },
    ...Array.from({ length: 22 }, (_, n) => ({ tar: [{ name: `etc/part-${n}`, content: `${n}\n` }] })),
    {
      compression: 'zstd',
      tar: [{ name: 'bin/hello', content: '#!/bin/sh\nset -- /etc/part-*\necho hello from $# parts\n', mode: 0o755 }],
    },
  ]

  it.each([['containerd'], ['directory']] as const)('runs with runc (%s)', async name => {
    context = runtimeContext(name === 'containerd' ? { connect: containerd.connect } : {})
    runtime = await openRuntime(context)
    expect(runtime.name).toBe(name)
    const target = await volumeFrom(runtime, context, layers())
    const { config } = JSON.parse(readFileSync(join(target, 'image-config.json'), 'utf8'))
    expect(await runcRun(context.base, join(target, 'rootfs'), config.Cmd)).toBe('hello from 22 parts\n')
  })
})

/** What the program prints in a container of its own. */
async function runcRun(base: string, rootfs: string, args: readonly string[]): Promise<string> {
  const bundle = join(base, 'bundle')
  mkdirSync(bundle)
  await must('runc', ['spec', '--bundle', bundle])
  const spec = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'))
  spec.process = { ...spec.process, args, terminal: false }
  spec.root = { path: rootfs, readonly: false }
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
  return must('runc', ['--root', join(base, 'runc'), 'run', '--bundle', bundle, `cairn-test-${process.pid}`])
}

describeWith(['root', 'umoci'], 'unpacking without a container runtime', () => {
  let base: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'cairn-umoci-'))
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  it('gives what umoci gives, for layers of every kind in random order', async () => {
    const parameters = {
      numRuns: Number(process.env.CAIRN_RUNS ?? 25),
      ...(process.env.CAIRN_SEED !== undefined && { seed: Number(process.env.CAIRN_SEED) }),
    }
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(layer, { minLength: 1, maxLength: 4 }), async tars => {
        const place = join(base, String(round++))
        mkdirSync(place)
        const context = runtimeContext()
        try {
          const runtime = await openRuntime(context)
          const target = await volumeFrom(
            runtime,
            context,
            tars.map(tar => ({ tar })),
          )
          const bundle = join(place, 'bundle')
          await must('umoci', ['unpack', '--image', `${context.layout.verified}:latest`, bundle])
          expect(treeOf(join(target, 'rootfs'))).toEqual(treeOf(join(bundle, 'rootfs')))
        } finally {
          context.dispose()
        }
      }),
      parameters,
    )
  })
})

const names = ['a', 'b', 'c', 'a/a', 'a/b', 'b/a', 'b/c', 'a/a/a', 'a/a/b', 'c/a/b']
const modes = [0o644, 0o600, 0o4755, 0o1777]
const entry: fc.Arbitrary<FakeEntry> = fc
  .record({
    name: fc.constantFrom(...names),
    kind: fc.constantFrom('file', 'file', 'directory', 'directory', 'symlink', 'hide', 'opaque'),
    mode: fc.constantFrom(...modes),
    content: fc.string({ maxLength: 20 }),
  })
  .map(({ name, kind, mode, content }): FakeEntry => {
    const [parent, last] = [name.slice(0, -1), name.slice(-1)]
    if (kind === 'hide') return { name: `${parent}.wh.${last}` }
    if (kind === 'opaque') return { name: `${name}/.wh..wh..opq` }
    if (kind === 'symlink') return { name, kind: 'symlink', link: `nowhere/${content.length}`, mode: 0o777 }
    if (kind === 'directory') return { name: `${name}/`, kind: 'directory', mode: mode | 0o700 }
    return { name, content, mode }
  })

/** As builders make them: directories come before what is in them, and nothing stands twice or below what is no directory. */
const layer = fc.uniqueArray(entry, { maxLength: 8, selector: ({ name }) => name.replace(/\/$/, '') }).map(entries => {
  const files = entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => name)
  const possible = entries.filter(({ name }) => !files.some(file => name !== file && name.startsWith(`${file}/`)))
  const parents = possible.flatMap(({ name }) => [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index + 1)))
  const implied = [...new Set(parents)].filter(name => !possible.some(entry => entry.name === name))
  const directories = implied.map((name): FakeEntry => ({ name, kind: 'directory', mode: 0o755 }))
  return [...possible, ...directories].toSorted((one, other) => (one.name < other.name ? -1 : 1))
})

function treeOf(root: string, below = ''): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = join(below, name)
    const stats = lstatSync(join(root, path))
    const owner = `${stats.uid}:${stats.gid} ${(stats.mode & 0o7777).toString(8)}`
    if (stats.isSymbolicLink()) tree[path] = `link ${readlinkSync(join(root, path))}`
    else if (stats.isFile()) {
      const hash = createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex')
      tree[path] = `file ${owner} ${stats.size} ${stats.mtimeMs} ${hash}`
    } else Object.assign(tree, { [path]: `directory ${owner}` }, treeOf(root, path))
  }
  return tree
}
