import { mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeTree } from '../../lib/durable.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import { copySealed, sealTree, syncTree } from './seal.ts'
import { testStateName } from './store.fake.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-seal-'))
})
afterEach(() => removeTree(realFiles, base))

function fill(root: string, files = 2): string {
  mkdirSync(join(root, 'a/b'), { recursive: true })
  for (let index = 0; index < files; index++) writeFileSync(join(root, `a/b/file${index}`), `content ${index}`)
  symlinkSync('a/b', join(root, 'link'))
  return root
}

describe('sealing', () => {
  it('gives the same tree in place and as a copy, under any umask', () => {
    const before = process.umask(0o077)
    try {
      const from = fill(join(base, 'from'))
      mkdirSync(join(base, 'copy'))
      const copied = copySealed(realFiles, from, join(base, 'copy'), [])
      expect(sealTree(realFiles, from)).toEqual(copied)
      for (const root of ['from', 'copy'])
        for (const [path, mode] of [
          ['', 0o555],
          ['a/b', 0o555],
          ['a/b/file0', 0o444],
        ] as const) {
          const stats = statSync(join(base, root, path))
          expect([root, path, stats.mode & 0o7777, stats.mtimeMs]).toEqual([root, path, mode, 1000])
        }
    } finally {
      process.umask(before)
    }
  })

  it('tells what is mentioned, in files and in links', () => {
    const [one, two, three] = ['one', 'two', 'three'].map(testStateName)
    const root = fill(join(base, 'tree'))
    writeFileSync(join(root, 'text'), `see ${one}`)
    symlinkSync(`../${two}/bin`, join(root, 'state'))
    expect(sealTree(realFiles, root, [one!, two!, three!]).mentions).toEqual([one, two].sort())
  })

  it('of a sealed tree changes no file', () => {
    const root = fill(join(base, 'tree'))
    const sealed = sealTree(realFiles, root)
    const files = faultyFiles(realFiles)
    expect(sealTree(files, root)).toEqual(sealed)
    expect(files.log.filter(call => /^f(chmod|utimes)/.test(call))).toEqual([])
  })
})

describe('syncTree', () => {
  it('flushes the files of a tree, then its directories from the bottom up', () => {
    const root = fill(join(base, 'tree'))
    const opened: string[] = []
    const files = {
      ...realFiles,
      open: (path: string, flags: number) => {
        opened.push(path.slice(base.length + 1))
        return realFiles.open(path, flags)
      },
    }
    sealTree(realFiles, root)
    syncTree(files, root)
    expect(opened).toEqual(['tree/a/b/file0', 'tree/a/b/file1', 'tree/a/b', 'tree/a', 'tree'])
  })
})
