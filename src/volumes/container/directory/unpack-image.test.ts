import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakeEntry, paxHeader, tarHeader, tarOf } from '../../../lib/archive/archives.fake.ts'
import { removeTree } from '../../../lib/durable.ts'
import { realFiles } from '../../../lib/files.ts'
import { readImage } from '../image.ts'
import { type FakeLayer, writeImage } from '../images.fake.ts'
import { imageLimits, type Unpacking, unpackImage } from './unpack-image.ts'

let base: string
let rootfs: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-unpack-'))
  rootfs = join(base, 'rootfs')
  mkdirSync(rootfs)
  writeFileSync(join(base, 'outside'), 'untouched')
})
// Also what an image has closed to its owner.
afterEach(() => removeTree(realFiles, base))

const isRoot = process.getuid?.() === 0

async function unpack(layers: readonly (FakeLayer | readonly FakeEntry[])[], more: Partial<Unpacking> = {}) {
  const { content } = writeImage(join(base, 'layout'), {
    layers: layers.map(layer => ('tar' in layer ? layer : { tar: layer })),
  })
  const pathOf = (sha256: string) => content.blobs.find(blob => blob.sha256 === sha256)!.path!
  return unpackImage({
    files: realFiles,
    image: await readImage(content, sha256 => readFileSync(pathOf(sha256))),
    pathOf,
    directory: rootfs,
    limits: imageLimits,
    asRoot: isRoot,
    makeLinks: async links => {
      for (const { path, text } of links) symlinkSync(text, path)
    },
    signal: new AbortController().signal,
    ...more,
  })
}

const unpackOne = (...entries: FakeEntry[]) => unpack([entries])
/** Follows no link. */
const names = (below = ''): string[] =>
  readdirSync(join(rootfs, below), { withFileTypes: true })
    .flatMap(entry => [join(below, entry.name), ...(entry.isDirectory() ? names(join(below, entry.name)) : [])])
    .sort()
const text = (path: string) => readFileSync(join(rootfs, path), 'utf8')
const file = (name: string, content = 'content'): FakeEntry => ({ name, content })
const directory = (name: string): FakeEntry => ({ name, kind: 'directory', mode: 0o755 })
const link = (name: string, text: string): FakeEntry => ({ name, kind: 'symlink', link: text })

describe('a hostile layer', () => {
  afterEach(() => {
    expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('untouched')
    expect(readdirSync(base).sort()).toEqual(['layout', 'outside', 'rootfs'])
  })

  const refused: readonly [string, string, readonly FakeEntry[]][] = [
    ['goes up', 'archive.traversal', [file('../outside')]],
    ['goes up in the middle', 'archive.traversal', [directory('a'), file('a/../../outside')]],
    ['has an absolute name', 'archive.traversal', [file('/etc/passwd')]],
    ['replaces the root', 'archive.traversal', [link('./', '/etc')]],
    ['writes through a link that leads out', 'archive.link-escape', [link('a', '..'), file('a/outside')]],
    [
      'writes through a link in a link that leads out',
      'archive.link-escape',
      [link('a/b', '../..'), link('c', 'a/b'), file('c/outside')],
    ],
    ['writes through a circle of links', 'archive.link-escape', [link('a', 'b'), link('b', 'a'), file('a/x')]],
    ['makes a directory behind a link that leads out', 'archive.link-escape', [link('a', '../'), directory('a/new')]],
    ['hard links out by its name', 'archive.traversal', [{ name: 'a', kind: 'hardlink', link: '../outside' }]],
    ['hard links to an absolute name', 'archive.traversal', [{ name: 'a', kind: 'hardlink', link: '/etc/passwd' }]],
    [
      'hard links out through a link',
      'archive.link-escape',
      [link('a', '..'), { name: 'b', kind: 'hardlink', link: 'a/outside' }],
    ],
    ['hard links to nothing', 'archive.link-missing', [{ name: 'a', kind: 'hardlink', link: 'b' }]],
    ['hard links to a directory', 'archive.link-missing', [directory('b'), { name: 'a', kind: 'hardlink', link: 'b' }]],
    ['hard links to itself', 'archive.link-missing', [file('a'), { name: 'a', kind: 'hardlink', link: './a' }]],
    ['hides what is above', 'archive.traversal', [directory('a'), file('a/.wh...')]],
    ['hides the directory itself', 'archive.traversal', [directory('a'), file('a/.wh..')]],
    ['hides nothing by name', 'archive.traversal', [file('.wh.')]],
    ['hides through a link that leads out', 'archive.link-escape', [link('a', '..'), file('a/.wh.outside')]],
    ['empties through a link that leads out', 'archive.link-escape', [link('a', '..'), file('a/.wh..wh..opq')]],
    ['has a character device', 'archive.special-file', [{ name: 'null', kind: 'character-device' }]],
    ['has a block device', 'archive.special-file', [{ name: 'sda', kind: 'block-device' }]],
    ['has a fifo', 'archive.special-file', [{ name: 'pipe', kind: 'fifo' }]],
    ['puts something below a file', 'archive.conflict', [file('a'), file('a/b')]],
    ['has a name that is too long', 'archive.name-invalid', [file('a'.repeat(256))]],
    ['is deeper than any tree', 'archive.limit', [file(Array(200).fill('d').join('/'))]],
  ]
  it.each(refused)('that %s is refused', async (_, code, entries) => {
    await expect(unpackOne(...entries)).rejects.toMatchObject({ code })
  })

  it('that hides through a link of a lower layer is refused', async () => {
    await expect(unpack([[link('a', '..')], [file('a/.wh.outside')]])).rejects.toMatchObject({
      code: 'archive.link-escape',
    })
  })

  it('cannot reach the file system of the machine through an absolute link: that starts at the root of the image', async () => {
    await unpackOne(link('a', '/'), file('a/etc/made'))
    expect(names()).toEqual(['a', 'etc', 'etc/made'])
    expect(existsSync('/etc/made')).toBe(false)
  })

  it('that hides through an absolute link takes from the image, not from the machine', async () => {
    const victim = join(base, 'outside').slice(1)
    await unpack([[file(victim), link('a', '/')], [file(`a/${victim.replace(/outside$/, '.wh.outside')}`)]])
    expect(existsSync(join(rootfs, victim))).toBe(false)
  })

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('that is a %s bomb is stopped by its ratio', async (_, compress) => {
    const tar = Buffer.concat([tarHeader({ name: 'zeros', type: '0', size: 2 ** 23 }), Buffer.alloc(2 ** 23 + 1024)])
    const limits = { ...imageLimits, ratio: 100, ratioFrom: 2 ** 20 }
    await expect(unpack([{ tar, damage: () => compress(tar) }], { limits })).rejects.toMatchObject({
      code: 'archive.limit',
    })
  })

  it('that has more bytes than all layers may have together is stopped', async () => {
    const limits = { ...imageLimits, bytes: 10_000 }
    const layer = [file('a', 'x'.repeat(6000))]
    await expect(unpack([layer, [file('b', 'y'.repeat(6000))]], { limits })).rejects.toMatchObject({
      code: 'archive.limit',
    })
  })

  it('that has entries without end is stopped, however often it names the same one', async () => {
    const limits = { ...imageLimits, entries: 1000 }
    const entries = Array.from({ length: 2000 }, () => directory('a/'))
    await expect(unpack([entries], { limits })).rejects.toMatchObject({ code: 'archive.limit' })
  })

  it.each([['none'], ['gzip'], ['zstd']] as const)('that breaks off (%s) is refused', async compression => {
    const damage = (bytes: Buffer) => bytes.subarray(0, bytes.length - Math.ceil(bytes.length / 3))
    const layer: FakeLayer = { tar: [file('a'), file('b', 'x'.repeat(5000))], compression, damage }
    await expect(unpack([layer])).rejects.toThrow(/breaks off|unpacks to|damaged/)
  })

  it('that is no tar is refused', async () => {
    const layer: FakeLayer = { tar: Buffer.from('<html>'.repeat(200)) }
    await expect(unpack([layer])).rejects.toMatchObject({ code: 'archive.format' })
  })

  it('that lies about its uncompressed bytes is refused', async () => {
    await expect(unpack([{ tar: [file('a')], diffId: '0'.repeat(64) }])).rejects.toMatchObject({
      code: 'image.layer-mismatch',
    })
  })
})

describe('whiteouts', () => {
  it('hide what lower layers have, never what their own layer has, in any order of entries', async () => {
    const lower = [directory('d/'), file('d/lower'), file('d/both', 'lower'), directory('d/sub/'), file('d/sub/lower')]
    await unpack([lower, [file('d/both', 'upper'), file('d/sub/upper'), file('d/.wh..wh..opq')]])
    expect(names()).toEqual(['d', 'd/both', 'd/sub', 'd/sub/upper'])
    expect(text('d/both')).toBe('upper')
  })

  it('hide links, and files behind links, as they hide files', async () => {
    await unpack([
      [directory('real/'), file('real/a'), link('real/l', 'a'), link('way', 'real')],
      [file('way/.wh.a'), file('real/.wh.l')],
    ])
    expect(names()).toEqual(['real', 'way'])
  })

  it('of what is not there, and books of other drivers, change nothing', async () => {
    await unpack([[file('a')], [file('.wh.b'), file('c/.wh.d'), file('.wh..wh.plnk/1'), file('.wh..wh.aufs')]])
    expect(names()).toEqual(['a'])
  })
})

describe('layers on each other', () => {
  it('replace kinds: a directory by a file, a file by a directory, a link by either', async () => {
    await unpack([
      [directory('a/'), file('a/x'), file('b'), link('c', 'b'), link('d', 'a')],
      [file('a', 'now a file'), directory('b/'), file('b/y'), file('c', 'now a file'), directory('d/'), file('d/z')],
    ])
    expect(names()).toEqual(['a', 'b', 'b/y', 'c', 'd', 'd/z'])
    expect(text('c')).toBe('now a file')
  })

  it('make a directory of a file in a lower layer when something lies below it', async () => {
    await unpack([[file('a')], [file('a/b')]])
    expect(names()).toEqual(['a', 'a/b'])
  })

  it('put a file behind a link of a lower layer where the container will look for it', async () => {
    await unpack([
      [directory('run/'), link('var/run', '/run'), directory('usr/lib/'), link('lib', 'usr/lib')],
      [file('var/run/x'), file('lib/y')],
    ])
    expect(names()).toEqual(['lib', 'run', 'run/x', 'usr', 'usr/lib', 'usr/lib/y', 'var', 'var/run'])
    expect(readlinkSync(join(rootfs, 'var/run'))).toBe('/run')
  })

  it('keep links as they are, wherever they lead', async () => {
    await unpackOne(link('up', '../../../outside'), link('gone', '/no/such/file'))
    expect(readlinkSync(join(rootfs, 'up'))).toBe('../../../outside')
    expect(readlinkSync(join(rootfs, 'gone'))).toBe('/no/such/file')
  })

  it('link a hard link to a link once more', async () => {
    await unpackOne(link('a', 'target'), { name: 'b', kind: 'hardlink', link: 'a' })
    expect(readlinkSync(join(rootfs, 'b'))).toBe('target')
  })

  it('keep modes and times, also those of directories that close themselves', async () => {
    const fields = { mtime: '1234567890.5' }
    const tar = Buffer.concat([
      paxHeader(fields),
      tarHeader({ name: 'closed/', type: '5', size: 0, mode: 0o500 }),
      paxHeader(fields),
      tarHeader({ name: 'closed/suid', type: '0', size: 0, mode: 0o4711 }),
      tarHeader({ name: 'sticky/', type: '5', size: 0, mode: 0o1777 }),
      Buffer.alloc(1024),
    ])
    await unpack([{ tar }])
    const stat = (path: string) => lstatSync(join(rootfs, path))
    expect(stat('closed').mode & 0o7777).toBe(0o500)
    expect(stat('closed').mtimeMs).toBe(1234567890_500)
    expect(stat('closed/suid').mode & 0o7777).toBe(0o4711)
    expect(stat('closed/suid').mtimeMs).toBe(1234567890_500)
    expect(stat('sticky').mode & 0o7777).toBe(0o1777)
  })

  it.runIf(isRoot)('keep owners when root unpacks, large ones and those of links too', async () => {
    const tar = Buffer.concat([
      paxHeader({ uid: '3000000', gid: '42' }),
      tarHeader({ name: 'a', type: '0', size: 0, mode: 0o6755 }),
      paxHeader({ uid: '7', gid: '8' }),
      tarHeader({ name: 'l', type: '2', size: 0, link: 'a' }),
      Buffer.alloc(1024),
    ])
    await unpack([{ tar }])
    const stat = (path: string) => lstatSync(join(rootfs, path))
    expect(stat('a')).toMatchObject({ uid: 3_000_000, gid: 42 })
    expect(stat('a').mode & 0o7777).toBe(0o6755)
    expect(stat('l')).toMatchObject({ uid: 7, gid: 8 })
  })

  it('count what is lost: extended attributes, which Node cannot set', async () => {
    const tar = Buffer.concat([
      paxHeader({ 'SCHILY.xattr.security.capability': 'caps', 'SCHILY.xattr.user.note': 'hello' }),
      tarHeader({ name: 'ping', type: '0', size: 0 }),
      Buffer.alloc(1024),
    ])
    expect((await unpack([{ tar }])).lost).toEqual({ owners: 0, extended: 2 })
  })

  it('count the bytes on disk, a file with two names once', async () => {
    const { usedSize } = await unpackOne(file('a', 'x'.repeat(100_000)), { name: 'b', kind: 'hardlink', link: 'a' })
    expect(usedSize).toBeGreaterThanOrEqual(100_000)
    expect(usedSize).toBeLessThan(200_000)
  })

  it('read zstd that comes in many frames', async () => {
    const tar = tarOf([file('a', 'x'.repeat(3000)), file('b')])
    const frames = [tar.subarray(0, 1000), tar.subarray(1000)].map(part => zstdCompressSync(part))
    await unpack([{ tar, damage: () => Buffer.concat(frames) }])
    expect(text('a')).toBe('x'.repeat(3000))
  })

  it('stop when that is asked for', async () => {
    await expect(unpack([[file('a')]], { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  })
})
