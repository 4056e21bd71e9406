import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Files, realFiles } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import { findProgram } from '../../lib/run.ts'
import { hashTree, walkTree } from './tree.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-tree-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

let made = 0
/** Path to text; `-> x` is a link, `#!…` executable, null a directory. */
function tree(content: Record<string, string | Buffer | null>): string {
  const root = join(base, `tree${made++}`)
  mkdirSync(root)
  for (const [path, what] of Object.entries(content)) {
    const at = join(root, path)
    mkdirSync(what === null ? at : dirname(at), { recursive: true })
    if (typeof what === 'string' && what.startsWith('-> ')) symlinkSync(what.slice(3), at)
    else if (what !== null) writeFileSync(at, what, { mode: what.toString().startsWith('#!') ? 0o755 : 0o644 })
  }
  return root
}
const hashOf = (content: Record<string, string | Buffer | null>) => hashTree(realFiles, tree(content)).contentSha256

describe('hashTree', () => {
  it('hashes the lines that are documented, names in order', () => {
    const root = tree({ 'b/c': 'see', a: '#!run', 'b/ü': '-> ../a', d: null })
    const lines = [
      `x 1:a 5 ${sha256Hex('#!run')}\n`,
      'd 1:b\n',
      `f 3:b/c 3 ${sha256Hex('see')}\n`,
      'l 4:b/ü 4:../a\n',
      'd 1:d\n',
    ]
    const seen: string[] = []
    const summary = hashTree(realFiles, root, { line: text => seen.push(text) })
    expect(seen).toEqual(lines)
    expect(summary).toEqual({ contentSha256: sha256Hex(lines.join('')), size: 8, entries: 5 })
  })

  it('is the same for equal trees, whatever their times and other mode bits', () => {
    const root = tree({ a: 'x', 'd/b': '#!x' })
    chmodSync(join(root, 'a'), 0o600)
    chmodSync(join(root, 'd/b'), 0o4700)
    chmodSync(join(root, 'd'), 0o700)
    expect(hashTree(realFiles, root).contentSha256).toBe(hashOf({ 'd/b': '#!x', a: 'x' }))
  })

  it('is different for trees that differ in anything it covers', () => {
    const trees: Record<string, string | null>[] = [
      {},
      { a: '' },
      { a: null },
      { a: 'x' },
      { b: 'x' },
      { a: '-> x' },
      { a: '-> y' },
      { a: '#!' },
      { 'a/b': 'x' },
      { a: 'x', b: null },
      { 'a\nf 1:b 1 x': 'x' },
    ]
    expect(new Set(trees.map(hashOf)).size).toBe(trees.length)
  })

  it('reads a file larger than its buffer in pieces', () => {
    const big = Buffer.alloc(2.5 * 1024 * 1024, 'abc')
    const pieces: number[] = []
    const firsts: boolean[] = []
    const lines: string[] = []
    hashTree(realFiles, tree({ big, small: 'x' }), {
      bytes: (chunk, first) => {
        pieces.push(chunk.length)
        firsts.push(first)
      },
      line: text => lines.push(text),
    })
    expect(pieces).toEqual([1024 * 1024, 1024 * 1024, 512 * 1024, 1])
    expect(firsts).toEqual([true, false, false, true])
    expect(lines[0]).toBe(`f 3:big ${big.length} ${sha256Hex(big)}\n`)
  })

  it('is right when a read gives less than asked for', () => {
    const root = tree({ a: 'some text that comes in small pieces' })
    const slow: Files = { ...realFiles, read: (fd, into) => realFiles.read(fd, into.subarray(0, 5)) }
    expect(hashTree(slow, root)).toEqual(hashTree(realFiles, root))
  })

  it.each(['shorter', 'longer'])('says so when a file gets %s while it is read', how => {
    const root = tree({ a: 'content' })
    const changing: Files = {
      ...realFiles,
      fstat: fd => {
        const stats = realFiles.fstat(fd)
        writeFileSync(join(root, 'a'), how === 'shorter' ? 'c' : 'content and more')
        return stats
      },
    }
    expect(() => hashTree(changing, root)).toThrow(expect.objectContaining({ code: 'tree.changed' }))
  })

  it('names a special file and does not open it', () => {
    const root = tree({ a: 'x' })
    execFileSync(findProgram('mkfifo')!, [join(root, 'pipe')])
    const special: string[] = []
    hashTree(realFiles, root, { special: path => special.push(path) })
    expect(special).toEqual(['pipe'])
  })
})

describe('walkTree', () => {
  it('gives parents before children and follows no link', () => {
    const root = tree({ 'b/c/d': 'x', a: '-> b', 'b/a': null })
    expect([...walkTree(realFiles, root)]).toEqual([
      { path: 'a', kind: 'link' },
      { path: 'b', kind: 'directory' },
      { path: 'b/a', kind: 'directory' },
      { path: 'b/c', kind: 'directory' },
      { path: 'b/c/d', kind: 'file' },
    ])
  })
})
