// Servers, disks and hands that misbehave, each in a way of its own, against the program as it ships. What is asked for ends
// verified with the right bytes, or in an error that says what is wrong and whether it passes; and at no moment does a name
// in verified/ have other bytes than it says.

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCertificates } from '../../src/content/downloader/origins/certificates.fake.ts'
import type { ContentStatus, Sha256 } from '../../src/content/messages.ts'
import { describeWith } from '../require.ts'
import { mountForTest } from '../volumes/tools.ts'
import { type ContentMachine, type Daemon, installCairn, namesIn, type Program, until } from './faults-machine.ts'
import {
  answer,
  type Behaviour,
  chunked,
  cutAfter,
  type FaultyServer,
  honest,
  longerThanPromised,
  otherBytes,
  partCalled,
  type ServerOptions,
  serveImage,
  startServer,
  stopAfter,
  wholeAlways,
} from './faults-server.ts'
import { type VerifiedWatch, watchVerified } from './faults-verified.ts'

const mib = 2 ** 20
/** What may be fetched a second time after a crash, and what was on its way then. */
const mostTwice = 8 * mib + mib

let program: Program
beforeAll(async () => {
  program = await installCairn()
})
afterAll(() => program?.remove())

/** A pull of one file, pinned. */
const pull = (machine: ContentMachine, server: FaultyServer, path: string, sha256: Sha256) =>
  machine.cairn('content', 'pull', server.url(path), '--digest', sha256)

function verifiedBytes({ layout }: ContentMachine, sha256: Sha256): Buffer | null {
  const [name] = namesIn(layout.verified).filter(found => found.startsWith(sha256))
  return name === undefined ? null : readFileSync(join(layout.verified, name))
}

describe.concurrent('a server', () => {
  const servers: FaultyServer[] = []
  const serve = async (options?: ServerOptions) => {
    const server = await startServer(options)
    servers.push(server)
    return server
  }
  let machine: ContentMachine
  let daemon: Daemon
  let watch: VerifiedWatch
  // Those that the settings know.
  let authority: FaultyServer
  let liar: FaultyServer
  let withPassword: FaultyServer
  let withTokens: FaultyServer
  let behindDeadMirror: FaultyServer
  const tokens = { good: 'token-1', given: 0 }

  beforeAll(async () => {
    machine = program.machine()
    ;[authority, liar, withPassword, withTokens, behindDeadMirror] = await Promise.all([
      serve(),
      serve(),
      serve({ guard: wantsPassword }),
      serve({ guard: (...exchange) => wantsToken(withTokens.origin, tokens, ...exchange) }),
      serve(),
    ])
    const gone = await startServer()
    await gone.close()
    machine.configure(
      {
        'content.stall': '20s',
        'content.atOnce': 16,
        'content.perHost': 16,
        'content.reserve': false,
        datastores: [
          { host: authority.host, mirrors: [liar.host] },
          { host: withPassword.host, username: 'ann', passwordFile: 'password' },
          { host: behindDeadMirror.host, mirrors: [gone.host] },
        ],
      },
      { password: 'correct horse' },
    )
    watch = watchVerified(machine.layout.verified)
    daemon = await machine.daemon()
  })
  afterAll(async () => {
    await daemon?.stop()
    await Promise.all(servers.map(server => server.close()))
    const wrong = watch.end()
    expect(wrong).toEqual([])
    expect(watch.seen).toBeGreaterThan(10)
  })

  /** Asked for once, through this script; ends verified. Tells how the server was asked. */
  async function comesThrough(body: Buffer, ...script: Behaviour[]) {
    const server = await serve()
    const sha256 = server.put('/file', body, ...script)
    const { code, said } = await pull(machine, server, '/file', sha256)
    expect({ code, said }).toMatchObject({ code: 0, said: { state: 'verified', sha256 } })
    expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
    return { server, asked: server.gets('/file') }
  }

  /** Nothing under its name, and it is not asked for any longer. */
  async function cannotBeHad(reference: string, flags: string[], { code, passes }: { code: string; passes: boolean }) {
    const failed = await machine.cairn('content', 'pull', reference, ...flags)
    expect(failed).toMatchObject({ code: 1, said: { error: { code } } })
    expect(failed.said.error.hint ?? '').toMatch(passes ? /^It may pass/ : /^(?!It may pass)/)
    return failed.said.error
  }

  it('that cuts the connection again and again is gone on with, and sends little twice', async () => {
    const body = randomBytes(24 * mib)
    const { server, asked } = await comesThrough(body, ...[1, 2, 3].map(() => cutAfter(5 * mib)))
    expect(asked.map(({ from }) => from)).toEqual([null, upTo(5 * mib), upTo(10 * mib), upTo(15 * mib)])
    expect(server.sent - body.length).toBeLessThanOrEqual(mostTwice)
  })

  it('that says nothing more is given up and gone on with', async () => {
    const { asked } = await comesThrough(randomBytes(3 * mib), stopAfter(mib))
    expect(asked.map(({ from }) => from)).toEqual([null, upTo(mib)])
  })

  it('that goes on at another place than was asked for is asked for all of it', async () => {
    const size = 3 * mib
    const script = [cutAfter(mib), partCalled(`bytes 0-${size - 1}/${size}`, 0)]
    const { asked } = await comesThrough(randomBytes(size), ...script)
    expect(asked.map(({ from }) => from)).toEqual([null, upTo(mib), null])
  })

  it('that goes on with the bytes of another file is not believed', async () => {
    const { asked } = await comesThrough(randomBytes(3 * mib), cutAfter(mib), otherBytes(randomBytes(3 * mib)))
    expect(asked.map(({ from }) => from)).toEqual([null, upTo(mib), null])
  })

  it('that knows no ranges sends all of it once more', async () => {
    const { asked } = await comesThrough(randomBytes(3 * mib), cutAfter(mib), wholeAlways)
    expect(asked.map(({ from }) => from)).toEqual([null, upTo(mib)])
  })

  it('that has no such range is asked for all of it', async () => {
    const { asked } = await comesThrough(randomBytes(3 * mib), cutAfter(mib), answer(416))
    expect(asked.map(({ from }) => from)).toEqual([null, upTo(mib), null])
  })

  it('that sends more than it promised has no influence on what is kept', async () => {
    await comesThrough(randomBytes(mib), longerThanPromised(Buffer.from('HTTP/1.1 200 OK\r\n\r\nmore')))
  })

  it('that sends less than all, and calls it all, is asked again', async () => {
    const body = randomBytes(3 * mib)
    const { asked } = await comesThrough(body, otherBytes(body.subarray(0, mib)), chunked(body.subarray(0, mib)))
    expect(asked.map(({ from }) => from)).toEqual([null, null, null])
  })

  it('that sends more than all is asked again', async () => {
    const body = randomBytes(mib)
    await comesThrough(body, chunked(Buffer.concat([body, body])))
  })

  it('that asks to wait is left alone for that long, by everybody', async () => {
    const server = await serve()
    const [first, second] = [randomBytes(mib), randomBytes(mib)]
    server.put('/first', first, answer(429, { 'retry-after': '4' }))
    server.put('/second', second)
    const one = pull(machine, server, '/first', sha256Of(first))
    await until('it was asked', () => server.asked.length > 0)
    const other = pull(machine, server, '/second', sha256Of(second))
    expect([(await one).code, (await other).code]).toEqual([0, 0])
    const [refused, ...later] = server.asked
    expect(Math.min(...later.map(({ at }) => at)) - refused!.at).toBeGreaterThanOrEqual(3900)
  })

  it('that asks to wait for an hour is told of, and is not asked again', async () => {
    const server = await serve()
    const sha256 = server.put('/file', randomBytes(mib), answer(503, { 'retry-after': '3600' }))
    const flags = ['--digest', sha256]
    await cannotBeHad(server.url('/file'), flags, { code: 'source.busy', passes: true })
    await cannotBeHad(server.url('/file'), flags, { code: 'content.host-busy', passes: true })
    expect(server.asked).toHaveLength(1)
  })

  it('that has wrong bytes only is asked five times, and then left alone', async () => {
    const server = await serve()
    const right = randomBytes(mib)
    server.put('/file', randomBytes(mib))
    const flags = ['--digest', sha256Of(right)]
    const { message } = await cannotBeHad(server.url('/file'), flags, {
      code: 'content.digest-mismatch',
      passes: false,
    })
    expect(message).toContain(sha256Of(right))
    expect(server.gets('/file')).toHaveLength(5)
    expect(verifiedBytes(machine, sha256Of(right))).toBeNull()
  })

  it('that has right bytes comes to its turn when its mirror has wrong ones', async () => {
    const body = randomBytes(mib)
    const sha256 = authority.put('/file', body)
    liar.put('/file', randomBytes(mib))
    expect((await pull(machine, authority, '/file', sha256)).code).toBe(0)
    expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
    expect([liar.gets('/file').length, authority.gets('/file').length]).toEqual([1, 1])
  })

  it('whose mirror is down is asked itself', async () => {
    const body = randomBytes(mib)
    const sha256 = behindDeadMirror.put('/file', body)
    expect((await pull(machine, behindDeadMirror, '/file', sha256)).code).toBe(0)
    expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
  })

  it('that is not there is told of, after a few tries', async () => {
    const gone = await startServer()
    await gone.close()
    const flags = ['--digest', sha256Of(Buffer.from('x'))]
    await cannotBeHad(gone.url('/file'), flags, { code: 'source.unreachable', passes: true })
  })

  it.each<[string, Behaviour, string]>([
    ['shorter', otherBytes(Buffer.alloc(mib - 1)), 'content.too-short'],
    ['longer', otherBytes(Buffer.alloc(mib + 1)), 'content.too-long'],
    ['longer, without saying so,', chunked(Buffer.alloc(mib + 1)), 'content.too-long'],
  ])('with a layer that is %s than its manifest says is told of', async (_, behaviour, code) => {
    const server = await serve()
    const { reference, layers } = serveImage(server, [randomBytes(mib)], [behaviour])
    await cannotBeHad(reference, [], { code, passes: true })
    expect(verifiedBytes(machine, layers[0]!.sha256)).toBeNull()
  })

  it('with a web page in the place of a layer is told of', async () => {
    const server = await serve()
    const page = answer(200, { 'content-type': 'text/html; charset=utf-8' }, '<!doctype html><title>Log in</title>')
    const { reference } = serveImage(server, [randomBytes(mib)], [page])
    const { message } = await cannotBeHad(reference, [], { code: 'source.not-content', passes: false })
    expect(message).toContain('a web page')
  })

  it('with a web page in the place of a file has wrong bytes', async () => {
    const server = await serve()
    server.putTyped('/file', Buffer.from('<!doctype html>'), { 'content-type': 'text/html' })
    const flags = ['--digest', sha256Of(Buffer.from('disk'))]
    await cannotBeHad(server.url('/file'), flags, { code: 'content.digest-mismatch', passes: false })
  })

  it('whose token runs out in the middle of a layer gives another, and the layer is gone on with', async () => {
    const layer = randomBytes(6 * mib)
    const expire: Behaviour = async exchange => {
      tokens.good = 'token-2'
      await cutAfter(2 * mib)(exchange)
    }
    const { reference, layers } = serveImage(withTokens, [layer], [expire])
    expect(await machine.cairn('content', 'pull', reference)).toMatchObject({ code: 0, said: { state: 'verified' } })
    expect(verifiedBytes(machine, layers[0]!.sha256)?.equals(layer)).toBe(true)
    const asked = withTokens.gets(layers[0]!.path).map(({ from, headers }) => [from, headers.authorization])
    expect(asked).toEqual([
      [null, 'Bearer token-1'],
      [upTo(2 * mib), 'Bearer token-1'],
      [upTo(2 * mib), 'Bearer token-2'],
    ])
    expect(tokens.given).toBe(2)
  })

  it('that sends elsewhere is followed, and the password is not sent there', async () => {
    const elsewhere = await serve()
    const layer = randomBytes(mib)
    const sha256 = elsewhere.put('/blob', layer)
    const sends = answer(307, { location: `${elsewhere.url('/blob')}?signature=1` })
    const { reference } = serveImage(withPassword, [layer], [sends])
    expect((await machine.cairn('content', 'pull', reference)).code).toBe(0)
    expect(verifiedBytes(machine, sha256)?.equals(layer)).toBe(true)
    expect(withPassword.asked.some(({ headers }) => headers.authorization?.startsWith('Basic '))).toBe(true)
    expect(elsewhere.asked.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/blob?signature=1', undefined],
    ])
  })
})

describeWith(['openssl'], 'a server that speaks TLS', () => {
  it('is not followed to one that does not', async () => {
    const certificates = makeCertificates()
    const [secure, plain] = [await startServer({ tls: certificates }), await startServer()]
    const machine = program.machine()
    machine.configure({ datastores: [{ host: secure.host, caFile: 'ca.pem' }] }, { 'ca.pem': certificates.ca })
    const body = randomBytes(mib)
    const sha256 = plain.put('/file', body)
    secure.put('/file', body, answer(302, { location: plain.url('/file') }))
    expect(await pull(machine, secure, '/file', sha256)).toMatchObject({
      code: 1,
      said: { error: { code: 'source.insecure-redirect' } },
    })
    expect(plain.asked).toEqual([])
    expect((await pull(machine, secure, '/file', sha256)).code).toBe(0)
    await Promise.all([secure.close(), plain.close()])
  })
})

describe('a machine', () => {
  let server: FaultyServer
  let machine: ContentMachine
  let daemon: Daemon
  beforeAll(async () => {
    server = await startServer()
    machine = program.machine()
    machine.configure({ 'content.reserve': false })
    daemon = await machine.daemon()
  })
  afterAll(async () => {
    await daemon?.stop()
    await server?.close()
  })

  /** The one download has come nearly as far as `size`, where its server waits. */
  const pendingOf = async (size: number): Promise<string> => {
    const find = () =>
      namesIn(machine.layout.pending)
        .map(name => join(machine.layout.pending, name))
        .find(path => !path.endsWith('.progress') && lstatSync(path).size > size - mib)
    return (await until('a download waits', find)) as string
  }

  it('whose downloader is killed in the middle fetches at most 8 MiB a second time', async () => {
    const body = randomBytes(40 * mib)
    const sha256 = server.put('/large', body, stopAfter(30 * mib))
    const before = server.sent
    const pulled = pull(machine, server, '/large', sha256)
    await pendingOf(30 * mib)
    process.kill(daemon.processes().get('downloader')!, 'SIGKILL')
    expect((await pulled).code).toBe(0)
    expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
    expect(server.gets('/large')).toHaveLength(2)
    expect(server.sent - before - body.length).toBeLessThanOrEqual(mostTwice)
  })

  it.each<[string, (pending: string, bait: string) => void]>([
    ['a link to another file', (pending, bait) => symlinkSync(bait, emptied(pending))],
    ['a FIFO', pending => execFileSync('mkfifo', [emptied(pending)])],
    ['another file with a second name', (pending, bait) => linkSync(bait, emptied(pending))],
    ['itself with a second name', (pending, bait) => linkSync(pending, `${bait}.second`)],
  ])(
    'on which somebody puts %s in the place of a download reads none of it, and fetches anew',
    async (what, replace) => {
      const watch = watchVerified(machine.layout.verified)
      const { pulled, sha256, body, path, bait } = await replaced(`/${what.replaceAll(' ', '-')}`, replace)
      expect(await pulled).toMatchObject({ code: 0, said: { state: 'verified' } })
      expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
      expect(server.gets(path)).toHaveLength(2)
      expect(readFileSync(bait).equals(body)).toBe(true)
      expect(daemon.log).toMatch(new RegExp(`${sha256}: .*this may be an attack, and nothing of it was read`))
      expect(watch.end()).toEqual([])
    },
  )

  it('on which somebody puts a directory in the place of a download leaves it, and goes on when it is gone', async () => {
    const { pulled, sha256, path, body } = await replaced('/a-directory', pending => mkdirSync(emptied(pending)))
    expect(await pulled).toMatchObject({
      code: 1,
      said: { error: { code: 'content.write-failed', hint: expect.stringContaining('It may pass') } },
    })
    const [directory = ''] = namesIn(machine.layout.pending).filter(name => name.endsWith(sha256))
    rmdirSync(join(machine.layout.pending, directory))
    expect((await pull(machine, server, path, sha256)).code).toBe(0)
    expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
  })

  /** While its server waits in the middle, something happens to the pending file. The bait has the very bytes. */
  async function replaced(path: string, replace: (pending: string, bait: string) => void) {
    const goOn = Promise.withResolvers<void>()
    const body = randomBytes(3 * mib)
    const sha256 = server.put(path, body, stopAfter(2 * mib, goOn.promise))
    const bait = join(machine.root, `bait-${path.slice(1)}`)
    writeFileSync(bait, body)
    const pulled = pull(machine, server, path, sha256)
    replace(await pendingOf(2 * mib), bait)
    goOn.resolve()
    return { pulled, sha256, body, path, bait }
  }
})

describe('a verified file that rots', () => {
  let server: FaultyServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server?.close())

  /** One bit, and nothing that could be seen from outside. */
  function rot(machine: ContentMachine, sha256: Sha256) {
    const [name = ''] = namesIn(machine.layout.verified).filter(found => found.startsWith(sha256))
    const path = join(machine.layout.verified, name)
    const { atime, mtime } = statSync(path)
    const bytes = readFileSync(path)
    bytes[bytes.length >> 1]! ^= 1
    chmodSync(path, 0o600)
    writeFileSync(path, bytes)
    chmodSync(path, 0o400)
    utimesSync(path, atime, mtime)
  }

  it('is found by content verify, taken away and fetched again', async () => {
    const machine = program.machine()
    const [rotten, sound] = [randomBytes(mib), randomBytes(mib)]
    const [rottenSha, soundSha] = [server.put('/rots', rotten), server.put('/stays', sound)]
    await pull(machine, server, '/rots', rottenSha)
    await pull(machine, server, '/stays', soundSha)
    const daemon = await machine.daemon()
    try {
      await machine.cairn('content', 'list')
      rot(machine, rottenSha)
      const checked = await machine.cairn<{ checked: number; damaged: object[] }>('content', 'verify')
      expect(checked).toMatchObject({ code: 1, said: { checked: 2, damaged: [{ sha256: rottenSha }] } })
      await until('it is there again', () => verifiedBytes(machine, rottenSha)?.equals(rotten))
      expect(verifiedBytes(machine, soundSha)?.equals(sound)).toBe(true)
      expect([server.gets('/rots').length, server.gets('/stays').length]).toEqual([2, 1])
      expect(await machine.cairn('content', 'verify')).toMatchObject({ code: 0, said: { checked: 2, damaged: [] } })
    } finally {
      await daemon.stop()
    }
  })

  it('is found at the next start, and is never said to be there', async () => {
    const machine = program.machine()
    machine.configure({ 'content.rehash': 'full' })
    const body = randomBytes(mib)
    const sha256 = server.put('/file', body, honest, answer(503), answer(503))
    await pull(machine, server, '/file', sha256)
    rot(machine, sha256)
    const daemon = await machine.daemon()
    try {
      const isSaid = async () => {
        const { said } = await machine.cairn<{ content: ContentStatus[] }>('content', 'list')
        return said.content[0]?.state === 'verified'
      }
      await until('it is said to be there', isSaid)
      expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
      expect(server.gets('/file')).toHaveLength(4)
      expect(daemon.log).toContain(`verifier: ${sha256}`)
    } finally {
      await daemon.stop()
    }
  })
})

describeWith(['root'], 'a disk that is full', () => {
  let server: FaultyServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server?.close())

  async function smallMachine(mebibytes: number) {
    const machine = program.machine()
    machine.configure({ 'content.reserve': false })
    const disk = join(machine.root, 'cairn')
    await mountForTest({ type: 'tmpfs', source: 'none', options: `size=${mebibytes}m`, at: disk })
    return { machine, fill: join(disk, 'filler') }
  }

  it('is told with numbers, and the same command goes through when there is room', async () => {
    const { machine, fill } = await smallMachine(40)
    const watch = watchVerified(machine.layout.verified)
    writeFileSync(fill, Buffer.alloc(24 * mib))
    const layer = randomBytes(12 * mib)
    const { reference, layers } = serveImage(server, [layer])
    const { code, said } = await machine.cairn('content', 'pull', reference)
    expect({ code, said }).toMatchObject({ code: 1, said: { error: { code: 'content.no-space' } } })
    const [, needed, free] = /(\d+) bytes \(.*?\) are needed, and (\d+) /.exec(said.error.message) ?? []
    expect(Number(needed)).toBe(24 * mib)
    expect(Number(free)).toBeLessThan(16 * mib)
    expect(server.gets(layers[0]!.path)).toEqual([])

    rmSync(fill)
    expect(await machine.cairn('content', 'pull', reference)).toMatchObject({ code: 0, said: { state: 'verified' } })
    expect(verifiedBytes(machine, layers[0]!.sha256)?.equals(layer)).toBe(true)
    expect(watch.end()).toEqual([])
  })

  it('in the middle of a download is told, and the same command goes through when there is room', async () => {
    const { machine, fill } = await smallMachine(40)
    const watch = watchVerified(machine.layout.verified)
    const goOn = Promise.withResolvers<void>()
    const body = randomBytes(16 * mib)
    const sha256 = server.put('/grows', body, stopAfter(4 * mib, goOn.promise))
    const pulled = pull(machine, server, '/grows', sha256)
    await until('it has begun', () => server.gets('/grows').length === 1)
    writeFileSync(fill, Buffer.alloc(32 * mib))
    goOn.resolve()
    expect(await pulled).toMatchObject({
      code: 1,
      said: { error: { code: 'content.no-space', hint: expect.stringContaining('again') } },
    })
    rmSync(fill)
    expect((await pull(machine, server, '/grows', sha256)).code).toBe(0)
    expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
    expect(watch.end()).toEqual([])
  })

  it('while a download is verified is told, and nothing half-made is left', async () => {
    const { machine, fill } = await smallMachine(40)
    const watch = watchVerified(machine.layout.verified)
    const goOn = Promise.withResolvers<void>()
    const body = randomBytes(16 * mib)
    const sha256 = server.put('/whole', body, stopAfter(15 * mib, goOn.promise))
    const pulled = pull(machine, server, '/whole', sha256)
    await until('it has begun', () => server.gets('/whole').length === 1)
    writeFileSync(fill, Buffer.alloc(20 * mib))
    goOn.resolve()
    expect(await pulled).toMatchObject({ code: 1, said: { error: { code: 'content.no-space' } } })
    expect(namesIn(machine.layout.verified)).toEqual([])
    expect(namesIn(machine.layout.verifier).filter(name => name.includes(sha256))).toEqual([])
    rmSync(fill)
    expect((await pull(machine, server, '/whole', sha256)).code).toBe(0)
    expect(verifiedBytes(machine, sha256)?.equals(body)).toBe(true)
    expect(watch.end()).toEqual([])
  })
})

/** Where a request goes on after so many bytes were sent: what had not left the socket when it broke is lost. */
const upTo = (sent: number) => expect.toSatisfy((from: unknown) => Number(from) > sent - mib && Number(from) <= sent)

const emptied = (path: string): string => {
  rmSync(path)
  return path
}

const sha256Of = (bytes: Buffer): Sha256 => createHash('sha256').update(bytes).digest('hex') as Sha256

const wantsPassword: NonNullable<ServerOptions['guard']> = ({ headers }, response) => {
  const expected = `Basic ${Buffer.from('ann:correct horse').toString('base64')}`
  if (headers.authorization === expected) return false
  response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
  return true
}

function wantsToken(
  origin: string,
  tokens: { readonly good: string; given: number },
  { url = '', headers }: Parameters<NonNullable<ServerOptions['guard']>>[0],
  response: Parameters<NonNullable<ServerOptions['guard']>>[1],
): boolean {
  if (url.startsWith('/token')) {
    tokens.given++
    response.end(JSON.stringify({ token: tokens.good, expires_in: 3600 }))
    return true
  }
  if (headers.authorization === `Bearer ${tokens.good}`) return false
  response.writeHead(401, { 'www-authenticate': `Bearer realm="${origin}/token",service="test"` }).end()
  return true
}
