import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProblemsError } from '../errors.ts'
import { realFiles } from '../files.ts'
import { lacks } from '../lacks.fake.ts'
import { findProgram } from '../run.ts'
import {
  arOf,
  cpioOf,
  debOf,
  type FakeEntry,
  gzip,
  paxHeader,
  plain,
  rpmOf,
  tarHeader,
  tarOf,
  type Writer,
  zipOf,
  zstd,
} from './archives.fake.ts'
import { type ArchiveFormat, type Extraction, extractArchive } from './extract.ts'
import { defaultLimits } from './limits.ts'

let base: string
let directory: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-archive-'))
  directory = join(base, 'into')
  mkdirSync(directory)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

async function unpack(format: ArchiveFormat, bytes: Uint8Array, more: Partial<Extraction> = {}) {
  const archive = join(base, 'archive')
  rmSync(directory, { recursive: true })
  mkdirSync(directory)
  writeFileSync(archive, bytes)
  await extractArchive({
    files: realFiles,
    format,
    archive,
    directory,
    stripComponents: 0,
    allowAbsoluteLinks: false,
    limits: defaultLimits,
    signal: new AbortController().signal,
    declaredAt: 'packageByNames.tool.source',
    ...more,
  })
}

async function refusalOf(format: ArchiveFormat, bytes: Uint8Array, more: Partial<Extraction> = {}) {
  const error = await unpack(format, bytes, more).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ProblemsError)) throw error ?? new Error('it was unpacked')
  expect(error.problems).toHaveLength(1)
  expect(error.problems[0]?.path).toBe('packageByNames.tool.source.uri')
  return error.problems[0]!
}

/** Every path below a directory with what it is: `bin/tool x content`, `lib -> usr/lib`. */
function listing(root: string, below = ''): string[] {
  return readdirSync(join(root, below))
    .sort()
    .flatMap(name => {
      const path = join(below, name)
      const stats = lstatSync(join(root, path))
      if (stats.isDirectory()) return [`${path}/`, ...listing(root, path)]
      if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(root, path))}`]
      return [`${path} ${stats.mode & 0o100 ? 'x' : '-'} ${readFileSync(join(root, path), 'utf8')}`]
    })
}

const formats: readonly (readonly [string, ArchiveFormat, Writer])[] = [
  ['tar', 'tar', tarOf],
  ['tar.gz', 'tar', entries => gzip(tarOf(entries))],
  ['tar.zst', 'tar', entries => zstd(tarOf(entries))],
  ['zip', 'zip', zipOf],
  ['zip64', 'zip', entries => zipOf(entries, { zip64: true })],
  ['stored zip', 'zip', entries => zipOf(entries, { deflate: false })],
  ['deb', 'deb', debOf],
  ['deb with gzip', 'deb', entries => debOf(entries, gzip)],
  ['deb without compression', 'deb', entries => debOf(entries, plain)],
  ['rpm', 'rpm', rpmOf],
  ['rpm with zstd', 'rpm', entries => rpmOf(entries, zstd)],
]

const tool: readonly FakeEntry[] = [
  { name: './', kind: 'directory' },
  { name: './bin/', kind: 'directory', mode: 0o755 },
  { name: './bin/tool', content: 'run', mode: 0o4755 },
  { name: './share/doc/readme.txt', content: 'read', mode: 0o640 },
  { name: './lib', kind: 'symlink', link: 'share/doc' },
  { name: './share/up', kind: 'symlink', link: '../bin/tool' },
]

describe.each(formats)('%s', (_, format, write) => {
  it('unpacks directories, files, exec bits and links', async () => {
    await unpack(format, write(tool))
    expect(listing(directory)).toEqual([
      'bin/',
      'bin/tool x run',
      'lib -> share/doc',
      'share/',
      'share/doc/',
      'share/doc/readme.txt - read',
      'share/up -> ../bin/tool',
    ])
  })

  it('takes no setuid bit along', async () => {
    await unpack(format, write(tool))
    expect(statSync(join(directory, 'bin/tool')).mode & 0o7000).toBe(0)
  })

  it('drops leading parts when told, and what has no more than those', async () => {
    const entries = [
      { name: 'tool-1.0/', kind: 'directory' },
      { name: 'tool-1.0/bin/tool', content: 'run', mode: 0o755 },
      { name: 'tool-1.0/bin/again', kind: 'symlink', link: 'tool' },
      { name: 'readme', content: 'gone' },
    ] as const
    await unpack(format, write(entries), { stripComponents: 1 })
    expect(listing(directory)).toEqual(['bin/', 'bin/again -> tool', 'bin/tool x run'])
  })

  it('lets the last of two files with one name win', async () => {
    await unpack(
      format,
      write([
        { name: 'a', content: 'longer than the second' },
        { name: './a', content: 'two' },
      ]),
    )
    expect(listing(directory)).toEqual(['a - two'])
  })

  it.each([
    ['../evil', 'archive.traversal'],
    ['a/../../evil', 'archive.traversal'],
    ['..', 'archive.traversal'],
    ['/etc/evil', 'archive.traversal'],
    ['//evil', 'archive.traversal'],
    ['a/..', 'archive.traversal'],
    [`${'a/'.repeat(64)}b`, 'archive.limit'],
    ['x'.repeat(256), 'archive.name-invalid'],
  ])('refuses the name %j', async (name, code) => {
    const problem = await refusalOf(
      format,
      write([
        { name: 'ok', content: 'x' },
        { name, content: 'evil' },
      ]),
    )
    expect(problem.code).toBe(code)
    expect(problem.reason).toContain(name.slice(0, 50))
    expect(readdirSync(base).sort()).toEqual(['archive', 'into'])
  })

  it.each([
    ['..', 'leads out'],
    ['../x', 'leads out'],
    ['a/../../x', 'leads out'],
    ['/etc/passwd', 'is absolute'],
    ['inner/../../..', 'leads out'],
    ['self', 'circle'],
  ])('refuses a link to %j and makes none', async (link, reason) => {
    const entries: FakeEntry[] = [
      { name: 'inner', kind: 'symlink', link: 'a/b' },
      { name: 'fine', kind: 'symlink', link: 'missing' },
      { name: 'self', kind: 'symlink', link },
    ]
    const problem = await refusalOf(format, write(entries))
    expect(problem).toMatchObject({ code: 'archive.link-escape', reason: expect.stringContaining(reason) })
    expect(problem.reason).toContain('"self"')
    expect(readdirSync(directory)).toEqual([])
  })

  it('refuses a link that escapes only through one that comes later', async () => {
    const entries: FakeEntry[] = [
      { name: 'a/up', kind: 'symlink', link: '../b/c/..' },
      { name: 'b/x', content: '' },
      { name: 'out', kind: 'symlink', link: 'a/up/c/../..' },
      { name: 'b/c', kind: 'symlink', link: '..' },
    ]
    expect(await refusalOf(format, write(entries))).toMatchObject({ code: 'archive.link-escape' })
  })

  it('keeps an absolute link as it is when that is allowed, as a leaf only', async () => {
    const entries: FakeEntry[] = [
      { name: 'run', kind: 'symlink', link: '/run/tool' },
      { name: 'same', kind: 'symlink', link: 'run' },
    ]
    await unpack(format, write(entries), { allowAbsoluteLinks: true })
    expect(listing(directory)).toEqual(['run -> /run/tool', 'same -> run'])
    const through: FakeEntry = { name: 'through', kind: 'symlink', link: 'run/../../x' }
    const problem = await refusalOf(format, write([...entries, through]), { allowAbsoluteLinks: true })
    expect(problem).toMatchObject({ code: 'archive.link-escape', reason: expect.stringContaining('"through"') })
  })

  it('writes nothing through a link, wherever that leads', async () => {
    for (const link of [base, '..', 'real']) {
      const entries: FakeEntry[] = [
        { name: 'real', kind: 'directory' },
        { name: 'door', kind: 'symlink', link },
        { name: 'door/evil', content: 'evil' },
      ]
      const problem = await refusalOf(format, write(entries), { allowAbsoluteLinks: true })
      expect(problem.code).toBe('archive.link-escape')
    }
    const swapped: FakeEntry[] = [
      { name: 'door', kind: 'symlink', link: '..' },
      { name: 'door', content: 'evil' },
    ]
    expect(await refusalOf(format, write(swapped))).toMatchObject({ code: 'archive.conflict' })
    expect(existsSync(join(base, 'evil'))).toBe(false)
  })

  it.each([
    [
      'a file then a directory',
      [
        { name: 'a', content: '' },
        { name: 'a/b', content: '' },
      ],
    ],
    [
      'a directory then a file',
      [
        { name: 'a/b', content: '' },
        { name: 'a', content: '' },
      ],
    ],
    [
      'a directory then a link',
      [
        { name: 'a/b', content: '' },
        { name: 'a', kind: 'symlink', link: 'b' },
      ],
    ],
    [
      'two different links',
      [
        { name: 'a', kind: 'symlink', link: 'b' },
        { name: 'a', kind: 'symlink', link: 'c' },
      ],
    ],
  ] as const)('refuses %s of one name', async (_case, entries) => {
    expect(await refusalOf(format, write(entries))).toMatchObject({ code: 'archive.conflict' })
  })

  it.each(['character-device', 'block-device', 'fifo'] as const)('refuses a %s', async kind => {
    const problem = await refusalOf(format, write([{ name: 'dev/evil', kind }]))
    expect(problem).toMatchObject({ code: 'archive.special-file', reason: expect.stringContaining('"dev/evil"') })
  })

  it.each(['\x1b[2Jx', 'a\nb'])('keeps the name %j legible in what it says', async name => {
    const problem = await refusalOf(format, write([{ name, kind: 'fifo' }]))
    expect(problem.reason).toContain(JSON.stringify(name))
  })

  it('stops at its caps', async () => {
    const many = Array.from({ length: 11 }, (_unused, index) => ({ name: `f${index}`, content: 'x' }))
    expect(await refusalOf(format, write(many), { limits: { ...defaultLimits, entries: 10 } })).toMatchObject({
      code: 'archive.limit',
      reason: expect.stringContaining('f10'),
    })
    const big = write([{ name: 'big', content: Buffer.alloc(100_000) }])
    expect(await refusalOf(format, big, { limits: { ...defaultLimits, bytes: 50_000 } })).toMatchObject({
      code: 'archive.limit',
    })
  })

  it('stops when it is told to', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(unpack(format, write(tool), { signal })).rejects.toThrow('enough')
  })

  it('says that it breaks off, wherever it is cut', async () => {
    const random = Buffer.alloc(3000)
    for (let at = 0; at < random.length; at++) random[at] = (at * 7919 + (at >> 3)) & 255
    const whole = write([...tool, { name: 'zeros', content: Buffer.alloc(2000) }, { name: 'random', content: random }])
    const cuts = Array.from({ length: Math.ceil(whole.length / 512) }, (_unused, index) => index * 512)
    for (const cut of [...cuts, whole.length - 2]) {
      const { code } = await refusalOf(format, whole.subarray(0, cut))
      expect([code, cut]).toEqual([cut === 0 && format === 'zip' ? 'archive.format' : 'archive.truncated', cut])
    }
  })

  it('leaves no file open when it is refused', async () => {
    const openFiles = () => readdirSync('/proc/self/fd').length
    const evil = write([...tool, { name: 'big', content: Buffer.alloc(1_000_000) }, { name: '../evil', content: 'x' }])
    await refusalOf(format, evil)
    const before = openFiles()
    for (let round = 0; round < 5; round++) await refusalOf(format, evil)
    await vi.waitFor(() => expect(openFiles()).toBeLessThanOrEqual(before))
  })

  it('is not taken for what it is not', async () => {
    const page = Buffer.from(`<!doctype html><title>Not found</title>${' '.repeat(2000)}`)
    expect(await refusalOf(format, page)).toMatchObject({ code: 'archive.format' })
    const other = format === 'tar' ? zipOf(tool) : tarOf(tool)
    expect(await refusalOf(format, other)).toMatchObject({ code: 'archive.format' })
  })
})

describe.each(formats.filter(([, format]) => format !== 'zip'))('hard links of %s', (_, format, write) => {
  it('are kept', async () => {
    const entries: FakeEntry[] = [
      { name: './bin/one', content: 'run', mode: 0o755 },
      { name: './bin/two', kind: 'hardlink', link: './bin/one', mode: 0o755 },
      { name: './three', kind: 'hardlink', link: './bin/one', mode: 0o755 },
    ]
    await unpack(format, write(entries))
    expect(listing(directory)).toEqual(['bin/', 'bin/one x run', 'bin/two x run', 'three x run'])
    expect(statSync(join(directory, 'three')).ino).toBe(statSync(join(directory, 'bin/one')).ino)
  })
})

describe('hard links of tar', () => {
  it.each([
    ['../../etc/passwd', 'archive.traversal'],
    ['/etc/passwd', 'archive.traversal'],
    ['missing', 'archive.link-missing'],
    ['link', 'archive.link-missing'],
    ['directory', 'archive.link-missing'],
    ['link/passwd', 'archive.link-missing'],
    ['two', 'archive.link-missing'],
  ])('cannot name %s', async (link, code) => {
    const entries: FakeEntry[] = [
      { name: 'directory', kind: 'directory' },
      { name: 'link', kind: 'symlink', link: 'directory' },
      { name: 'two', kind: 'hardlink', link },
    ]
    expect(await refusalOf('tar', tarOf(entries))).toMatchObject({ code })
  })

  it('name their file from the root of the archive, stripped like any name', async () => {
    const entries: FakeEntry[] = [
      { name: 'top/bin/one', content: 'run' },
      { name: 'top/two', kind: 'hardlink', link: 'top/bin/one' },
    ]
    await unpack('tar', tarOf(entries), { stripComponents: 1 })
    expect(listing(directory)).toEqual(['bin/', 'bin/one - run', 'two - run'])
  })

  it('are broken when a later file takes the name', async () => {
    const entries: FakeEntry[] = [
      { name: 'one', content: 'first' },
      { name: 'two', kind: 'hardlink', link: 'one' },
      { name: 'two', content: 'second' },
    ]
    await unpack('tar', tarOf(entries))
    expect(listing(directory)).toEqual(['one - first', 'two - second'])
  })
})

describe('an rpm', () => {
  it('keeps empty files with several names', async () => {
    await unpack('rpm', rpmOf([{ name: 'one' }, { name: 'two', kind: 'hardlink', link: 'one' }]))
    expect(listing(directory)).toEqual(['one - ', 'two - '])
  })

  it.each([
    ['07070X', 'archive.unsupported'],
    ['garbage', 'archive.format'],
  ])('with a payload that starts with %s is refused', async (start, code) => {
    const payload = (bytes: Buffer) => gzip(Buffer.concat([Buffer.from(start), bytes.subarray(start.length)]))
    expect(await refusalOf('rpm', rpmOf([{ name: 'a' }], payload))).toMatchObject({ code })
  })

  it('with a damaged field is refused', async () => {
    const payload = (bytes: Buffer) =>
      gzip(Buffer.from(bytes.toString('latin1').replace('00000001', 'zzzzzzzz'), 'latin1'))
    expect(await refusalOf('rpm', rpmOf([{ name: 'a' }], payload))).toMatchObject({ code: 'archive.format' })
    expect(cpioOf([]).length).toBeGreaterThan(110)
  })
})

describe('a deb', () => {
  it.each([
    ['without debian-binary', arOf([['data.tar', tarOf(tool)]]), 'archive.format'],
    ['of another version', arOf([['debian-binary', Buffer.from('3.0\n')]]), 'archive.format'],
    ['without data', arOf([['debian-binary', Buffer.from('2.0\n')]]), 'archive.truncated'],
  ])('%s is refused', async (_, bytes, code) => {
    expect(await refusalOf('deb', bytes)).toMatchObject({ code })
  })
})

describe('a tar', () => {
  it.each(['pax', 'gnu'] as const)('may have long names and link texts, the %s way', async longNames => {
    const long = `${'d'.repeat(90)}/${'e'.repeat(90)}/${'ü'.repeat(60)}`
    const entries: FakeEntry[] = [
      { name: long, content: 'deep' },
      { name: 'link', kind: 'symlink', link: long },
    ]
    await unpack('tar', tarOf(entries, { longNames }))
    expect(readFileSync(join(directory, long), 'utf8')).toBe('deep')
    expect(readlinkSync(join(directory, 'link'))).toBe(long)
  })

  it.each(['pax', 'gnu'] as const)('cannot hide an evil name in a long one, the %s way', async longNames => {
    const name = `${'d/'.repeat(60)}${'../'.repeat(62)}evil`
    expect(await refusalOf('tar', tarOf([{ name, content: '' }], { longNames }))).toMatchObject({
      code: 'archive.traversal',
    })
  })

  it('without its two blocks of zeros was cut, also when its last file ends in zeros', async () => {
    const bytes = tarOf([{ name: 'zeros', content: Buffer.alloc(4096) }], { trailer: false })
    expect(await refusalOf('tar', bytes)).toMatchObject({ code: 'archive.truncated' })
    expect(await refusalOf('tar', Buffer.concat([bytes, Buffer.alloc(512)]))).toMatchObject({
      code: 'archive.truncated',
    })
  })

  it.each([
    ['old GNU', tarHeader({ name: 'sparse', type: 'S', size: 0 })],
    ['PAX', Buffer.concat([paxHeader({ 'GNU.sparse.major': '1' }), tarHeader({ name: 'sparse', type: '0', size: 0 })])],
    ['multi-volume', tarHeader({ name: 'sparse', type: 'M', size: 0 })],
  ])('with a sparse or backup entry (%s) is refused', async (_, header) => {
    const problem = await refusalOf('tar', Buffer.concat([header, Buffer.alloc(1024)]))
    expect(problem).toMatchObject({ code: 'archive.unsupported', reason: expect.stringContaining('"sparse"') })
  })

  it('from before directories had a type is understood', async () => {
    const bytes = Buffer.concat([
      tarHeader({ name: 'bin/', type: '0', size: 0 }),
      tarOf([{ name: 'bin/a', content: 'x' }]),
    ])
    await unpack('tar', bytes)
    expect(listing(directory)).toEqual(['bin/', 'bin/a - x'])
  })

  it('whose names are not UTF-8 is refused rather than renamed', async () => {
    const bytes = tarOf([{ name: 'caf?', content: '' }])
    const name = Buffer.from('caf\xe9', 'latin1')
    name.copy(bytes)
    bytes.write('        ', 148, 'latin1')
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0)
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
    expect(await refusalOf('tar', bytes)).toMatchObject({ code: 'archive.name-invalid' })
  })

  it.each([
    ['bzip2', Buffer.from('BZh91AY&SY')],
    ['lzma', Buffer.from([0x5d, 0, 0, 0x80, 0, 0xff])],
  ])('in %s is refused with what to use instead', async (_, bytes) => {
    expect(await refusalOf('tar', bytes)).toMatchObject({ code: 'archive.unsupported', hint: expect.any(String) })
  })

  it('whose compressed bytes are damaged is refused', async () => {
    const bytes = gzip(tarOf(tool))
    bytes[bytes.length - 6]! ^= 0xff
    expect(await refusalOf('tar', bytes)).toMatchObject({ code: 'archive.format' })
  })

  it('that is a bomb stops early', async () => {
    const bytes = zstd(Buffer.concat([tarHeader({ name: 'bomb', type: '0', size: 2 ** 26 }), Buffer.alloc(2 ** 26)]))
    const limits = { ...defaultLimits, ratioFrom: 2 ** 20 }
    expect(await refusalOf('tar', bytes, { limits })).toMatchObject({ code: 'archive.limit' })
    expect(statSync(join(directory, 'bomb')).size).toBeLessThan(2 ** 24)
  })
})

describe('a zip', () => {
  it('made on Windows has its backslashes turned, and cannot escape by them', async () => {
    await unpack('zip', zipOf([{ name: 'bin\\tool.exe', content: 'run' }]))
    expect(listing(directory)).toEqual(['bin/', 'bin/tool.exe - run'])
    expect(await refusalOf('zip', zipOf([{ name: '..\\evil', content: '' }]))).toMatchObject({
      code: 'archive.traversal',
    })
  })

  it('may have modes without a kind', async () => {
    const bytes = zipOf([
      { name: 'tool', content: 'run' },
      { name: 'bin/', kind: 'directory' },
    ])
    bytes.writeUInt32LE((0o755 << 16) >>> 0, bytes.indexOf('PK\x01\x02') + 38)
    await unpack('zip', bytes)
    expect(listing(directory)).toEqual(['bin/', 'tool x run'])
  })

  it('whose bytes do not have their checksum is refused', async () => {
    const bytes = zipOf([{ name: 'a', content: 'aaaa' }], { deflate: false })
    bytes.write('bbbb', bytes.indexOf('aaaa'))
    expect(await refusalOf('zip', bytes)).toMatchObject({
      code: 'archive.format',
      reason: expect.stringContaining('"a"'),
    })
  })

  it('that gives more than it announces is refused', async () => {
    const bytes = zipOf([{ name: 'a', content: Buffer.alloc(1000) }])
    const central = bytes.indexOf('PK\x01\x02')
    bytes.writeUInt32LE(10, central + 24)
    expect(await refusalOf('zip', bytes)).toMatchObject({ code: 'archive.format' })
  })

  it('with an encrypted entry or an unknown method is refused', async () => {
    const encrypted = zipOf([{ name: 'a', content: 'x' }])
    encrypted.writeUInt16LE(0x801, encrypted.indexOf('PK\x01\x02') + 8)
    expect(await refusalOf('zip', encrypted)).toMatchObject({ code: 'archive.unsupported' })
    const method = zipOf([{ name: 'a', content: 'x' }])
    method.writeUInt16LE(93, method.indexOf('PK\x01\x02') + 10)
    expect(await refusalOf('zip', method)).toMatchObject({ code: 'archive.unsupported' })
  })

  it('whose entries share one bomb stops by what comes out', async () => {
    const bytes = zipOf([{ name: 'bomb', content: Buffer.alloc(2 ** 24) }])
    const limits = { ...defaultLimits, ratioFrom: 2 ** 20 }
    expect(await refusalOf('zip', bytes, { limits })).toMatchObject({
      code: 'archive.limit',
      reason: expect.stringContaining('"bomb"'),
    })
  })
})

describe('archives of the real programs', () => {
  const program = (name: string) => findProgram(name) ?? ''
  function sources(): string {
    const root = join(base, 'source')
    mkdirSync(join(root, 'bin'), { recursive: true })
    writeFileSync(join(root, 'bin/tool'), 'run', { mode: 0o755 })
    writeFileSync(join(root, 'data'), Buffer.alloc(100_000, 'data'))
    return root
  }

  it.skipIf(lacks('xz') || lacks('tar'))('tar with xz, whole and cut (needs tar and xz)', async () => {
    const root = sources()
    const tar = execFileSync(program('tar'), ['-C', root, '-c', '.'])
    const bytes = execFileSync(program('xz'), ['-c'], { input: tar })
    await unpack('tar', bytes)
    expect(listing(directory).map(line => line.slice(0, 20))).toEqual([
      'bin/',
      'bin/tool x run',
      `data - ${'data'.repeat(4).slice(0, 13)}`,
    ])
    for (const cut of [6, 100, bytes.length - 1]) {
      expect(await refusalOf('tar', bytes.subarray(0, cut))).toMatchObject({ code: 'archive.truncated' })
    }
    bytes[bytes.length >> 1]! ^= 0xff
    expect(await refusalOf('tar', bytes)).toMatchObject({ code: 'archive.format' })
  })

  it.skipIf(lacks('xz'))('xz, ended when its archive is refused (needs xz)', async () => {
    const xz = (bytes: Buffer) => execFileSync(program('xz'), ['-0', '-c'], { input: bytes, maxBuffer: 2 ** 24 })
    const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    const evil: FakeEntry[] = [
      { name: '../evil', content: '' },
      { name: 'big', content: randomBytes(1_000_000) },
    ]
    for (const [format, bytes] of [
      ['tar', xz(tarOf(evil))],
      ['rpm', rpmOf(evil, xz)],
      ['deb', debOf(evil, xz)],
    ] as const) {
      expect(await refusalOf(format, bytes)).toMatchObject({ code: 'archive.traversal' })
      await vi.waitFor(() => expect(children()).toBe(''))
    }
  })

  it.skipIf(lacks('zip'))('zip with links (needs zip)', async () => {
    const root = sources()
    symlinkSync('bin/tool', join(root, 'link'))
    execFileSync(program('zip'), ['-qry', join(base, 'real.zip'), '.'], { cwd: root })
    await unpack('zip', readFileSync(join(base, 'real.zip')))
    expect(listing(directory).map(line => line.slice(0, 16))).toEqual([
      'bin/',
      'bin/tool x run',
      'data - datadatad',
      'link -> bin/tool',
    ])
  })

  it.skipIf(lacks('dpkg-deb'))('deb in each compression (needs dpkg-deb)', async () => {
    const root = sources()
    mkdirSync(join(root, 'DEBIAN'))
    writeFileSync(
      join(root, 'DEBIAN/control'),
      'Package: tool\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: x\n',
    )
    for (const compression of ['none', 'gzip', 'xz']) {
      execFileSync(
        program('dpkg-deb'),
        ['--root-owner-group', `-Z${compression}`, '-b', root, join(base, 'real.deb')],
        { stdio: 'ignore' },
      )
      await unpack('deb', readFileSync(join(base, 'real.deb')))
      expect(listing(directory).map(line => line.slice(0, 16))).toEqual(['bin/', 'bin/tool x run', 'data - datadatad'])
    }
  })

  it.skipIf(lacks('rpmbuild'))('rpm in each compression (needs rpmbuild)', async () => {
    for (const payload of ['w9.gzdio', 'w6.xzdio', 'w3.zstdio']) {
      await unpack('rpm', buildRpm(payload))
      expect(listing(directory)).toEqual([
        'opt/',
        'opt/tool/',
        'opt/tool/empty - ',
        'opt/tool/link -> tool',
        'opt/tool/other x run',
        'opt/tool/tool x run',
      ])
      expect(statSync(join(directory, 'opt/tool/other')).ino).toBe(statSync(join(directory, 'opt/tool/tool')).ino)
    }
  })

  function buildRpm(payload: string): Buffer {
    const spec = `Name: tool
Version: 1
Release: 1
Summary: x
License: x
BuildArch: noarch
%define _binary_payload ${payload}
%description
x
%install
mkdir -p %{buildroot}/opt/tool
printf run > %{buildroot}/opt/tool/tool
chmod 755 %{buildroot}/opt/tool/tool
ln %{buildroot}/opt/tool/tool %{buildroot}/opt/tool/other
ln -s tool %{buildroot}/opt/tool/link
touch %{buildroot}/opt/tool/empty
%files
/opt/tool
`
    writeFileSync(join(base, 'tool.spec'), spec)
    execFileSync(program('rpmbuild'), ['-bb', '--define', `_topdir ${base}/rpm`, join(base, 'tool.spec')], {
      stdio: 'ignore',
    })
    return readFileSync(join(base, 'rpm/RPMS/noarch/tool-1-1.noarch.rpm'))
  }
})
