import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseChecksum } from '../lib/checksum.ts'
import { type Clock, realClock } from '../lib/clock.ts'
import { ProblemsError } from '../lib/errors.ts'
import { faultyFiles } from '../lib/files.fake.ts'
import { realFiles } from '../lib/files.ts'
import { lacks } from '../lib/lacks.fake.ts'
import { silentProgress } from '../lib/progress.ts'
import { findProgram } from '../lib/run.ts'
import { type FetchRequest, fetchBlob, type Network, realNetwork } from './fetch.ts'
import { nextUrl } from './http.ts'
import {
  answer,
  type Behaviour,
  cutAfter,
  type LyingServer,
  lyingServer,
  serve,
  stallAfter,
} from './lying-server.fake.ts'

const content = Buffer.alloc(300_000)
for (let at = 0; at < content.length; at++) content[at] = (at * 7919) >> 3
const sha256 = createHash('sha256').update(content).digest('hex')
const checksum = parseChecksum(`sha256:${sha256}`)!

const openssl = findProgram('openssl')
let directory: string
const servers: LyingServer[] = []
const slept: number[] = []
const clock: Clock = { ...realClock, sleep: async ms => void slept.push(ms) }
const network: Network = { ...realNetwork, clock, random: () => 0.5, stallMs: 150, proxyEnv: {} }

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-fetch-'))
  slept.length = 0
})
afterEach(async () => {
  rmSync(directory, { recursive: true, force: true })
  await Promise.all(servers.splice(0).map(server => server.close()))
})

async function start(...behaviours: Behaviour[]) {
  const server = await lyingServer(...behaviours)
  servers.push(server)
  return server
}

const requestOf = (url: string, more: Partial<FetchRequest> = {}): FetchRequest => ({
  url,
  directory,
  files: realFiles,
  progress: silentProgress,
  signal: new AbortController().signal,
  label: 'runc 1.0',
  declaredAt: 'packageByNames.runc.source',
  ...more,
})

async function problemOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ProblemsError)
  const [problem] = (error as ProblemsError).problems
  return problem!
}

async function codeOf(promise: Promise<unknown>) {
  return (await problemOf(promise)).code
}

describe('a download', () => {
  it('lands in the directory under a name that the URL does not choose, and goes when it is released', async () => {
    const { url } = await start(serve(content))
    const blob = await fetchBlob(requestOf(`${url}/../../etc/passwd?name=x`, { checksum }), network)
    expect(readFileSync(blob.path).equals(content)).toBe(true)
    expect(blob).toMatchObject({ sha256, size: content.length })
    for (const name of readdirSync(directory)) expect(name).toMatch(/^[0-9a-f]{64}\.[\w.-]+$/)
    blob.release()
    blob.release()
    expect(readdirSync(directory)).toEqual([])
  })

  it('is read from a file:// mirror as well', async () => {
    const mirror = join(directory, 'mirror.bin')
    writeFileSync(mirror, content)
    const downloads = join(directory, 'downloads')
    mkdirSync(downloads)
    const blob = await fetchBlob(requestOf(pathToFileURL(mirror).href, { checksum, directory: downloads }), network)
    expect(readFileSync(blob.path).equals(content)).toBe(true)
    blob.release()
    expect(readdirSync(directory).sort()).toEqual(['downloads', 'mirror.bin'])
  })

  it('is made once for two who ask at the same time, and kept until both have released it', async () => {
    const server = await start(serve(content))
    const [one, two] = await Promise.all([
      fetchBlob(requestOf(server.url), network),
      fetchBlob(requestOf(server.url), network),
    ])
    one.release()
    expect(readFileSync(two.path).equals(content)).toBe(true)
    const three = await fetchBlob(requestOf(server.url), network)
    two.release()
    expect(readFileSync(three.path).equals(content)).toBe(true)
    three.release()
    expect(server.ranges).toEqual([''])
    expect(readdirSync(directory)).toEqual([])
  })

  it('goes on for one who waits when the other gives up', async () => {
    const release = Promise.withResolvers<void>()
    const server = await start(
      (request, response) => void release.promise.then(() => serve(content)(request, response)),
    )
    const controller = new AbortController()
    const given = fetchBlob(requestOf(server.url, { signal: controller.signal }), network)
    const waited = fetchBlob(requestOf(server.url), network)
    controller.abort()
    await expect(given).rejects.toThrow('aborted')
    release.resolve()
    const blob = await waited
    expect(blob.sha256).toBe(sha256)
    blob.release()
  })

  it('can be given up', async () => {
    const { url } = await start(() => {})
    const controller = new AbortController()
    const fetching = fetchBlob(requestOf(url, { signal: controller.signal }), { ...network, stallMs: 60_000 })
    setTimeout(() => controller.abort(), 20)
    await expect(fetching).rejects.toThrow('aborted')
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('a connection that breaks', () => {
  it.each([
    ['is cut', cutAfter(100_000, content)],
    ['stalls', stallAfter(100_000, content)],
  ])('when it %s, is gone on with where it was', async (_, behaviour) => {
    const server = await start(behaviour, serve(content))
    const blob = await fetchBlob(requestOf(server.url, { checksum }), network)
    expect(blob.sha256).toBe(sha256)
    expect(server.ranges).toEqual(['', 'bytes=100000-'])
    blob.release()
  })

  it('starts over when the server has another file now', async () => {
    const server = await start(cutAfter(100_000, Buffer.alloc(300_000)), serve(content, { etag: '"2"' }))
    const blob = await fetchBlob(requestOf(server.url), network)
    expect(server.ranges).toEqual(['', 'bytes=100000-'])
    expect(blob.sha256).toBe(sha256)
    blob.release()
  })

  it('starts over without a validator, or with one that promises little', async () => {
    for (const headers of [{}, { etag: 'W/"1"' }] as Record<string, string>[]) {
      const server = await start(cutAfter(1000, content, headers), serve(content))
      const blob = await fetchBlob(requestOf(server.url), network)
      expect(server.ranges).toEqual(['', ''])
      blob.release()
    }
  })

  it('goes on by the date where there is no ETag', async () => {
    const headers = { 'last-modified': 'Sun, 01 Feb 2026 10:00:00 GMT' }
    const server = await start(cutAfter(100_000, content, headers), serve(content, headers))
    const blob = await fetchBlob(requestOf(server.url), network)
    expect(server.ranges).toEqual(['', 'bytes=100000-'])
    expect(blob.sha256).toBe(sha256)
    blob.release()
  })

  it.each([
    ['another place', answer(206, { 'content-range': 'bytes 5-299999/300000' }, 'x')],
    ['no place', answer(206, {}, 'x')],
    ['not at all', answer(416, { 'content-range': 'bytes */5' })],
  ])('starts over when the server goes on from %s', async (_, behaviour) => {
    const server = await start(cutAfter(100_000, content), behaviour, serve(content))
    const blob = await fetchBlob(requestOf(server.url), network)
    expect(server.ranges).toEqual(['', 'bytes=100000-', ''])
    expect(blob.sha256).toBe(sha256)
    blob.release()
  })

  it('starts over once when what it went on with does not have the checksum', async () => {
    const other = Buffer.alloc(300_000, 'x')
    const server = await start(cutAfter(100_000, other), serve(content), serve(content))
    const blob = await fetchBlob(requestOf(server.url, { checksum }), network)
    expect(server.ranges).toEqual(['', 'bytes=100000-', ''])
    expect(blob.sha256).toBe(sha256)
    blob.release()
  })

  it('is tried five times with growing pauses, and gone on with in the next run', async () => {
    const hangUp: Behaviour = (_, response) => response.destroy()
    const server = await start(cutAfter(100_000, content), hangUp, hangUp, hangUp, hangUp, serve(content))
    expect(await codeOf(fetchBlob(requestOf(server.url), network))).toBe('source.unreachable')
    expect(slept).toEqual([375, 750, 1500, 3000])
    const blob = await fetchBlob(requestOf(server.url), network)
    expect(server.ranges).toEqual(['', ...Array(5).fill('bytes=100000-')])
    expect(blob.sha256).toBe(sha256)
    blob.release()
    expect(readdirSync(directory)).toEqual([])
  })

  it('tells a file that always breaks off', async () => {
    const { url } = await start(cutAfter(1000, content, {}))
    const problem = await problemOf(fetchBlob(requestOf(`${url}/runc?token=secret`), network))
    expect(problem).toMatchObject({ code: 'source.truncated', path: 'packageByNames.runc.source.uri' })
    expect(problem.reason).toContain('1.0 kB of 300.0 kB')
    expect(problem.reason).not.toContain('secret')
    expect(readdirSync(directory)).toEqual([])
  })

  it('waits as long as a busy server asks, but not for hours', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString()
    const server = await start(
      answer(503, { 'retry-after': '7' }),
      answer(429, { 'retry-after': '86400' }),
      answer(500, { 'retry-after': date }),
      answer(408),
      serve(content),
    )
    const blob = await fetchBlob(requestOf(server.url), network)
    expect(slept.slice(0, 2)).toEqual([7000, 120_000])
    expect(slept[2]).toBeGreaterThan(50_000)
    expect(slept[3]).toBe(3000)
    blob.release()
  })
})

describe('a part that a dead process left', () => {
  const dead = (bootId = clock.bootId()) => `${bootId}.4194304.1.part`
  const keyOf = (url: string, pinned: boolean) =>
    createHash('sha256')
      .update(JSON.stringify([url, pinned ? `sha256:${sha256}` : null]))
      .digest('hex')
  function leave(name: string, bytes: Uint8Array, validator = '"1"') {
    writeFileSync(join(directory, name), bytes)
    writeFileSync(join(directory, `${name}.validator`), validator)
  }

  it('is taken over and hashed again', async () => {
    const server = await start(serve(content))
    leave(`${keyOf(server.url, false)}.${dead()}`, content.subarray(0, 200_000))
    const blob = await fetchBlob(requestOf(server.url), network)
    expect(server.ranges).toEqual(['bytes=200000-'])
    expect(blob.sha256).toBe(sha256)
    blob.release()
    expect(readdirSync(directory)).toEqual([])
  })

  it('needs no network when it is whole and has the checksum', async () => {
    const server = await start(serve(content))
    leave(`${keyOf(server.url, true)}.${dead()}`, content)
    const blob = await fetchBlob(requestOf(server.url, { checksum }), network)
    expect(server.ranges).toEqual([])
    expect(blob.sha256).toBe(sha256)
    blob.release()
  })

  it('is used across a reboot only when a checksum tells whether it is right', async () => {
    const server = await start(serve(content))
    const bootId = '00000000-0000-0000-0000-000000000000'
    leave(`${keyOf(server.url, false)}.${dead(bootId)}`, content.subarray(0, 1000))
    const unpinned = await fetchBlob(requestOf(server.url), network)
    unpinned.release()
    leave(`${keyOf(server.url, true)}.${dead(bootId)}`, content.subarray(0, 1000))
    const pinned = await fetchBlob(requestOf(server.url, { checksum }), network)
    pinned.release()
    expect(server.ranges).toEqual(['', 'bytes=1000-'])
    expect(readdirSync(directory)).toEqual([])
  })

  it('is swept when it is old, and one of a living process never is', async () => {
    const { url } = await start(serve(content))
    const later: Clock = { ...clock, now: () => new Date(Date.now() + 8 * 24 * 3600 * 1000) }
    leave(`${'0'.repeat(64)}.${dead()}`, Buffer.from('old'))
    const living = `${'1'.repeat(64)}.${clock.bootId()}.1.${startTimeOfInit()}.part`
    leave(living, Buffer.from('used'))
    const blob = await fetchBlob(requestOf(url), { ...network, clock: later })
    blob.release()
    expect(readdirSync(directory).sort()).toEqual([living, `${living}.validator`])
  })

  const startTimeOfInit = () => {
    const stat = readFileSync('/proc/1/stat', 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  }
})

describe('an answer that is not the file', () => {
  it.each([
    [404, 'source.not-found'],
    [410, 'source.not-found'],
    [401, 'source.unauthorized'],
    [403, 'source.unauthorized'],
    [418, 'source.rejected'],
  ])('HTTP %d is told at once', async (status, code) => {
    const server = await start(answer(status))
    expect(await codeOf(fetchBlob(requestOf(server.url), network))).toBe(code)
    expect(server.ranges).toHaveLength(1)
    expect(readdirSync(directory)).toEqual([])
  })

  it('has another checksum: wanted and got are named, and nothing is kept', async () => {
    const { url } = await start(answer(200, {}, '<html>not here</html>'))
    const address = url.replace('http://', 'http://user:hunter2@')
    const problem = await problemOf(fetchBlob(requestOf(address, { checksum }), network))
    expect(problem).toMatchObject({ code: 'source.checksum-mismatch', path: 'packageByNames.runc.source.checksum' })
    expect(problem.reason).toContain(`wanted sha256:${sha256}, got sha256:`)
    expect(JSON.stringify(problem)).not.toContain('hunter2')
    expect(readdirSync(directory)).toEqual([])
  })

  it('checks the stronger algorithms too', async () => {
    const { url } = await start(serve(content))
    const sha512 = createHash('sha512').update(content).digest('base64')
    const right = await fetchBlob(requestOf(url, { checksum: parseChecksum(`sha512-${sha512}`)! }), network)
    right.release()
    const wrong = parseChecksum(`sha256:${sha256} sha512-${createHash('sha512').digest('base64')}`)!
    expect(await codeOf(fetchBlob(requestOf(url, { checksum: wrong }), network))).toBe('source.checksum-mismatch')
  })

  it('is larger than allowed, announced or not', async () => {
    const { url } = await start(serve(content), (_, response) => response.end(content))
    const small = { ...network, maxBytes: 1000 }
    expect(await codeOf(fetchBlob(requestOf(url), small))).toBe('source.too-large')
    expect(await codeOf(fetchBlob(requestOf(url), small))).toBe('source.too-large')
    expect(readdirSync(directory)).toEqual([])
  })

  it.skipIf(lacks('openssl'))('comes with a certificate that nobody vouches for (needs openssl)', async () => {
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    const options = { stdio: 'ignore' } as const
    execFileSync(openssl!, ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-days', '1', ...subject], options)
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    try {
      expect(await codeOf(fetchBlob(requestOf(url), network))).toBe('source.untrusted')
      expect(slept).toEqual([])
    } finally {
      server.close()
    }
  })

  it('is a file:// path that does not exist, or a directory', async () => {
    const missing = pathToFileURL(join(directory, 'missing')).href
    expect(await codeOf(fetchBlob(requestOf(missing), network))).toBe('source.not-found')
    expect(await codeOf(fetchBlob(requestOf(pathToFileURL(directory).href), network))).toBe('source.unreadable')
  })
})

describe('a redirect', () => {
  it('is followed, and the download goes on through it after a cut', async () => {
    const target = await start(cutAfter(100_000, content), serve(content))
    const server = await start(answer(302, { location: `${target.url}/blob` }))
    const blob = await fetchBlob(requestOf(server.url), network)
    expect(blob.sha256).toBe(sha256)
    expect(target.ranges).toEqual(['', 'bytes=100000-'])
    blob.release()
  })

  it('that leads round is told', async () => {
    const { url } = await start(answer(301, { location: '/again' }))
    expect(await codeOf(fetchBlob(requestOf(url), network))).toBe('source.too-many-redirects')
  })

  it('may leave neither encryption nor http', () => {
    const from = new URL('https://user:secret@example.com/a')
    expect(nextUrl(from, '/b').href).toBe('https://user:secret@example.com/b')
    expect(nextUrl(from, 'https://other.example/b').href).toBe('https://other.example/b')
    expect(nextUrl(new URL('http://example.com'), 'https://example.com/').href).toBe('https://example.com/')
    expect(() => nextUrl(from, 'http://example.com/a?token=x')).toThrow(
      expect.objectContaining({ code: 'source.insecure-redirect', message: expect.not.stringContaining('secret') }),
    )
    for (const location of ['file:///etc/passwd', 'ftp://example.com/', 'https://[', 'data:,x'])
      expect(() => nextUrl(from, location)).toThrow(expect.objectContaining({ code: 'source.redirect-invalid' }))
  })
})

describe('a disk that fails', () => {
  it.each([
    ['ENOSPC', 'disk.full'],
    ['EIO', 'fetch.write-failed'],
  ] as const)(
    'with %s stops the download at whichever call, and is not taken for the network',
    async (code, expected) => {
      const counting = faultyFiles(realFiles)
      const server = await start(serve(content))
      const blob = await fetchBlob(requestOf(server.url, { files: counting, checksum }), network)
      const { calls } = counting
      blob.release()
      for (let failAt = 1; failAt <= calls; failAt++) {
        const files = faultyFiles(realFiles, { failAt, code })
        const fetching = fetchBlob(requestOf(server.url, { files, checksum }), network)
        await expect(fetching, files.log[failAt - 1]).rejects.toThrow(expect.objectContaining({ code: expected }))
        expect(readdirSync(directory), files.log[failAt - 1]).toEqual([])
      }
      expect(calls).toBeGreaterThan(4)
      expect(slept).toEqual([])
    },
  )
})
