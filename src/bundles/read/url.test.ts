import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FakeCertificates, makeCertificates } from '../../content/downloader/origins/certificates.fake.ts'
import { ProblemsError } from '../../lib/errors.ts'
import { lacks } from '../../lib/lacks.fake.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Source } from '../model/source.ts'
import { fetchSource } from './url.ts'
import type { UrlPolicy } from './url-policy.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function serve(answer: RequestListener, tls?: FakeCertificates) {
  const server = tls ? https.createServer(tls, answer) : http.createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}` }
}

/** Answers by path; the requests that came are in `seen`. */
async function serveTable(table: Record<string, RequestListener>) {
  const seen: string[] = []
  const server = await serve((request, response) => {
    seen.push(request.url!)
    const answer = table[request.url!]
    if (answer) answer(request, response)
    else response.writeHead(404).end('a page with internals')
  })
  return { ...server, seen }
}

const text =
  (body: string | Uint8Array, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body)
const redirect =
  (location: string, status = 302): RequestListener =>
  (_, response) =>
    response.writeHead(status, { location }).end('moved')

const open: UrlPolicy = { allowHttp: true, allow: ['127.0.0.1'] }
const shown = (result: Source | Problem): string =>
  'code' in result ? result.code : `${result.name} ${Buffer.from(result.content).toString()}`
const fetched = async (url: string, policy: UrlPolicy = open) => shown(await fetchSource(url, policy))

describe('a bundle by its URL', () => {
  it('is read, with its content type, under the name asked for without its query', async () => {
    const { url } = await serveTable({ '/a.yaml?token=hidden': text('a: 1', { 'content-type': 'application/yaml' }) })
    const source = (await fetchSource(`${url}/a.yaml?token=hidden#x`, open)) as Source
    expect(source).toMatchObject({ name: `${url}/a.yaml`, contentType: 'application/yaml' })
    expect(Buffer.from(source.content).toString()).toBe('a: 1')
  })

  it.each([
    ['gzip', gzipSync('a: 1')],
    ['deflate', deflateSync('a: 1')],
    ['br', brotliCompressSync('a: 1')],
    ['zstd', zstdCompressSync('a: 1')],
  ])('may come in %s', async (coding, body) => {
    const { url } = await serveTable({ '/a': text(body, { 'content-encoding': coding }) })
    expect(await fetched(`${url}/a`)).toBe(`${url}/a a: 1`)
  })

  it('that is not there is told by its status, not by what the answer says', async () => {
    const { url } = await serveTable({})
    const problem = (await fetchSource(`${url}/none.yaml?token=hidden`, open)) as Problem
    expect(problem).toMatchObject({ code: 'url.status', reason: `${url}/none.yaml answered with HTTP 404` })
  })

  it.each([
    ['a web page', text('<html>', { 'content-type': 'text/html; charset=utf-8' }), 'url.page'],
    ['Jsonnet by its type', text('{}', { 'content-type': 'application/jsonnet' }), 'url.jsonnet'],
    ['a coding of nobody', text('x', { 'content-encoding': 'rot13' }), 'url.coding'],
    ['codings over each other', text('x', { 'content-encoding': 'gzip, gzip' }), 'url.coding'],
    ['a coding that it is not in', text('a: 1', { 'content-encoding': 'gzip' }), 'url.coding'],
    ['half of a coding', text(gzipSync('a: 1').subarray(0, 15), { 'content-encoding': 'gzip' }), 'url.coding'],
    [
      'a connection that breaks',
      (_, response) => void response.writeHead(200, { 'content-length': '9' }).write('a', () => response.destroy()),
      'url.unreachable',
    ],
    ['another status', (_, response) => void response.writeHead(204).end(), 'url.status'],
    ['a redirect to nowhere', (_, response) => void response.writeHead(302).end(), 'url.status'],
  ] satisfies [string, RequestListener, string][])('is not %s', async (_, answer, code) => {
    const { url } = await serveTable({ '/a': answer })
    expect(await fetched(`${url}/a`)).toBe(code)
  })

  it('where nothing listens or nobody knows the name is unreachable', async () => {
    const { url } = await serveTable({})
    for (const close of closing.splice(0)) close()
    expect(await fetched(`${url}/a`)).toBe('url.unreachable')
    const unknown = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    expect(await fetched('http://host.invalid/a', { ...open, resolve: unknown })).toBe('url.unreachable')
  })
})

describe('a URL is refused before anything is asked', () => {
  it.each([
    ['', 'url.invalid'],
    ['a.yaml', 'url.invalid'],
    ['ftp://example.com/a.yaml', 'url.scheme'],
    ['data:text/plain,a', 'url.scheme'],
    ['http://example.com/a.yaml', 'url.scheme'],
    ['file:///etc/hostname', 'url.scheme'],
    ['https://user@example.com/a.yaml', 'url.credentials'],
    ['https://:hunter2@example.com/a.yaml', 'url.credentials'],
    ['https://example.com/a.jsonnet', 'url.jsonnet'],
    ['https://example.com/a.%6Asonnet', 'url.jsonnet'],
    ['https://example.com/a.%256asonnet?x=1', 'url.jsonnet'],
    ['https://example.com/a.LIBSONNET/', 'url.jsonnet'],
    ['https://github.com/o/r/blob/main/a.jsonnet', 'url.jsonnet'],
  ])('%s: %s', async (url, code) => {
    const problem = (await fetchSource(url, { allowHttp: false, allow: [], resolve: nobody })) as Problem
    expect(problem.code).toBe(code)
    expect(JSON.stringify(problem)).not.toContain('hunter2')
  })

  const nobody = () => Promise.reject(new Error('must not be asked'))

  it('when the policy cannot be understood it is an error of the policy', async () => {
    await expect(fetchSource('https://example.com/', { allowHttp: false, allow: ['/'] })).rejects.toThrow(ProblemsError)
  })
})

describe('the guard on addresses', () => {
  it.each([
    '127.0.0.1',
    '[::1]',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
  ])('refuses the address %s', async host => {
    expect(await fetched(`http://${host}:9/a`, { allowHttp: true, allow: [] })).toBe('url.address')
  })

  it('refuses a name by what it resolves to, and dials nothing', async () => {
    const { port, seen } = await serveTable({ '/a': text('a: 1') })
    const toHere = async () => [{ address: '127.0.0.1', family: 4 }]
    const url = `http://bundles.example:${port}/a`
    expect(await fetched(url, { allowHttp: true, allow: [], resolve: toHere })).toBe('url.address')
    expect(seen).toEqual([])
    expect(await fetched(url, { allowHttp: true, allow: ['bundles.example'], resolve: toHere })).toBe(`${url} a: 1`)
    expect(await fetched(url, { allowHttp: true, allow: ['127.0.0.0/8'], resolve: toHere })).toBe(`${url} a: 1`)
  })

  it('dials of several addresses only those that are allowed', async () => {
    const { port } = await serveTable({ '/a': text('a: 1') })
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return ['10.255.255.1', '127.0.0.1', '::1'].map(address => ({ address, family: net.isIP(address) }))
    }
    const url = `http://bundles.example:${port}/a`
    expect(await fetched(url, { allowHttp: true, allow: ['127.0.0.1'], resolve })).toBe(`${url} a: 1`)
    // Once: there is no second answer that could differ.
    expect(asked).toEqual(['bundles.example'])
  })

  it('holds at each redirect, for names and addresses', async () => {
    const inside = await serveTable({ '/secret': text('secret: 1') })
    const { url } = await serveTable({
      '/name': redirect(`http://inside.example:${inside.port}/secret`),
      '/address': redirect(`http://127.0.0.2:${inside.port}/secret`),
    })
    const policy = { ...open, resolve: async () => [{ address: '127.0.0.2', family: 4 }] }
    expect(await fetched(`${url}/name`, policy)).toBe('url.address')
    expect(await fetched(`${url}/address`, policy)).toBe('url.address')
    expect(inside.seen).toEqual([])
  })
})

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('with %i are followed', async status => {
    const { url } = await serveTable({ '/a': redirect('b', status), '/b': text('b: 1') })
    expect(await fetched(`${url}/a`)).toBe(`${url}/a b: 1`)
  })

  it('are followed five times and no oftener', async () => {
    const table: Record<string, RequestListener> = { '/0': text('end: 1') }
    for (let left = 1; left <= 6; left++) table[`/${left}`] = redirect(`/${left - 1}`)
    const { url } = await serveTable(table)
    expect(await fetched(`${url}/5`)).toBe(`${url}/5 end: 1`)
    expect(await fetched(`${url}/6`)).toBe('url.redirect')
  })

  it.each([
    ['file:///etc/hostname', 'url.redirect'],
    ['data:text/plain,a', 'url.redirect'],
    ['http://', 'url.redirect'],
    ['http://user:hunter2@127.0.0.1/a', 'url.credentials'],
    ['/b.jsonnet', 'url.jsonnet'],
    ['/b.%6asonnet', 'url.jsonnet'],
  ])('to %s are refused', async (location, code) => {
    const { url, seen } = await serveTable({ '/a': redirect(location) })
    expect(await fetched(`${url}/a`, { ...open, fileRoot: '/' })).toBe(code)
    expect(seen).toEqual(['/a'])
  })
})

describe('how much and how long', () => {
  const endless: RequestListener = (_, response) => {
    response.writeHead(200)
    const more = () => void response.write(Buffer.alloc(64 * 1024), error => error ?? setImmediate(more))
    more()
  }

  it('a body may be as long as the limit and no longer', async () => {
    const { url } = await serveTable({
      '/fits': text('x'.repeat(100)),
      '/not': text('x'.repeat(101)),
      '/endless': endless,
    })
    const policy = { ...open, mostBytes: 100 }
    expect(await fetched(`${url}/fits`, policy)).toBe(`${url}/fits ${'x'.repeat(100)}`)
    expect(await fetched(`${url}/not`, policy)).toBe('url.too-large')
    expect(await fetched(`${url}/endless`)).toBe('url.too-large')
  })

  it.each([
    ['gzip', gzipSync],
    ['br', (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })],
    ['zstd', zstdCompressSync],
  ])('a body is measured as it unfolds: a bomb of %s', async (coding, compress) => {
    const bomb = compress(Buffer.alloc(16 * 2 ** 20))
    expect(bomb.length).toBeLessThan(2 ** 17)
    const { url } = await serveTable({ '/a': text(bomb, { 'content-encoding': coding }) })
    expect(await fetched(`${url}/a`)).toBe('url.too-large')
  })

  it('a server that says nothing, or speaks too slowly, is given up', async () => {
    const { url } = await serveTable({
      '/silent': () => {},
      '/slow': (_, response) => {
        const timer = setInterval(() => response.write('a'), 20)
        response.on('close', () => clearInterval(timer))
      },
    })
    expect(await fetched(`${url}/silent`, { ...open, totalMs: 150 })).toBe('url.timeout')
    expect(await fetched(`${url}/slow`, { ...open, totalMs: 150 })).toBe('url.timeout')
  })

  it('a name that is never resolved is given up', async () => {
    const never = () => new Promise<never>(() => {})
    expect(await fetched('http://slow.example/', { ...open, resolve: never, connectMs: 50 })).toBe('url.timeout')
  })

  it('whoever asked may give up', async () => {
    const { url } = await serveTable({ '/silent': () => {} })
    const reason = new Error('enough')
    await expect(fetchSource(`${url}/silent`, open, AbortSignal.abort(reason))).rejects.toBe(reason)
    const controller = new AbortController()
    const asked = fetchSource(`${url}/silent`, open, controller.signal)
    setTimeout(() => controller.abort(reason), 20)
    await expect(asked).rejects.toBe(reason)
  })
})

describe.skipIf(lacks('openssl'))('https (needs openssl)', () => {
  let certificates: FakeCertificates
  beforeAll(() => {
    certificates = makeCertificates()
  })

  it('is read when the authority is trusted, and only then', async () => {
    const { url } = await serve(text('a: 1'), certificates)
    const policy = { allowHttp: false, allow: ['127.0.0.1'] }
    expect(await fetched(`${url}/a`, { ...policy, ca: certificates.ca })).toBe(`${url}/a a: 1`)
    expect(await fetched(`${url}/a`, policy)).toBe('url.unreachable')
  })

  it('does not lead to http, even where that is allowed; http leads to https', async () => {
    const plain = await serveTable({ '/b': text('b: 1') })
    const secure = await serve(
      (request, response) => (request.url === '/a' ? redirect(`${plain.url}/b`) : text('c: 1'))(request, response),
      certificates,
    )
    const up = await serveTable({ '/up': redirect(`${secure.url}/c`) })
    const policy = { ...open, ca: certificates.ca }
    expect(await fetched(`${secure.url}/a`, policy)).toBe('url.redirect')
    expect(plain.seen).toEqual([])
    expect(await fetched(`${up.url}/up`, policy)).toBe(`${up.url}/up c: 1`)
  })

  it('is guarded like http', async () => {
    const { url } = await serve(text('a: 1'), certificates)
    expect(await fetched(`${url}/a`, { allowHttp: false, allow: [], ca: certificates.ca })).toBe('url.address')
  })
})

describe('a file: URL', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cairn-url-'))
    mkdirSync(join(root, 'open/sub'), { recursive: true })
    mkdirSync(join(root, 'open-beside'))
    for (const name of ['open/a.yaml', 'open/sub/b.yaml', 'secret.yaml', 'open-beside/c.yaml'])
      writeFileSync(join(root, name), 'a: 1')
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const urlOf = (name: string) => `${pathToFileURL(root)}/${name}`
  const read = (name: string, mostBytes?: number) =>
    fetchSource(urlOf(name), {
      allowHttp: false,
      allow: [],
      fileRoot: join(root, 'open'),
      ...(mostBytes !== undefined && { mostBytes }),
    })

  it('is read below the one directory that is open', async () => {
    expect(shown(await read('open/a.yaml'))).toBe(`${urlOf('open/a.yaml')} a: 1`)
    expect(shown(await read('open/sub/b.yaml'))).toBe(`${urlOf('open/sub/b.yaml')} a: 1`)
    expect(shown(await read('open/a.yaml', 4))).toBe(`${urlOf('open/a.yaml')} a: 1`)
    expect(shown(await read('open/a.yaml', 3))).toBe('url.too-large')
  })

  it('is refused in the same words whatever is there', async () => {
    symlinkSync('../secret.yaml', join(root, 'open/out.yaml'))
    symlinkSync('..', join(root, 'open/up'))
    symlinkSync('/proc/self/status', join(root, 'open/status.yaml'))
    symlinkSync('/dev/zero', join(root, 'open/zero.yaml'))
    execFileSync('mkfifo', [join(root, 'open/pipe.yaml')])
    writeFileSync(join(root, 'open/empty.yaml'), '')
    const names = [
      'secret.yaml',
      'open/../secret.yaml',
      'open/%2e%2e/secret.yaml',
      'open/..%2fsecret.yaml',
      'open-beside/c.yaml',
      'none.yaml',
      'open/none.yaml',
    ]
    const odd = [
      'open/out.yaml',
      'open/up/secret.yaml',
      'open/status.yaml',
      'open/zero.yaml',
      'open/pipe.yaml',
      'open/empty.yaml',
      'open',
      'open/sub',
      'open/a.yaml/x',
    ]
    for (const name of [...names, ...odd]) {
      const problem = (await read(name)) as Problem
      expect(problem).toEqual({
        code: 'url.file',
        path: '',
        reason: `${new URL(urlOf(name)).href} is not a bundle that may be read`,
      })
    }
    expect(shown(await fetchSource('file://elsewhere/a.yaml', { allowHttp: false, allow: [], fileRoot: '/' }))).toBe(
      'url.file',
    )
  })

  it('is refused for files that the kernel makes up, whatever directory is open', async () => {
    const policy = { allowHttp: false, allow: [], fileRoot: '/' }
    expect(shown(await fetchSource('file:///proc/self/status', policy))).toBe('url.file')
    expect(shown(await fetchSource('file:///sys/kernel/notes', policy))).toBe('url.file')
    expect(shown(await fetchSource(urlOf('secret.yaml'), policy))).toBe(`${urlOf('secret.yaml')} a: 1`)
  })

  it('is refused for Jsonnet too, and not read when it is too large', async () => {
    writeFileSync(join(root, 'open/a.jsonnet'), '{}')
    writeFileSync(join(root, 'open/large.yaml'), '')
    truncateSync(join(root, 'open/large.yaml'), 2 ** 40)
    expect(shown(await read('open/a.%6asonnet'))).toBe('url.jsonnet')
    expect(shown(await read('open/large.yaml'))).toBe('url.too-large')
  })
})
