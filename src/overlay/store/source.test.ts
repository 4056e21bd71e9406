import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { findProgram } from '../../lib/run.ts'
import type { EtcFileConfig, PackageSource } from '../../resources/overlay-config.ts'
import { stateNameOf } from './fingerprint.ts'
import { type SourceRequest, sourcePackage } from './source.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-source-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

type Changes = Partial<SourceRequest> & { version?: string; etcFiles?: EtcFileConfig[] }

const made = (source: PackageSource, { version = '1', etcFiles, ...request }: Changes = {}) =>
  sourcePackage({
    files: realFiles,
    name: 'tool',
    config: { version, source, ...(etcFiles && { etcFiles }) },
    declaredAt: 'packageByNames.tool',
    baseDirectory: base,
    requireChecksums: false,
    ...request,
  })

function nameOf(source: PackageSource, changes?: Changes) {
  const result = made(source, changes)
  expect(result.problems).toEqual([])
  return stateNameOf(result.package!)
}

const faults = (source: PackageSource, changes?: Changes) => {
  const result = made(source, changes)
  expect(result.package).toBeNull()
  return result.problems.map(({ code, path }) => `${code} ${path}`).sort()
}

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const tar: PackageSource = { type: 'url+tar', uri: 'https://one.example/tool.tar', checksum: sha256('x') }

describe('the fingerprint of a source', () => {
  it('is the same from another mirror when there is a checksum, in whatever spelling', () => {
    const sri = `sha256-${createHash('sha256').update('x').digest('base64')}`
    expect(nameOf({ ...tar, uri: 'http://two.example/other' })).toBe(nameOf(tar))
    expect(nameOf({ ...tar, checksum: sri })).toBe(nameOf(tar))
  })

  it('changes with the address when there is none, also with a part that is not shown', () => {
    const unpinned: PackageSource = { type: 'url', uri: 'https://one.example/tool?v=1' }
    const other = { ...unpinned, uri: 'https://one.example/tool?v=2' }
    expect(nameOf(other)).not.toBe(nameOf(unpinned))
    expect(JSON.stringify(made(other).package?.inputs)).not.toContain('v=2')
  })

  it('changes with every field that changes the result', () => {
    const etc = { source: 'etc/a', target: 'a' }
    const url: PackageSource = { type: 'url', uri: 'https://one.example/tool', checksum: sha256('x') }
    const names = [
      nameOf(tar),
      nameOf(tar, { version: '2' }),
      nameOf(tar, { name: 'other' }),
      nameOf({ ...tar, type: 'url+zip' }),
      nameOf({ ...tar, type: 'url+deb' }),
      nameOf({ ...tar, type: 'url+rpm' }),
      nameOf({ ...tar, checksum: sha256('y') }),
      nameOf({ ...tar, stripComponents: 1 }),
      nameOf({ ...tar, allowAbsoluteLinks: true }),
      nameOf(tar, { etcFiles: [etc] }),
      nameOf(tar, { etcFiles: [{ ...etc, target: 'b' }] }),
      nameOf(tar, { etcFiles: [{ ...etc, mode: '0600' }] }),
      nameOf(tar, { etcFiles: [{ ...etc, owner: 'nobody' }] }),
      nameOf(tar, { etcFiles: [{ ...etc, replaceExisting: true }] }),
      nameOf(tar, { etcFiles: [{ ...etc, allowProtected: true }] }),
      nameOf(url),
      nameOf({ ...url, path: 'sbin/tool' }),
      nameOf({ ...url, mode: '0644' }),
      nameOf({ type: 'inline', content: 'x' }),
      nameOf({ type: 'inline', content: 'y' }),
    ]
    expect(new Set(names).size).toBe(names.length)
  })

  it('does not change with what only says the default, or with the order of etc files', () => {
    const url: PackageSource = { type: 'url', uri: 'https://one.example/tool', checksum: sha256('x') }
    expect(nameOf({ ...url, path: 'bin/tool', mode: '0755' })).toBe(nameOf(url))
    expect(nameOf({ ...tar, stripComponents: 0, allowAbsoluteLinks: false })).toBe(nameOf(tar))
    const [a, b] = [
      { source: 'a', target: 'a' },
      { source: 'b', target: 'b' },
    ]
    expect(nameOf(tar, { etcFiles: [b!, a!] })).toBe(nameOf(tar, { etcFiles: [a!, b!] }))
  })

  it('of a file or a directory is what they contain, wherever they lie', () => {
    for (const place of ['one', 'two']) {
      mkdirSync(join(base, place, 'bin'), { recursive: true })
      writeFileSync(join(base, place, 'bin/tool'), 'run', { mode: 0o755 })
    }
    const one = nameOf({ type: 'file', uri: 'one' })
    expect(nameOf({ type: 'file', uri: join(base, 'two') })).toBe(one)
    expect(nameOf({ type: 'file', uri: pathToFileURL(join(base, 'two')).href })).toBe(one)
    writeFileSync(join(base, 'two/bin/tool'), 'changed')
    expect(nameOf({ type: 'file', uri: 'two' })).not.toBe(one)
    const file = nameOf({ type: 'file', uri: 'one/bin/tool' })
    writeFileSync(join(base, 'copy'), 'run')
    expect(nameOf({ type: 'file', uri: 'copy' })).toBe(file)
  })
})

describe('a source that is wrong', () => {
  it('is told with all its faults at once', () => {
    const source: PackageSource = { type: 'url', checksum: 'md5:1', path: '../x', mode: '9999' }
    expect(faults(source)).toEqual([
      'source.checksum-syntax packageByNames.tool.source.checksum',
      'source.field-missing packageByNames.tool.source.uri',
      'source.mode-invalid packageByNames.tool.source.mode',
      'source.path-invalid packageByNames.tool.source.path',
    ])
  })

  it.each(['/bin/x', 'a/../b', './a', 'a//b', 'a/', '', 'a\nb', 'x'.repeat(256)])('has no path %j', path => {
    expect(faults({ type: 'inline', content: '', path })).toEqual([
      'source.path-invalid packageByNames.tool.source.path',
    ])
  })

  it.each(['4755', '1777', '75', 'rwx', '0x1', '07777', ''])('has no mode %j', mode => {
    expect(faults({ type: 'inline', content: '', mode })).toEqual([
      'source.mode-invalid packageByNames.tool.source.mode',
    ])
  })

  it.each(['/local/path', 'ftp://example.com/x', 'https://', 'file://elsewhere/x'])('has no address %j', uri => {
    for (const type of ['url', 'url+tar', 'url+zip', 'url+deb', 'url+rpm'] as const)
      expect(faults({ type, uri })).toEqual(['source.uri-invalid packageByNames.tool.source.uri'])
  })

  it('is an inline one without content', () => {
    expect(faults({ type: 'inline' })).toEqual(['source.field-missing packageByNames.tool.source.content'])
  })

  it('is a file that is missing, special or not a path', () => {
    execFileSync(findProgram('mkfifo')!, [join(base, 'pipe')])
    const at = 'packageByNames.tool.source.uri'
    expect(faults({ type: 'file', uri: 'missing' })).toEqual([`source.not-found ${at}`])
    expect(faults({ type: 'file', uri: 'missing/below' })).toEqual([`source.not-found ${at}`])
    expect(faults({ type: 'file', uri: 'pipe' })).toEqual([`source.special-file ${at}`])
    expect(faults({ type: 'file', uri: 'https://example.com/x' })).toEqual([`source.uri-invalid ${at}`])
  })

  it('is a directory with special files or with links that leave it, all of them named', () => {
    mkdirSync(join(base, 'tree/sub'), { recursive: true })
    execFileSync(findProgram('mkfifo')!, [join(base, 'tree/pipe')])
    symlinkSync('../tree/sub', join(base, 'tree/out'))
    symlinkSync('/etc/passwd', join(base, 'tree/absolute'))
    symlinkSync('../sub', join(base, 'tree/sub/fine'))
    const { problems } = made({ type: 'file', uri: 'tree' })
    expect(problems.map(({ code, reason }) => [code, reason])).toEqual([
      ['source.special-file', expect.stringContaining('pipe')],
      ['source.link-escape', 'the link absolute -> /etc/passwd is absolute'],
      ['source.link-escape', 'the link out -> ../tree/sub leads out of the package'],
    ])
    rmSync(join(base, 'tree/pipe'))
    rmSync(join(base, 'tree/out'))
    expect(made({ type: 'file', uri: 'tree', allowAbsoluteLinks: true }).problems).toEqual([])
  })

  it('is a file or a text that does not have its checksum', () => {
    writeFileSync(join(base, 'file'), 'content')
    const mismatch = ['source.checksum-mismatch packageByNames.tool.source.checksum']
    expect(faults({ type: 'file', uri: 'file', checksum: sha256('other') })).toEqual(mismatch)
    expect(faults({ type: 'inline', content: 'content', checksum: sha256('other') })).toEqual(mismatch)
    expect(made({ type: 'file', uri: 'file', checksum: sha256('content') }).problems).toEqual([])
    expect(made({ type: 'inline', content: 'content', checksum: sha256('content') }).problems).toEqual([])
  })

  // Root may read everything.
  it.skipIf(process.getuid?.() === 0)('is a file that may not be read', () => {
    writeFileSync(join(base, 'secret'), '', { mode: 0 })
    expect(faults({ type: 'file', uri: 'secret' })).toEqual(['source.unreadable packageByNames.tool.source.uri'])
  })
})

describe('a source without checksum', () => {
  it('is a warning by hand and a problem where checksums are required', () => {
    const source: PackageSource = { type: 'url+tar', uri: 'https://example.com/x' }
    expect(made(source)).toMatchObject({ problems: [], warnings: [{ code: 'source.unpinned' }] })
    expect(faults(source, { requireChecksums: true })).toEqual(['source.unpinned packageByNames.tool.source.checksum'])
  })

  it('needs none when its content is at hand', () => {
    writeFileSync(join(base, 'file'), '')
    for (const source of [{ type: 'file', uri: 'file' } as const, { type: 'inline', content: '' } as const])
      expect(made(source, { requireChecksums: true })).toMatchObject({ problems: [], warnings: [] })
  })
})

describe('a field without use', () => {
  it('is a warning that names it', () => {
    mkdirSync(join(base, 'tree'))
    const unused = (source: PackageSource) =>
      made(source).warnings.map(({ code, path }) => `${code} ${path.split('.').at(-1)}`)
    expect(unused({ ...tar, path: 'x', mode: '0444', content: '' }).sort()).toEqual([
      'source.field-unused content',
      'source.field-unused mode',
      'source.field-unused path',
    ])
    expect(unused({ type: 'inline', content: '', uri: 'x', stripComponents: 1 })).toHaveLength(2)
    expect(unused({ type: 'file', uri: 'tree', path: 'x' })).toEqual(['source.field-unused path'])
  })
})
