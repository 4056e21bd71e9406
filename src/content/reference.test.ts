import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentIdOf, contentRefOf } from './content-ref.ts'
import { contentRefSchema, type Sha256 } from './messages.ts'
import { thisPlatform } from './oci/platform.ts'
import { parseDigest, parseReference, spellReference } from './reference.ts'

const hex = 'ab'.repeat(32) as Sha256
const options = { baseDirectory: '/base' }
const codesOf = (result: object): string[] => (Array.isArray(result) ? result.map(problem => problem.code) : [])
const parsed = (text: string, sha256?: Sha256) => {
  const reference = parseReference(text, { ...options, sha256 })
  if (Array.isArray(reference)) throw new Error(JSON.stringify(reference))
  return reference
}

describe('parseReference', () => {
  it.each([
    ['nginx', 'docker.io/library/nginx:latest'],
    ['nginx:1.27', 'docker.io/library/nginx:1.27'],
    ['team/app', 'docker.io/team/app:latest'],
    ['docker.io/nginx', 'docker.io/library/nginx:latest'],
    ['index.docker.io/team/app:1', 'docker.io/team/app:1'],
    ['registry.example/app', 'registry.example/app:latest'],
    ['registry.example:5000/team/app:1.2', 'registry.example:5000/team/app:1.2'],
    ['Registry.Example/a/b/c:1', 'registry.example/a/b/c:1'],
    ['localhost/x', 'localhost/x:latest'],
    ['localhost:5000/x', 'localhost:5000/x:latest'],
    ['127.0.0.1:5000/x', '127.0.0.1:5000/x:latest'],
    ['[::1]:5000/team/x:1', '[::1]:5000/team/x:1'],
    ['[2001:db8::1]/x', '[2001:db8::1]/x:latest'],
    ['a__b/c-d.e_f--g', 'docker.io/a__b/c-d.e_f--g:latest'],
    ['oci://registry.example/app:1', 'registry.example/app:1'],
    ['docker://nginx', 'docker.io/library/nginx:latest'],
    [`nginx@sha256:${hex}`, `docker.io/library/nginx@sha256:${hex}`],
    [
      `registry.example:5000/team/app:1.2@sha256:${hex.toUpperCase()}`,
      `registry.example:5000/team/app:1.2@sha256:${hex}`,
    ],
    ['  nginx\n', 'docker.io/library/nginx:latest'],
  ])('reads %j as the image %s', (text, full) => {
    const { name, sources, tag, sha256 } = parsed(text)
    expect(spellReference(sources[0]!, { tag, sha256 })).toBe(full)
    expect(name).toBe(text.trim())
  })

  it.each([
    ['./disk.raw', '/base/disk.raw'],
    ['../disk.raw', '/disk.raw'],
    ['/srv/a b/disk.qcow2', '/srv/a b/disk.qcow2'],
    ['/srv/../x', '/x'],
    ['file:///srv/a%20b', '/srv/a b'],
  ])('reads %s as the file %s', (text, path) => {
    expect(parsed(text)).toEqual({ name: path, sources: [{ kind: 'file', path }] })
  })

  it.each([
    ['oci-layout:stick', '/base/stick', undefined, undefined],
    ['oci-layout:/mnt/stick:1.2', '/mnt/stick', '1.2', undefined],
    ['oci-layout:/mnt/a:b/stick', '/mnt/a:b/stick', undefined, undefined],
    [`oci-layout:./stick@sha256:${hex}`, '/base/stick', undefined, hex],
    [`oci-layout:./stick:1@sha256:${hex}`, '/base/stick', '1', hex],
  ])('reads %s as the layout in %s', (text, path, tag, sha256) => {
    expect(parsed(text)).toMatchObject({ sources: [{ kind: 'oci-layout', path }] })
    expect(parsed(text).tag).toBe(tag)
    expect(parsed(text).sha256).toBe(sha256)
  })

  it('keeps the query of an address for the one who fetches, and shows it to nobody', () => {
    expect(parsed('https://files.example/a/disk.raw?sig=canary#part')).toEqual({
      name: 'https://files.example/a/disk.raw',
      sources: [{ kind: 'url', url: 'https://files.example/a/disk.raw?sig=canary' }],
    })
  })

  it('takes http where bytes cannot be swapped: on loopback, or with a digest', () => {
    const address = 'http://files.example/x'
    expect(codesOf(parseReference(address, options))).toEqual(['reference.insecure'])
    expect(parsed(address, hex)).toMatchObject({ sha256: hex, sources: [{ kind: 'url', url: address }] })
    for (const loopback of ['http://127.0.0.1:8080/x', 'http://[::1]/x', 'http://localhost/x'])
      expect(parsed(loopback).sources).toEqual([{ kind: 'url', url: loopback }])
    expect(codesOf(parseReference('http://127.evil.example/x', options))).toEqual(['reference.insecure'])
  })

  it('resolves no tag that nobody asked for once a digest is given', () => {
    expect(parsed('nginx', hex)).toEqual({
      name: 'nginx',
      sources: [{ kind: 'registry', host: 'docker.io', repository: 'library/nginx' }],
      sha256: hex,
    })
    expect(parsed('nginx:1', hex)).toMatchObject({ tag: '1', sha256: hex })
  })

  it('refuses two digests that differ, and takes two that are the same', () => {
    expect(parsed(`nginx@sha256:${hex}`, hex).sha256).toBe(hex)
    expect(codesOf(parseReference(`nginx@sha256:${'0'.repeat(64)}`, { ...options, sha256: hex }))).toEqual([
      'digest.conflict',
    ])
  })

  it.each([
    ['', ['reference.invalid']],
    ['  ', ['reference.invalid']],
    ['a\0b', ['reference.invalid']],
    ['/srv/a\nb', ['reference.invalid']],
    ['Team/App', ['reference.invalid']],
    ['team//app', ['reference.invalid']],
    ['team/app:', ['reference.invalid']],
    ['app:1:2', ['reference.invalid']],
    ['app:tag with space', ['reference.invalid']],
    ['registry.example/', ['reference.invalid']],
    ['registry.example:0/x', ['reference.invalid']],
    ['registry.example:70000/x', ['reference.invalid']],
    ['[::zz]:5000/x', ['reference.invalid']],
    ['-bad.example/x', ['reference.invalid']],
    [`registry.example/${'a'.repeat(256)}`, ['reference.invalid']],
    [`nginx:${'a'.repeat(129)}`, ['reference.invalid']],
    ['nginx@sha256:abc', ['digest.invalid']],
    ['nginx@', ['digest.invalid']],
    [`nginx@sha256:../${hex.slice(3)}`, ['digest.invalid']],
    [`nginx@sha512:${hex}${hex}`, ['digest.unsupported']],
    [
      'bad_.example:0/Team/App:@sha256:abc',
      ['reference.invalid', 'reference.invalid', 'reference.invalid', 'digest.invalid'],
    ],
    ['disk.raw', ['reference.ambiguous']],
    ['backup.tar.gz', ['reference.ambiguous']],
    ['https://', ['reference.invalid']],
    ['https://files.example', ['reference.invalid']],
    ['file://elsewhere/x', ['reference.invalid']],
    ['file:///a%2Fb', ['reference.invalid']],
    ['oci-layout:', ['reference.invalid']],
    ['oci-layout:dir:ta+g', ['reference.invalid']],
    ['oci-layout:dir@sha512:00', ['digest.unsupported']],
    ['s3://bucket/x', ['reference.unsupported']],
  ])('refuses %j with %j', (text, codes) => {
    expect(codesOf(parseReference(text, options))).toEqual(codes)
  })

  it.each([
    'https://user:canary@files.example/x',
    'https://canary@files.example/x',
    'http://user:canary@files.example/?canary',
    'oci://user:canary@registry.example/x',
    'user:canary@registry.example/x',
    `user:canary@registry.example/x@sha256:${hex}`,
    'user:canary@registry',
    'canary://canary:canary@canary/canary',
  ])('never repeats the password of %s', text => {
    const result = parseReference(text, options)
    expect(codesOf(result)).not.toEqual([])
    expect(JSON.stringify(result)).not.toContain('canary')
  })

  it('never throws, and gives what the messages take or a reason', () => {
    const pieces = fc.constantFrom(
      'https://',
      'file://',
      'oci-layout:',
      'oci://',
      './',
      '@sha256:',
      hex,
      '[::1]',
      ':',
      '/',
      '%',
      'app',
    )
    const texts = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(pieces, fc.string({ maxLength: 5 }))).map(parts => parts.join('')),
    )
    fc.assert(
      fc.property(texts, text => {
        const ref = contentRefOf({ text, ...options })
        if (Array.isArray(ref)) expect(ref.length).toBeGreaterThan(0)
        else expect(contentRefSchema.safeParse(ref).error).toBeUndefined()
      }),
      {
        numRuns: Number(process.env.CAIRN_RUNS ?? 1000),
        ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
      },
    )
  })
})

describe('parseDigest', () => {
  it.each([hex, `sha256:${hex}`, `SHA256:${hex.toUpperCase()}`, ` ${hex}\n`])('takes %j', text => {
    expect(parseDigest(text)).toBe(hex)
  })

  it.each([
    ['', 'digest.invalid'],
    ['sha256:', 'digest.invalid'],
    [hex.slice(1), 'digest.invalid'],
    [`${hex}0`, 'digest.invalid'],
    [`../${hex.slice(3)}`, 'digest.invalid'],
    [`sha512:${hex}${hex}`, 'digest.unsupported'],
    [`${hex}${hex}`, 'digest.unsupported'],
    [`md5:${hex}`, 'digest.unsupported'],
    [`:${hex}`, 'digest.unsupported'],
  ])('refuses %j with %s', (text, code) => {
    expect(parseDigest(text)).toMatchObject({ code })
  })
})

describe('spellReference', () => {
  it('shows an address without what may be secret', () => {
    expect(spellReference({ kind: 'url', url: 'https://u:p@files.example/x?sig=1' })).toBe('https://files.example/x')
  })
})

describe('contentRefOf', () => {
  it('asks for this platform and for nobody to have signed, unless told', () => {
    expect(contentRefOf({ text: 'nginx:1', ...options })).toEqual({
      name: 'nginx:1',
      sources: [{ kind: 'registry', host: 'docker.io', repository: 'library/nginx' }],
      tag: '1',
      size: 0,
      platform: thisPlatform(),
      trust: { policy: 'none', keys: [], certificates: [] },
    })
  })

  it('takes a digest, type and size beside the reference', () => {
    const ref = contentRefOf({
      text: 'http://files.example/x',
      ...options,
      sha256: hex.toUpperCase(),
      mediaType: 'A/B',
      size: 7,
    })
    expect(ref).toMatchObject({ sha256: hex, mediaType: 'a/b', size: 7 })
  })

  it('tells everything that is wrong at once', () => {
    const wish = { text: 'https://a:b@x.example/f', ...options, sha256: 'short', mediaType: 'none', size: 1.5 }
    expect(codesOf(contentRefOf(wish))).toEqual([
      'reference.credentials',
      'digest.invalid',
      'reference.media-type-invalid',
      'reference.size-invalid',
    ])
  })
})

describe('contentIdOf', () => {
  it('is the same for the same wish, and another for another digest, platform or trust', () => {
    const idOf = (more: object) => {
      const ref = contentRefOf({ text: 'nginx', ...options, ...more })
      return Array.isArray(ref) ? '' : contentIdOf(ref)
    }
    expect(idOf({})).toMatch(/^[0-9a-f]{20}$/)
    expect(idOf({ platform: { os: 'linux', architecture: 'amd64' } })).toBe(
      idOf({ platform: { architecture: 'amd64', os: 'linux' } }),
    )
    const others = [{}, { sha256: hex }, { platform: { os: 'linux', architecture: 'other' } }]
    const trusts = [{ trust: { policy: 'required', keys: [], certificates: [] } }]
    expect(new Set([...others, ...trusts].map(idOf)).size).toBe(4)
  })
})
