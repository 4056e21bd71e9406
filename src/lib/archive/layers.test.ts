import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProblemsError } from '../errors.ts'
import { realFiles } from '../files.ts'
import { type FakeEntry, gzip, tarOf, zstd } from './archives.fake.ts'
import { extractLayers, type Layer } from './layers.ts'
import { defaultLimits } from './limits.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-layers-'))
  mkdirSync(join(base, 'into'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

async function unpacked(...layers: readonly (readonly FakeEntry[])[]): Promise<Record<string, string>> {
  const written = layers.map((entries, index): Layer => {
    const path = join(base, `layer-${index}`)
    writeFileSync(path, [tarOf, gzipped, zstded][index % 3]!(entries))
    return { tar: path }
  })
  await extract(written)
  return listing(join(base, 'into'))
}

const extract = (layers: readonly Layer[]) =>
  extractLayers({
    files: realFiles,
    layers,
    directory: join(base, 'into'),
    stripComponents: 0,
    allowAbsoluteLinks: false,
    limits: defaultLimits,
    signal: new AbortController().signal,
    declaredAt: 'packageByNames.tool.source',
  })

const gzipped = (entries: readonly FakeEntry[]) => gzip(tarOf(entries))
const zstded = (entries: readonly FakeEntry[]) => zstd(tarOf(entries))

function listing(root: string, below = ''): Record<string, string> {
  const found = readdirSync(join(root, below), { withFileTypes: true }).flatMap(entry => {
    const path = join(below, entry.name)
    if (entry.isDirectory()) return [[`${path}/`, ''], ...Object.entries(listing(root, path))]
    return [
      [path, entry.isSymbolicLink() ? `-> ${readlinkSync(join(root, path))}` : readFileSync(join(root, path), 'utf8')],
    ]
  })
  return Object.fromEntries(found)
}

const file = (name: string, content = name): FakeEntry => ({ name, content })
const directory = (name: string): FakeEntry => ({ name, kind: 'directory' })
const link = (name: string, text: string): FakeEntry => ({ name, kind: 'symlink', link: text })

describe('layers', () => {
  it('add to what is below them and replace it', async () => {
    expect(await unpacked([file('a', 'old'), file('b')], [file('a', 'new'), file('c')])).toEqual({
      a: 'new',
      b: 'b',
      c: 'c',
    })
  })

  it('turn a file into a directory, a directory into a file and a link into either', async () => {
    const lower = [file('f'), file('d/x/y'), link('l', 'f'), link('m', 'f')]
    const upper = [directory('f'), file('f/in'), file('d', 'flat'), file('l', 'plain'), directory('m')]
    expect(await unpacked(lower, upper)).toEqual({ 'f/': '', 'f/in': 'f/in', d: 'flat', l: 'plain', 'm/': '' })
  })

  it('take one name away, and all that is below it', async () => {
    const lower = [file('a/b/c'), file('a/d'), file('e')]
    expect(await unpacked(lower, [file('a/.wh.b', ''), file('.wh.e', '')])).toEqual({ 'a/': '', 'a/d': 'a/d' })
  })

  it('take away what is below, never what they have themselves, in any order of entries', async () => {
    const lower = [file('a/old')]
    for (const upper of [
      [file('a/new'), file('.wh.a', '')],
      [file('.wh.a', ''), file('a/new')],
    ]) {
      rmSync(join(base, 'into'), { recursive: true })
      mkdirSync(join(base, 'into'))
      expect(await unpacked(lower, upper)).toEqual({ 'a/': '', 'a/new': 'a/new' })
    }
  })

  it('empty a directory with the opaque mark, also the top one', async () => {
    const lower = [file('a/one'), file('a/deep/two'), file('b')]
    expect(await unpacked(lower, [file('a/.wh..wh..opq', ''), file('a/three')])).toEqual({
      'a/': '',
      'a/three': 'a/three',
      b: 'b',
    })
    rmSync(join(base, 'into'), { recursive: true })
    mkdirSync(join(base, 'into'))
    expect(await unpacked(lower, [file('.wh..wh..opq', ''), file('only')])).toEqual({ only: 'only' })
  })

  it('bring back what a layer between took away', async () => {
    expect(await unpacked([file('a', '1')], [file('.wh.a', '')], [file('a', '3')])).toEqual({ a: '3' })
  })

  it('may be plain files with a name', async () => {
    writeFileSync(join(base, 'blob'), 'wasm')
    await extract([{ file: join(base, 'blob'), name: 'lib/module.wasm', executable: false }])
    expect(listing(join(base, 'into'))).toEqual({ 'lib/': '', 'lib/module.wasm': 'wasm' })
  })

  it.each([
    ['reach out of the package by name', [file('../x')], 'archive.traversal'],
    ['take away what is not theirs', [file('../.wh.x', '')], 'archive.traversal'],
    ['take away a parent', [file('a/.wh...', '')], 'archive.traversal'],
    ['write through a link of a layer below', [file('l/x')], 'archive.link-escape'],
  ] as const)('do not %s', async (_, upper, code) => {
    const outcome = await unpacked([file('a/b'), link('l', 'a')], upper).catch(error => error)
    expect(outcome).toBeInstanceOf(ProblemsError)
    expect(outcome.problems[0].code).toBe(code)
  })
})
