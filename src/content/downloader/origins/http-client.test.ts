import http from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { realClock } from '../../../lib/clock.ts'
import { realFiles } from '../../../lib/files.ts'
import { lacks } from '../../../lib/lacks.fake.ts'
import type { Datastore } from '../../messages.ts'
import { type FakeCertificates, makeCertificates } from './certificates.fake.ts'
import { blobAt, failureOf, never, shortStallMs, testOrigins, verdictOf } from './origins.fake.ts'
import { createOrigins } from './origins.ts'
import { answer, type FakeRegistry, redirectTo, saysNothing, stallAfter, startFakeRegistry } from './registry.fake.ts'

const body = Buffer.alloc(1_000_000, 'kept ')
const servers: { close(): unknown }[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.close()))
})

async function start(options: Parameters<typeof startFakeRegistry>[0] = {}) {
  const registry = await startFakeRegistry(options)
  servers.push(registry)
  return { ...registry, sha256: registry.addBlob(body) }
}

async function startHttp(listener: http.RequestListener) {
  let connections = 0
  const server = http.createServer(listener).on('connection', () => connections++)
  await new Promise<void>(up => server.listen(0, '127.0.0.1', up))
  servers.push({
    close: () => {
      server.closeAllConnections()
      return new Promise(done => server.close(done))
    },
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections }
}

/** A server below HTTP; `connections` are those it has now. */
async function startRaw(onConnection: (socket: Socket, count: number) => void) {
  let count = 0
  const connections = new Set<Socket>()
  const server = createServer(socket => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket)).on('error', () => {})
    onConnection(socket, ++count)
  })
  await new Promise<void>(up => server.listen(0, '127.0.0.1', up))
  servers.push({
    close: () => {
      for (const socket of connections) socket.destroy()
      return new Promise(done => server.close(done))
    },
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, connections, count: () => count }
}

const until = async (is: () => boolean) => {
  while (!is()) await new Promise(soon => setTimeout(soon, 5))
}

describe('connections', () => {
  it('are used again, also after answers that nobody wanted to read', async () => {
    const { url, connections } = await startHttp((request, response) => {
      if (request.url === '/from') response.writeHead(302, { location: '/to' }).end('moved')
      else if (request.url === '/missing') response.writeHead(404).end('nothing here')
      else response.end(body)
    })
    const origins = testOrigins()
    for (const path of ['/to', '/from', '/to'])
      expect((await origins.read({ source: { kind: 'url', url: url + path } })).bytes.equals(body)).toBe(true)
    expect(await verdictOf(origins.read({ source: { kind: 'url', url: `${url}/missing` } }))).toBe(
      'source.not-found missing',
    )
    await origins.read({ source: { kind: 'url', url: `${url}/to` } })
    expect(connections()).toBe(1)
  })

  it('that went stale while idle are replaced without a word', async () => {
    const good = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const server = await startRaw((socket, count) => {
      let requests = 0
      socket.on('data', () => {
        // The first connection hangs up on its second request, as a server does whose patience has just ended.
        if (count === 1 && ++requests === 2) socket.destroy()
        else socket.write(good)
      })
    })
    const origins = testOrigins()
    const source = { kind: 'url', url: `http://${server.host}/` } as const
    expect((await origins.read({ source })).bytes.toString()).toBe('ok')
    expect((await origins.read({ source })).bytes.toString()).toBe('ok')
    expect(server.count()).toBe(2)
  })

  it('that are cut before any answer have failed', async () => {
    const server = await startRaw(socket => socket.destroy())
    const source = { kind: 'url', url: `http://${server.host}/` } as const
    expect(await verdictOf(testOrigins().read({ source }))).toBe('source.unreachable passing')
    expect(server.count()).toBe(1)
  })

  it('that never get to speak TLS have stalled', async () => {
    const server = await startRaw(socket => void socket.resume())
    const source = { kind: 'url', url: `https://${server.host}/` } as const
    expect(await verdictOf(testOrigins([], shortStallMs).read({ source }))).toBe('source.stalled passing')
    await until(() => server.connections.size === 0)
  })

  it('that speak no HTTP have failed', async () => {
    const server = await startRaw(socket => void socket.end('220 mail.example ESMTP\r\n'))
    const source = { kind: 'url', url: `http://${server.host}/` } as const
    expect(await verdictOf(testOrigins().read({ source }))).toBe('source.unreachable passing')
  })
})

describe('an abort', () => {
  it.each([
    ['before anything was sent', null],
    ['while the server thinks', saysNothing],
    ['in the middle of the body', stallAfter(1000)],
  ])('%s ends it at once, with its reason', async (_, behave) => {
    const registry = await start()
    const controller = new AbortController()
    if (behave) registry.script.push(behave)
    else controller.abort(new Error('no longer wanted'))
    const reading = testOrigins().read(blobAt(registry, registry.sha256, { signal: controller.signal }))
    if (behave) void until(() => registry.seen.length > 0).then(() => controller.abort(new Error('no longer wanted')))
    await expect(reading).rejects.toThrow('no longer wanted')
    expect(registry.seen).toHaveLength(behave ? 1 : 0)
  })

  it('closes the connection, as closing does', async () => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`
    const server = await startRaw(socket => void socket.on('data', () => socket.write(head)))
    const controller = new AbortController()
    const source = { kind: 'url', url: `http://${server.host}/` } as const
    const origins = testOrigins()
    const open = () => origins.open({ source, as: 'blob', from: 0, signal: controller.signal })
    const closed = await open()
    closed.close()
    await until(() => server.connections.size === 0)
    await open()
    controller.abort()
    await until(() => server.connections.size === 0)
  })
})

describe('a body', () => {
  it('is fetched no faster than it is read', async () => {
    const whole = 64 * 2 ** 20
    let sent = 0
    const { url } = await startHttp((_, response) => {
      response.writeHead(200, { 'content-length': whole })
      const block = Buffer.alloc(2 ** 20)
      const send = () => {
        while (sent < whole) {
          sent += block.length
          if (!response.write(block)) return void response.once('drain', send)
        }
        response.end()
      }
      send()
    })
    const opened = await testOrigins().open({ source: { kind: 'url', url }, as: 'blob', from: 0, signal: never })
    let got = 0
    for await (const chunk of opened.body) {
      got += chunk.length
      if (got > 2 ** 20) break
    }
    // What the sockets of both sides hold is sent, and not the rest.
    expect(sent).toBeLessThan(whole / 2)
  })

  it.each(['of known length', 'in pieces'])('%s keeps its bytes while others come in', async how => {
    const bodies = ['/a', '/b', '/c'].map(path => Buffer.alloc(3_000_000, `what ${path} holds `))
    const { url } = await startHttp((request, response) => {
      const [sent = Buffer.alloc(0)] = bodies.filter(each => each.includes(`${request.url} `))
      if (how === 'of known length') response.setHeader('content-length', sent.length)
      for (let at = 0; at < sent.length; at += 100_000) response.write(sent.subarray(at, at + 100_000))
      response.end()
    })
    const origins = testOrigins()
    const read = async (path: string) => {
      const source = { kind: 'url', url: `${url}${path}` } as const
      const opened = await origins.open({ source, as: 'blob', from: 0, signal: never })
      const chunks: Buffer[] = []
      for await (const chunk of opened.body) {
        chunks.push(chunk)
        await new Promise(later => setTimeout(later, 1))
      }
      return Buffer.concat(chunks)
    }
    const all = await Promise.all(['/a', '/b', '/c'].map(read))
    expect(all.map((bytes, index) => bytes.equals(bodies[index]!))).toEqual([true, true, true])
  })

  it('does not stall because its reader takes time', async () => {
    const registry = await start()
    const origins = testOrigins([], shortStallMs)
    const opened = await origins.open({ as: 'blob', from: 0, signal: never, ...blobAt(registry, registry.sha256) })
    let got = 0
    for await (const chunk of opened.body) {
      if (got === 0) await new Promise(later => setTimeout(later, 3 * shortStallMs))
      got += chunk.length
    }
    expect(got).toBe(body.length)
  })
})

describe('a proxy', () => {
  const through = (proxy: string, datastores: readonly Datastore[] = []) => {
    const origins = createOrigins({ clock: realClock, proxyEnv: { HTTP_PROXY: proxy }, files: realFiles })
    origins.configure(datastores, 5000)
    return async (url: string) => {
      const opened = await origins.open({ source: { kind: 'url', url }, as: 'blob', from: 0, signal: never })
      return Buffer.concat(await Array.fromAsync(opened.body)).toString()
    }
  }

  it('is asked for others, and never for this machine', async () => {
    const asked: (string | undefined)[] = []
    const proxy = await startHttp(({ url }, response) => {
      asked.push(url)
      response.end('from the proxy')
    })
    const registry = await start()
    registry.add('/here', { body: Buffer.from('from here'), headers: {} })
    const read = through(proxy.url)
    expect(await read(`${registry.url}/here`)).toBe('from here')
    expect(await read('http://files.example/there')).toBe('from the proxy')
    expect(asked).toEqual(['http://files.example/there'])
  })

  it('never sees a password for others, nor does anybody else on the way', async () => {
    const seen: (string | undefined)[] = []
    const proxy = await startHttp(({ headers }, response) => {
      seen.push(headers.authorization)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    })
    const read = through(proxy.url, [{ host: 'files.example', username: 'ann', password: 'secret' }])
    for (const user of ['', 'ann:secret@'])
      expect(await verdictOf(read(`http://${user}files.example/there`))).toBe('source.unauthorized denied')
    expect(seen).toEqual([undefined, undefined])
  })

  it('has a password that is in no text', async () => {
    const failure = await failureOf(through('http://ann:canary@127.0.0.1:1')('http://files.example/there'))
    expect(failure.code).toBe('source.unreachable')
    expect(`${failure.stack}`).not.toContain('canary')
  })
})

describe.skipIf(lacks('openssl'))('a server with TLS (needs openssl)', () => {
  let certificates: FakeCertificates
  let registry: FakeRegistry & { sha256: ReturnType<FakeRegistry['addBlob']> }
  beforeAll(() => {
    certificates = makeCertificates()
  })
  beforeEach(async () => {
    registry = await start({ tls: certificates, auth: 'bearer', username: 'ann', password: 'secret' })
  })

  it('is trusted with the authority of its datastore, its place for tokens too', async () => {
    const origins = testOrigins([{ host: registry.host, ca: certificates.ca, username: 'ann', password: 'secret' }])
    expect((await origins.read(blobAt(registry, registry.sha256))).bytes.equals(body)).toBe(true)
  })

  it('is not trusted without it, nor with that of another host', async () => {
    const source = { kind: 'url', url: `${registry.url}/` } as const
    const other = testOrigins([{ host: '127.0.0.1:1', ca: certificates.ca }])
    for (const origins of [testOrigins(), other])
      expect(await verdictOf(origins.read({ source }))).toBe('source.untrusted refused')
  })

  it('is not trusted with an authority that cannot be read', async () => {
    for (const ca of ['no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
      const origins = testOrigins([{ host: registry.host, ca }])
      expect(await verdictOf(origins.read(blobAt(registry, registry.sha256)))).toBe('source.untrusted refused')
    }
  })

  it('may not lead into the clear, not even to this machine', async () => {
    const plain = await start()
    const open = await start({ tls: certificates })
    const origins = testOrigins([{ host: open.host, ca: certificates.ca }])
    for (const source of [blobAt(open, open.sha256).source, { kind: 'url', url: `${open.url}/x` } as const]) {
      open.script.push(redirectTo(`${plain.url}/x`))
      expect(await verdictOf(origins.read({ source, sha256: open.sha256 }))).toBe('source.insecure-redirect refused')
    }
    expect(plain.seen).toEqual([])
  })

  it('may not send us to log in in the clear, not even on this machine', async () => {
    const plain = await start()
    const open = await start({ tls: certificates })
    open.script.push(answer(401, { 'www-authenticate': `Bearer realm="${plain.url}/token"` }))
    const origins = testOrigins([{ host: open.host, ca: certificates.ca }])
    expect(await verdictOf(origins.read(blobAt(open, open.sha256)))).toBe('source.realm-refused refused')
    expect(plain.seen).toEqual([])
  })

  it('is not there when only http is spoken', async () => {
    const plain = await start()
    const origins = testOrigins([{ host: plain.host, ca: certificates.ca }])
    expect(await verdictOf(origins.read(blobAt(plain, plain.sha256)))).toBe('source.unreachable passing')
  })
})
