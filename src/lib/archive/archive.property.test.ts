import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isErrno, ProblemsError } from '../errors.ts'
import { realFiles } from '../files.ts'
import { debOf, type FakeEntry, gzip, rpmOf, tarOf, type Writer, zipOf } from './archives.fake.ts'
import { type ArchiveFormat, extractArchive } from './extract.ts'
import { defaultLimits } from './limits.ts'

const formats: readonly (readonly [ArchiveFormat, Writer])[] = [
  ['tar', entries => gzip(tarOf(entries))],
  ['zip', zipOf],
  ['deb', debOf],
  ['rpm', rpmOf],
]

const runs = Number(process.env.CAIRN_RUNS ?? 50)
const seed = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}

// Few names, so that entries meet; names of places outside, so that an escape would find something there.
const part = fc.constantFrom('a', 'b', 'c', 'into', '..', '.', '')
const path = fc.array(part, { minLength: 1, maxLength: 5 }).map(parts => parts.join('/'))
const entry: fc.Arbitrary<FakeEntry> = fc.record({
  name: path,
  kind: fc.constantFrom('file', 'file', 'directory', 'symlink', 'symlink', 'hardlink', 'fifo'),
  link: path,
  content: fc.constant('evil'),
})
const tame = entry.filter(
  ({ name, kind }) => kind !== 'fifo' && !name.startsWith('/') && !name.split('/').includes('..'),
)

const honest: fc.Arbitrary<FakeEntry> = fc.oneof(
  fc.record({ name: fc.constantFrom('a/x', 'b/y', 'b/z/w', 'd'), content: fc.constant('fine') }),
  fc.record({ name: fc.constant('link'), kind: fc.constant('symlink' as const), link: fc.constant('b/z') }),
)

const mixed = fc.oneof(
  { weight: 5, arbitrary: honest },
  { weight: 3, arbitrary: tame },
  { weight: 1, arbitrary: entry },
)

let base: string
let top: string
let into: string

/** base/c/b/a/into, and every place above it has an a, a b and a c of its own to be found. */
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-archive-fuzz-'))
  top = join(base, 'top')
  into = join(top, 'c/b/a/into')
  for (const place of ['', 'c', 'c/b', 'c/b/a'])
    for (const name of ['a', 'b', 'c']) {
      mkdirSync(join(top, place, name), { recursive: true })
      writeFileSync(join(top, place, name, 'into.file'), 'outside')
    }
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function isUnpacked(format: ArchiveFormat, archive: Buffer, allowAbsoluteLinks: boolean): Promise<boolean> {
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into)
  writeFileSync(join(base, 'archive'), archive)
  try {
    await extractArchive({
      files: realFiles,
      format,
      archive: join(base, 'archive'),
      directory: into,
      stripComponents: 0,
      allowAbsoluteLinks,
      limits: defaultLimits,
      signal: new AbortController().signal,
      declaredAt: 'packageByNames.evil.source',
    })
    return true
  } catch (error) {
    if (error instanceof ProblemsError) return false
    throw error
  }
}

function listing(root: string, except: string, below = ''): string[] {
  return readdirSync(join(root, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(found => {
      const at = join(below, found.name)
      if (join(root, at) === except) return []
      if (found.isDirectory()) return [at, ...listing(root, except, at)]
      return [`${at} ${found.isFile() ? readFileSync(join(root, at), 'utf8') : 'not a file'}`]
    })
}

/** What the kernel makes of each link: it leads inside, or to nothing. */
function linksLeadingOut(root: string, below = ''): string[] {
  return readdirSync(join(root, below)).flatMap(name => {
    const at = join(root, below, name)
    const stats = lstatSync(at)
    if (stats.isDirectory()) return linksLeadingOut(root, join(below, name))
    if (!stats.isSymbolicLink()) return []
    try {
      return `${realpathSync(at)}/`.startsWith(`${root}/`) ? [] : [at]
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
      throw error
    }
  })
}

describe.each(formats)('a random %s', (format, write) => {
  it('puts nothing outside its directory, and no link that leads there', async () => {
    const outside = listing(top, into)
    let unpacked = 0
    await fc.assert(
      fc.asyncProperty(fc.array(mixed, { minLength: 1, maxLength: 6 }), async entries => {
        if (await isUnpacked(format, write(entries), false)) {
          unpacked++
          expect(linksLeadingOut(into)).toEqual([])
        }
        expect(listing(top, into)).toEqual(outside)
        expect(readdirSync(base).sort()).toEqual(['archive', 'top'])
      }),
      { numRuns: runs, ...seed },
    )
    // Otherwise it would have tested refusals only.
    expect(unpacked).toBeGreaterThan(runs / 10)
  })

  it('puts nothing outside its directory when absolute links are kept', async () => {
    const outside = listing(top, into)
    const absolute = entry.map(made => (made.kind === 'symlink' ? { ...made, link: join(top, made.link ?? '') } : made))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(tame, absolute), { minLength: 1, maxLength: 6 }), async entries => {
        await isUnpacked(format, write(entries), true)
        expect(listing(top, into)).toEqual(outside)
      }),
      { numRuns: runs / 2, ...seed },
    )
  })

  it('with damaged bytes is unpacked or refused, and never anything else', async () => {
    const outside = listing(top, into)
    const bytes = write([
      { name: 'a/b', content: 'some content', mode: 0o755 },
      { name: 'c', kind: 'symlink', link: 'a/b' },
    ])
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        async changes => {
          const damaged = Buffer.from(bytes)
          for (const [at, value] of changes) damaged[at] = value
          if (await isUnpacked(format, damaged, false)) expect(linksLeadingOut(into)).toEqual([])
          expect(listing(top, into)).toEqual(outside)
        },
      ),
      { numRuns: runs, ...seed },
    )
  })
})
