import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultLimits, type Limits } from '../model/source.ts'
import { type Collect, collectSources } from './files.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-files-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const at = (name: string) => join(root, name)
const put = (name: string, content: string | Uint8Array = 'a: 1\n') => {
  mkdirSync(dirname(at(name)), { recursive: true })
  writeFileSync(at(name), content)
}

async function collect(files: string[], more: Partial<Omit<Collect, 'limits'>> & { limits?: Partial<Limits> } = {}) {
  const { sources, problems } = await collectSources({
    recurse: false,
    readStdin: () => inputOf('stdin: 1\n'),
    ...more,
    files: files.map(file => (file === '-' ? file : `${root}/${file}`)),
    limits: { ...defaultLimits, ...more.limits },
  })
  const short = (text: string) => text.replaceAll(`${root}/`, '')
  return {
    names: sources.map(({ name }) => short(name)),
    told: problems.map(({ code, reason }) => `${code} ${/"([^"]*)"/.exec(short(reason))?.[1] ?? ''}`.trim()),
    sources,
  }
}

async function* inputOf(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

describe('files', () => {
  it('are read in the order given, under the names given', async () => {
    put('b.yaml')
    put('a.json', '{}')
    put('notes.txt', 'kind: A\n')
    const { names, told, sources } = await collect(['b.yaml', 'a.json', 'notes.txt'], { encoding: 'yaml' })
    expect(names).toEqual(['b.yaml', 'a.json', 'notes.txt'])
    expect(told).toEqual([])
    expect(sources[1]).toMatchObject({ encoding: 'yaml' })
    expect(Buffer.from(sources[1]!.content).toString()).toBe('{}')
  })

  it('have the name that a person would type, relative to where they are', async () => {
    put('broken/web.yaml')
    const before = process.cwd()
    try {
      process.chdir(root)
      const named = async (file: string) => {
        const { sources } = await collectSources({
          files: [file],
          recurse: true,
          readStdin: () => inputOf(),
          limits: defaultLimits,
        })
        return sources.map(({ name }) => name)
      }
      expect(await named('broken/')).toEqual(['broken/web.yaml'])
      expect(await named('./broken')).toEqual(['broken/web.yaml'])
      expect(await named('.')).toEqual(['broken/web.yaml'])
      expect(await named('broken/web.yaml')).toEqual(['broken/web.yaml'])
    } finally {
      process.chdir(before)
    }
  })

  it('may be standard input, however often it is named', async () => {
    put('a.yaml')
    const { names, sources } = await collect(['-', 'a.yaml', '-', 'a.yaml'])
    expect(names).toEqual(['stdin', 'a.yaml'])
    expect(Buffer.from(sources[0]!.content).toString()).toBe('stdin: 1\n')
  })

  it('may be links to anywhere when they are named', async () => {
    put('elsewhere/a.yaml')
    symlinkSync(at('elsewhere/a.yaml'), at('link.yaml'))
    expect(await collect(['link.yaml'])).toMatchObject({ names: ['link.yaml'], told: [] })
  })

  it('that cannot be read are all told together', async () => {
    put('binary.yaml', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]))
    put('empty.yaml', '')
    put('large.yaml', 'a: 123456789')
    put('good.yaml')
    mkdirSync(at('dir'))
    execFileSync('mkfifo', [at('pipe.yaml')])
    symlinkSync('circle.yaml', at('circle.yaml'))
    const files = [
      'none.yaml',
      'good.yaml/x.yaml',
      'binary.yaml',
      'empty.yaml',
      'large.yaml',
      'good.yaml',
      'dir',
      'pipe.yaml',
      'circle.yaml',
    ]
    const { names, told } = await collect(files, { limits: { fileBytes: 11 } })
    expect(names).toEqual(['good.yaml'])
    expect(told).toEqual([
      'source.missing none.yaml',
      'source.missing good.yaml/x.yaml',
      'source.binary binary.yaml',
      'source.empty empty.yaml',
      'source.too-large large.yaml',
      'source.no-bundles dir',
      'source.not-regular pipe.yaml',
      'source.unreadable circle.yaml',
    ])
    expect(
      (
        await collectSources({
          files: ['/dev/zero'],
          recurse: false,
          readStdin: () => inputOf(),
          limits: defaultLimits,
        })
      ).problems,
    ).toMatchObject([{ code: 'source.not-regular' }])
  })

  it.skipIf(process.getuid?.() === 0)('without permission are told so', async () => {
    put('mine.yaml')
    chmodSync(at('mine.yaml'), 0)
    expect((await collect(['mine.yaml'])).told).toEqual(['source.unreadable mine.yaml'])
  })

  it('are not read beyond the limit, whatever they claim to be', async () => {
    put('sparse.yaml', '')
    truncateSync(at('sparse.yaml'), 2 ** 40)
    expect((await collect(['sparse.yaml'])).told).toEqual(['source.too-large sparse.yaml'])
    // Files of the kernel say that they are empty.
    const limits = { ...defaultLimits, fileBytes: 10 }
    const { problems } = await collectSources({
      files: ['/proc/self/status'],
      recurse: false,
      readStdin: () => inputOf(),
      limits,
    })
    expect(problems).toMatchObject([{ code: 'source.too-large' }])
  })

  it('from standard input are not read beyond the limit, and not taken when empty', async () => {
    let chunks = 0
    async function* endless() {
      for (;;) {
        chunks++
        yield Buffer.alloc(1024)
      }
    }
    expect((await collect(['-'], { readStdin: endless, limits: { fileBytes: 4096 } })).told).toEqual([
      'source.too-large stdin',
    ])
    expect(chunks).toBe(5)
    expect((await collect(['-'], { readStdin: () => inputOf() })).told).toEqual(['source.empty stdin'])
  })

  it('are counted, each and together', async () => {
    for (const name of ['a.yaml', 'b.yaml', 'c.yaml']) put(`d/${name}`)
    expect(await collect(['d'], { limits: { files: 2 } })).toMatchObject({
      names: ['d/a.yaml', 'd/b.yaml'],
      told: ['limit.files'],
    })
    expect(await collect(['d'], { limits: { files: 3 } })).toMatchObject({ told: [] })
    expect(await collect(['d'], { limits: { requestBytes: 14 } })).toMatchObject({ told: ['limit.request-bytes'] })
    expect(await collect(['d'], { limits: { requestBytes: 15 } })).toMatchObject({ told: [] })
  })
})

describe('a directory', () => {
  it('gives the files with known extensions, sorted by name, without hidden ones', async () => {
    for (const name of [
      'b.yml',
      'a.yaml',
      'c.json',
      'B.jsonnet',
      '.hidden.yaml',
      'notes.txt',
      'sub/z.yaml',
      '.git/x.yaml',
    ])
      put(`d/${name}`)
    expect(await collect(['d'])).toMatchObject({ names: ['d/B.jsonnet', 'd/a.yaml', 'd/b.yml', 'd/c.json'], told: [] })
  })

  it('gives those of its directories too when asked', async () => {
    for (const name of ['b.yaml', 'a/z.yaml', 'c/d/e.json', '.git/x.yaml']) put(`d/${name}`)
    expect((await collect(['d'], { recurse: true })).names).toEqual(['d/a/z.yaml', 'd/b.yaml', 'd/c/d/e.json'])
  })

  it('may hold empty files beside others', async () => {
    put('d/a.yaml')
    put('d/empty.yaml', '')
    expect(await collect(['d'])).toMatchObject({ names: ['d/a.yaml', 'd/empty.yaml'], told: [] })
  })

  it('does not let a link lead out of it', async () => {
    put('secret.yaml')
    put('d/a.yaml')
    put('d-beside/x.yaml')
    put('d/sub/b.yaml')
    symlinkSync('../secret.yaml', at('d/out.yaml'))
    symlinkSync(at('d-beside/x.yaml'), at('d/beside.yaml'))
    symlinkSync('a.yaml', at('d/in.yaml'))
    symlinkSync('nothing.yaml', at('d/broken.yaml'))
    symlinkSync('../secret.yaml', at('d/unread.txt'))
    const told = ['source.symlink-out d/beside.yaml', 'source.missing d/broken.yaml', 'source.symlink-out d/out.yaml']
    expect(await collect(['d'])).toMatchObject({ names: ['d/a.yaml', 'd/in.yaml'], told })
  })

  it('is not walked in circles', async () => {
    put('d/sub/b.yaml')
    put('out/c.yaml')
    symlinkSync('..', at('d/sub/up'))
    symlinkSync('../out', at('d/out'))
    expect(await collect(['d'], { recurse: true })).toMatchObject({
      names: ['d/sub/b.yaml'],
      told: ['source.symlink-out d/out'],
    })
    expect(await collect(['d'])).toMatchObject({ names: [], told: ['source.no-bundles d'] })
  })

  it('may be a link itself', async () => {
    put('d/a.yaml')
    symlinkSync('d', at('link'))
    symlinkSync('a.yaml', at('d/in.yaml'))
    expect(await collect(['link'])).toMatchObject({ names: ['link/a.yaml', 'link/in.yaml'], told: [] })
  })
})
