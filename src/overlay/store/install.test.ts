import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakeDoor, fakeDoor } from '../../content/door.fake.ts'
import { answer, cutAfter, type LyingServer, lyingServer, serve, stallAfter } from '../../content/lying-server.fake.ts'
import { debOf, type FakeEntry, gzip, rpmOf, tarOf, zipOf, zstd } from '../../lib/archive/archives.fake.ts'
import { ProblemsError } from '../../lib/errors.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { silentProgress } from '../../lib/progress.ts'
import type { PackageSource } from '../../resources/overlay-config.ts'
import { statePath } from '../layout.ts'
import { isStateName, type StateName } from '../names.ts'
import { stateNameOf } from './fingerprint.ts'
import { installAll, installPackage, type Store } from './install.ts'
import { readListing } from './listing.ts'
import type { Package } from './package.ts'
import { readRecord, recordPath } from './record.ts'
import { sourcePackage } from './source.ts'
import { makeStore, type TestStore, testStateName } from './store.fake.ts'
import { hashTree } from './tree.ts'

let test: TestStore
let store: Store
const warnings: Warning[] = []
const servers: LyingServer[] = []
let door: FakeDoor

beforeEach(() => {
  test = makeStore()
  door = fakeDoor()
  warnings.length = 0
  store = storeWith({})
})
afterEach(async () => {
  test.remove()
  await Promise.all(servers.splice(0).map(server => server.close()))
})

const storeWith = (changes: Partial<Store>): Store => ({
  files: test.files,
  layout: test.layout,
  content: door,
  progress: silentProgress,
  signal: new AbortController().signal,
  protect: async () => {},
  warn: warning => void warnings.push(warning),
  ...changes,
})

function sourceOf(source: PackageSource, name = 'tool', version = 1): Package {
  const { layout } = test
  const made = sourcePackage({
    files: test.files,
    name,
    config: { version: String(version), source },
    declaredAt: `packageByNames.${name}`,
    baseDirectory: layout.prefix,
    requireChecksums: false,
  })
  expect(made.problems).toEqual([])
  return made.package!
}

const packageOf = (name: string, build: Package['build'], changes: Partial<Package> = {}): Package => ({
  kind: 'source',
  name,
  version: '1',
  inputs: name,
  references: [],
  build,
  ...changes,
})

const fileUrl = (name: string, bytes: Uint8Array) => {
  const path = join(test.root, name)
  writeFileSync(path, bytes)
  return pathToFileURL(path).href
}

/** Directories in states/ that are not states, and content that nobody let go of. */
const leftovers = () => [
  ...readdirSync(test.layout.states).filter(name => !isStateName(name)),
  ...(door.held > 0 ? [`${door.held} blobs held`] : []),
]

function listing(root: string, below = ''): string[] {
  return readdirSync(join(root, below))
    .sort()
    .flatMap(name => {
      const path = join(below, name)
      const stats = lstatSync(join(root, path))
      const mode = (stats.mode & 0o7777).toString(8)
      if (stats.isDirectory()) return [`${path}/ ${mode} ${stats.mtimeMs}`, ...listing(root, path)]
      if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(root, path))} ${stats.mtimeMs}`]
      return [`${path} ${mode} ${stats.mtimeMs} ${readFileSync(join(root, path), 'utf8')}`]
    })
}

async function problemsOf(promise: Promise<unknown>): Promise<readonly Problem[]> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ProblemsError)) throw error ?? new Error('nothing was refused')
  return error.problems
}

const entries: readonly FakeEntry[] = [
  { name: 'bin/tool', content: 'run', mode: 0o4755 },
  { name: 'share/readme', content: 'read', mode: 0o600 },
  { name: 'latest', kind: 'symlink', link: 'bin/tool' },
]
const unpacked = [
  'bin/ 555 1000',
  'bin/tool 555 1000 run',
  'latest -> bin/tool 1000',
  'share/ 555 1000',
  'share/readme 444 1000 read',
]

describe('an installed state', () => {
  it.each([
    ['url+tar', tarOf(entries)],
    ['url+tar', gzip(tarOf(entries))],
    ['url+tar', zstd(tarOf(entries))],
    ['url+zip', zipOf(entries)],
    ['url+deb', debOf(entries)],
    ['url+rpm', rpmOf(entries)],
  ] as const)('from %s is read-only, without times and special bits', async (type, bytes) => {
    const server = await lyingServer(serve(bytes))
    servers.push(server)
    const installed = await installPackage(store, sourceOf({ type, uri: `${server.url}/tool` }))
    expect(installed).toMatchObject({ kind: 'source', name: 'tool', version: '1', fresh: true })
    expect(listing(statePath(test.layout, installed.state))).toEqual(unpacked)
    expect(lstatSync(statePath(test.layout, installed.state)).mode & 0o7777).toBe(0o555)
    expect(leftovers()).toEqual([])
  })

  it('holds what it was built from until its record is written, so that a crash before costs no second download', async () => {
    const heldAt: [string, number][] = []
    const files = {
      ...test.files,
      rename: (from: string, to: string) => {
        heldAt.push([dirname(to), door.held])
        test.files.rename(from, to)
      },
    }
    const uri = fileUrl('tar', tarOf(entries))
    await installPackage(storeWith({ files }), sourceOf({ type: 'url+tar', uri }))
    expect(heldAt.filter(([, held]) => held === 0)).toEqual([])
    expect(heldAt.map(([directory]) => directory)).toEqual(
      expect.arrayContaining([test.layout.states, test.layout.records]),
    )
    expect(leftovers()).toEqual([])
  })

  it('from a directory is the same as from an archive of it', async () => {
    const from = join(test.root, 'from')
    for (const directory of ['bin', 'share']) mkdirSync(join(from, directory), { recursive: true })
    writeFileSync(join(from, 'bin/tool'), 'run')
    chmodSync(join(from, 'bin/tool'), 0o4755)
    writeFileSync(join(from, 'share/readme'), 'read', { mode: 0o600 })
    symlinkSync('bin/tool', join(from, 'latest'))
    const one = await installPackage(store, sourceOf({ type: 'file', uri: 'from' }))
    expect(listing(statePath(test.layout, one.state))).toEqual(unpacked)
    const two = await installPackage(store, sourceOf({ type: 'url+tar', uri: fileUrl('tar', tarOf(entries)) }))
    expect(two.record.contentSha256).toBe(one.record.contentSha256)
    expect(leftovers()).toEqual([])
  })

  it('from a single file has it at its path, in its mode', async () => {
    const uri = fileUrl('blob', Buffer.from('bytes'))
    const sources: [PackageSource, string[]][] = [
      [{ type: 'url', uri }, ['bin/ 555 1000', 'bin/tool 555 1000 bytes']],
      [{ type: 'file', uri, path: 'a/b', mode: '0644' }, ['a/ 555 1000', 'a/b 444 1000 bytes']],
      [{ type: 'inline', content: 'text', path: 'motd', mode: '0600' }, ['motd 444 1000 text']],
    ]
    for (const [source, expected] of sources) {
      const { state, record } = await installPackage(store, sourceOf(source))
      expect(listing(statePath(test.layout, state))).toEqual(expected)
      expect(record.sourceSha256).toMatch(/^[0-9a-f]{64}$/)
    }
  })

  it('has a record of all that is known of it, and a listing', async () => {
    const mentioned = test.addState('mentioned').state
    const declared = testStateName('declared')
    const pkg = packageOf(
      'app',
      async directory => {
        writeFileSync(join(directory, 'config'), `path = /cairn/states/${mentioned}/bin`)
        symlinkSync(`../${testStateName('unknown')}`, join(directory, 'link'))
        return {}
      },
      { references: [declared], inputs: { any: 'thing' } },
    )
    const { state, record } = await installPackage(store, pkg)
    const { contentSha256 } = hashTree(test.files, statePath(test.layout, state))
    expect(record).toEqual({
      schema: 1,
      state: stateNameOf(pkg),
      kind: 'source',
      name: 'app',
      version: '1',
      inputs: { any: 'thing' },
      contentSha256,
      size: readFileSync(test.pathIn(state, 'config')).length,
      entries: 2,
      references: [declared, mentioned],
    })
    expect(readRecord(test.files, test.layout, state, store.warn)).toEqual(record)
    expect([...(readListing(test.files, test.layout, record)?.keys() ?? [])]).toEqual(['config', 'link'])
  })

  it('finds the states that a directory source mentions', async () => {
    const { state: mentioned } = test.addState('mentioned')
    mkdirSync(join(test.root, 'from'))
    writeFileSync(join(test.root, 'from/config'), mentioned)
    const { record } = await installPackage(store, sourceOf({ type: 'file', uri: 'from' }))
    expect(record.references).toEqual([mentioned])
  })
})

describe('installing again', () => {
  it('does nothing when there is a valid record', async () => {
    const pkg = sourceOf({ type: 'inline', content: 'x' })
    const first = await installPackage(store, pkg)
    const files = faultyFiles(test.files)
    const again = await installPackage(storeWith({ files }), pkg)
    expect(again).toEqual({ ...first, fresh: false })
    expect(files.log).toEqual([])
  })

  it.each([
    ['without a record', (state: StateName) => test.files.unlink(recordPath(test.layout, state)), []],
    [
      'with a corrupt record',
      (state: StateName) => writeFileSync(recordPath(test.layout, state), '{'),
      ['record.corrupt'],
    ],
  ] as const)('replaces a state %s', async (_, damage, codes) => {
    const pkg = sourceOf({ type: 'inline', content: 'right', path: 'file' })
    const { state, record } = await installPackage(store, pkg)
    chmodSync(test.pathIn(state, 'file'), 0o644)
    writeFileSync(test.pathIn(state, 'file'), 'wrong')
    damage(state)
    const again = await installPackage(store, pkg)
    expect(again).toMatchObject({ fresh: true, record })
    expect(readFileSync(test.pathIn(state, 'file'), 'utf8')).toBe('right')
    expect(warnings.map(warning => warning.code)).toEqual(codes)
    expect(readdirSync(test.layout.trash)).toEqual([])
  })

  it('replaces a file that stands where a state belongs', async () => {
    const pkg = sourceOf({ type: 'inline', content: 'x' })
    writeFileSync(statePath(test.layout, stateNameOf(pkg)), 'rubbish')
    expect(await installPackage(store, pkg)).toMatchObject({ fresh: true })
    expect(lstatSync(statePath(test.layout, stateNameOf(pkg))).isDirectory()).toBe(true)
  })

  it('asks for protection before it looks for the record', async () => {
    const order: string[] = []
    const files = {
      ...test.files,
      readFile: (path: string) => {
        order.push('look')
        return test.files.readFile(path)
      },
    }
    const protect = async (states: readonly StateName[]) => {
      await delay(5)
      order.push(`protect ${states}`)
    }
    const pkg = sourceOf({ type: 'inline', content: 'x' })
    await installPackage(storeWith({ files, protect }), pkg)
    expect(order[0]).toBe(`protect ${stateNameOf(pkg)}`)
    expect(order[1]).toBe('look')
  })
})

describe('many at once', () => {
  it('builds one state once, however many want it', async () => {
    let built = 0
    const pkg = packageOf('slow', async () => {
      built++
      await delay(10)
      return {}
    })
    const results = await Promise.all([1, 2, 3].map(() => installPackage(store, pkg)))
    expect(built).toBe(1)
    expect(results.map(result => result.fresh)).toEqual([true, false, false])
    expect(await installAll(store, [pkg, pkg])).toMatchObject([{ fresh: false }, { fresh: false }])
  })

  it('keeps the order, and never builds more at once than allowed', async () => {
    let running = 0
    let most = 0
    const packages = Array.from({ length: 9 }, (_, index) =>
      packageOf(`p${index}`, async () => {
        most = Math.max(most, ++running)
        await delay(5)
        running--
        return {}
      }),
    )
    const installed = await installAll(store, packages, { concurrency: 3 })
    expect(installed.map(({ name }) => name)).toEqual(packages.map(({ name }) => name))
    expect(most).toBe(3)
  })

  it('stops the rest when one fails, tells only what went wrong by itself, and leaves nothing', async () => {
    const problem = (name: string): Problem => ({ code: 'source.not-found', path: name, reason: 'x' })
    const fail = (name: string) =>
      packageOf(name, async directory => {
        writeFileSync(join(directory, 'half'), '')
        await delay(5)
        throw new ProblemsError([problem(name)])
      })
    let aborted = 0
    const endless = packageOf('endless', (directory, { signal }) => {
      writeFileSync(join(directory, 'half'), '')
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted++
          reject(signal.reason)
        }),
      )
    })
    const never = packageOf('never', async () => {
      throw new Error('must not be built')
    })
    const packages = [endless, fail('a'), fail('b'), fail('a'), never]
    const problems = await problemsOf(installAll(store, packages, { concurrency: 3 }))
    expect(problems).toEqual([problem('a'), problem('b')])
    expect(aborted).toBe(1)
    expect(leftovers()).toEqual([])
    expect(readdirSync(test.layout.records)).toEqual([])
  })

  it('tells a failure that nobody expected rather than any problem', async () => {
    const packages = [
      packageOf('a', async () => {
        throw new ProblemsError([])
      }),
      packageOf('b', async () => {
        throw new TypeError('a defect')
      }),
    ]
    await expect(installAll(store, packages)).rejects.toThrow('a defect')
  })

  it('can be aborted, and leaves nothing', async () => {
    const controller = new AbortController()
    const server = await lyingServer(stallAfter(10, Buffer.alloc(1000)))
    servers.push(server)
    const pkg = sourceOf({ type: 'url+tar', uri: `${server.url}/tool` })
    const installing = installAll(storeWith({ signal: controller.signal }), [pkg])
    setTimeout(() => controller.abort(new Error('enough')), 30)
    await expect(installing).rejects.toThrow('enough')
    expect(readdirSync(test.layout.states)).toEqual([])
    expect(readdirSync(test.layout.records)).toEqual([])
  })
})

describe('a source that lies', () => {
  const whole = gzip(tarOf(entries))
  it.each([
    ['breaks off', cutAfter(20, whole, {}), 'source.truncated'],
    ['sends a page', answer(200, {}, '<html>sorry</html>'), 'archive.format'],
    ['sends half of it as if it were whole', serve(whole.subarray(0, 60)), 'archive.truncated'],
    ['sends an archive that climbs out', serve(tarOf([{ name: '../../evil', content: 'x' }])), 'archive.traversal'],
    [
      'sends a link and a file behind it',
      serve(tarOf([{ name: 'a', kind: 'symlink', link: '..' }, { name: 'a/b' }])),
      'archive.link-escape',
    ],
  ] as const)('and %s leaves no state, no record and no temporary file', async (_, behaviour, code) => {
    const server = await lyingServer(behaviour)
    servers.push(server)
    const problems = await problemsOf(installAll(store, [sourceOf({ type: 'url+tar', uri: `${server.url}/tool` })]))
    expect(problems).toMatchObject([{ code, path: 'packageByNames.tool.source.uri' }])
    expect(readdirSync(test.layout.states)).toEqual([])
    expect(readdirSync(test.layout.records)).toEqual([])
    expect(existsSync(join(test.root, 'cairn/evil'))).toBe(false)
  })

  it('and has another checksum is not unpacked', async () => {
    const checksum = `sha256:${'0'.repeat(64)}`
    const pkg = sourceOf({ type: 'url+tar', uri: fileUrl('tar', whole), checksum })
    expect(await problemsOf(installPackage(store, pkg))).toMatchObject([{ code: 'source.checksum-mismatch' }])
    expect([...leftovers(), ...readdirSync(test.layout.records)]).toEqual([])
  })

  it('and changes between the look and the copy is refused', async () => {
    mkdirSync(join(test.root, 'from'))
    writeFileSync(join(test.root, 'from/file'), 'one')
    const packages = [sourceOf({ type: 'file', uri: 'from' }), sourceOf({ type: 'file', uri: 'from/file' })]
    writeFileSync(join(test.root, 'from/file'), 'two')
    for (const pkg of packages)
      expect(await problemsOf(installPackage(store, pkg))).toMatchObject([{ code: 'source.changed' }])
    expect(leftovers()).toEqual([])
  })
})

describe('several processes', () => {
  interface Answer {
    readonly states?: StateName[]
    readonly failed?: string
  }

  async function race(uri: string): Promise<Answer[]> {
    const program = new URL('./install-child.fake.ts', import.meta.url)
    const children = Array.from({ length: 3 }, () => fork(program, [test.root, uri], { execArgv: [] }))
    await Promise.all(children.map(child => once(child, 'message')))
    const answers = children.map(child => once(child, 'message'))
    const exits = children.map(child => once(child, 'exit'))
    for (const child of children) child.send('go')
    await Promise.all(exits)
    return (await Promise.all(answers)).map(([answer]) => answer as Answer)
  }

  it('that install the same states at the same time all succeed, with one result, over leftovers too', async () => {
    const uri = fileUrl('tar', gzip(tarOf([...entries, { name: 'big', content: Buffer.alloc(300_000, 'x') }])))
    const states = [1, 2, 3, 4, 5].map(version => stateNameOf(sourceOf({ type: 'url+tar', uri }, 'tool', version)))
    for (const state of states.slice(0, 3)) {
      mkdirSync(statePath(test.layout, state))
      writeFileSync(test.pathIn(state, 'left'), 'over')
    }
    expect(await race(uri)).toEqual(Array(3).fill({ states }))
    expect(readdirSync(test.layout.states).filter(isStateName).sort()).toEqual([...states].sort())
    for (const state of states) {
      const record = readRecord(test.files, test.layout, state, store.warn)
      expect(record?.contentSha256).toBe(hashTree(test.files, statePath(test.layout, state)).contentSha256)
    }
    expect(leftovers()).toEqual(['.trash'])
    expect(readdirSync(test.layout.trash)).toEqual([])
  })
})
