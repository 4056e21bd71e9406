// Archives that want out of their package, or too much of the machine: each kind is refused with its code and the entry at
// fault, nothing of it is in the store, and nothing appears anywhere else.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  debOf,
  type FakeEntry,
  gzip,
  rpmOf,
  tarOf,
  type Writer,
  zipOf,
  zstd,
} from '../../src/lib/archive/archives.fake.ts'
import type { PackageSource } from '../../src/resources/overlay-config.ts'
import { type EtcSnapshot, snapshotTree } from '../machine/etc-snapshot.ts'
import { isNote, type RootlessMachine, rootlessMachine } from './rootless.ts'

let machine: RootlessMachine
let before: EtcSnapshot
beforeAll(async () => {
  machine = await rootlessMachine()
  machine.user.write('archive', '')
  machine.user.write('outside/file', 'mine')
  expect(await machine.node('apply', { version: 'v1' })).toMatchObject({ code: 0 })
  // So that the places for content, and for what is thrown away, are there already.
  await machine.node('prepare', configOf({ type: 'url', uri: `file://${join(machine.user.home, 'outside/file')}` }))
  await machine.node('gc')
  before = everything()
})
afterAll(() => machine?.user.remove())

/** All that the user could have written to, but for what each test brings. */
function everything(): EtcSnapshot {
  const isOwn = (path: string) => ['archive', 'overlay.json'].includes(path) || isNote(path.replace(/^machine\//, ''))
  return Object.fromEntries(Object.entries(snapshotTree(machine.user.home)).filter(([path]) => !isOwn(path)))
}

const configOf = (source: PackageSource) => ({ version: 'v1', packageByNames: { tool: { version: '1', source } } })

async function refusalOf(type: PackageSource['type'], bytes: Buffer) {
  const uri = `file://${machine.user.write('archive', bytes)}`
  const { code, said } = await machine.node<{ error: { problems: { code: string; path: string; reason: string }[] } }>(
    'apply',
    configOf({ type, uri }),
  )
  expect(everything()).toEqual(before)
  expect(code, JSON.stringify(said)).toBe(3)
  expect(said.error.problems).toMatchObject([{ path: 'packageByNames.tool.source.uri' }])
  return said.error.problems[0]!
}

const formats: readonly [PackageSource['type'], Writer][] = [
  ['url+tar', entries => gzip(tarOf(entries))],
  ['url+zip', zipOf],
  ['url+deb', debOf],
  ['url+rpm', rpmOf],
]
const deep = '../../../../outside/new'
const file = (name: string): FakeEntry => ({ name, content: 'x' })
const link = (name: string, to: string): FakeEntry => ({ name, kind: 'symlink', link: to })

/** What is in the archive, the code, and the entry that is named. */
const hostile: readonly [string, readonly FakeEntry[], string, string][] = [
  ['a name that climbs out', [file('bin/tool'), file(deep)], 'archive.traversal', deep],
  ['a name that climbs out and in again', [file('bin/../../tool')], 'archive.traversal', 'bin/../../tool'],
  ['an absolute name', [file('/tmp/cairn-escaped')], 'archive.traversal', '/tmp/cairn-escaped'],
  ['a link that leads out', [link('out', deep)], 'archive.link-escape', 'out'],
  ['an absolute link', [link('out', '/etc/passwd')], 'archive.link-escape', 'out'],
  [
    'a file through a link that leads out',
    [link('out', '../../../../outside'), file('out/new')],
    'archive.link-escape',
    'out',
  ],
  [
    'a file through a link that stays inside',
    [file('in/a'), link('in2', 'in'), file('in2/b')],
    'archive.link-escape',
    'in2/b',
  ],
  ['a device', [{ name: 'null', kind: 'character-device' }], 'archive.special-file', 'null'],
  ['a disk', [{ name: 'sda', kind: 'block-device' }], 'archive.special-file', 'sda'],
  ['a pipe', [{ name: 'pipe', kind: 'fifo' }], 'archive.special-file', 'pipe'],
  ['a path of a hundred levels', [file(`${'d/'.repeat(100)}x`)], 'archive.limit', 'd/d/'],
  ['a file that is also a directory', [file('a'), file('a/b')], 'archive.conflict', 'a'],
]

it.each(formats.flatMap(([type, write]) => hostile.map(([what, ...rest]) => [type, what, write, ...rest] as const)))(
  '%s with %s is refused, and nothing of it is anywhere',
  async (type, _, write, entries, code, entry) => {
    const problem = await refusalOf(type, write(entries))
    expect(problem.code).toBe(code)
    expect(problem.reason).toContain(entry)
  },
)

it.each<[PackageSource['type'], string, Buffer, string]>([
  [
    'url+tar',
    'a hard link to a file outside',
    tarOf([{ name: 'a', kind: 'hardlink', link: deep }]),
    'archive.traversal',
  ],
  ['url+tar', 'a hard link to nothing', tarOf([{ name: 'a', kind: 'hardlink', link: 'b' }]), 'archive.link-missing'],
  [
    'url+tar',
    'more than a thousand times its size',
    zstd(tarOf([{ name: 'zeros', content: Buffer.alloc(80 * 2 ** 20) }])),
    'archive.limit',
  ],
  ['url+tar', 'no end', gzip(tarOf([file('a'), file('b')], { trailer: false })).subarray(0, -20), 'archive.truncated'],
  ['url+zip', 'half of its bytes', zipOf([file('a')]).subarray(0, 40), 'archive.truncated'],
  ['url+deb', 'half of its bytes', debOf([file('a')]).subarray(0, 300), 'archive.truncated'],
  ['url+rpm', 'half of its bytes', rpmOf([file('a')]).subarray(0, 180), 'archive.truncated'],
  ['url+zip', 'the bytes of a tar', tarOf([file('a')]), 'archive.format'],
  ['url+tar', 'the bytes of a zip', zipOf([{ name: 'a', content: randomBytes(2048) }]), 'archive.format'],
  ['url+deb', 'no archive at all', Buffer.alloc(4096), 'archive.format'],
  ['url+rpm', 'no archive at all', Buffer.alloc(4096), 'archive.format'],
])('%s with %s is refused, and nothing of it is anywhere', async (type, _, bytes, code) => {
  expect((await refusalOf(type, bytes)).code).toBe(code)
})
