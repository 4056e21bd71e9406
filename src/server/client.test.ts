import { createServer as createPlain } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Secret } from '../lib/redact.ts'
import { createClient } from './client.ts'
import { routes } from './contract/all.ts'

const servers: Server[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => new Promise(resolve => server.close(resolve))))
})

async function listening(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const failureAt = async (url: string) => {
  const client = createClient({ url })
  const failure = await client.call(routes.health, {}).catch((error: unknown) => error)
  await client.close()
  return failure
}

describe('the client', () => {
  it('says in plain words that nobody is there, and how to start a server', async () => {
    const server = createPlain()
    const url = await listening(server)
    await new Promise(resolve => server.close(resolve))
    servers.pop()
    expect(await failureAt(url)).toMatchObject({
      code: 'server.unreachable',
      message: `no server answers at ${url}/`,
      hint: expect.stringContaining('cairn up'),
    })
  })

  it('says when something else answers', async () => {
    const web = await listening(createPlain((_request, response) => response.end('<html>')))
    expect(await failureAt(web)).toMatchObject({ code: 'server.answer-unreadable' })
    const other = await listening(
      createSocketServer(socket => socket.on('data', () => socket.end('SSH-2.0\r\n\r\n', () => socket.destroy()))),
    )
    expect(await failureAt(other)).toMatchObject({ code: 'server.protocol' })
  })

  it('says when the connection is lost', async () => {
    const url = await listening(createSocketServer(socket => socket.on('data', () => socket.destroy())))
    expect(await failureAt(url)).toMatchObject({ code: 'server.connection-lost' })
  })

  it('sends no token in clear over a network, and takes no address that is none', () => {
    const token = new Secret('cairn_x_y')
    expect(() => createClient({ url: 'http://cairn.example:8420', token })).toThrow(
      expect.objectContaining({ code: 'server.plain-http' }),
    )
    for (const url of ['cairn.example', 'ftp://cairn.example', 'https://user:pass@cairn.example'])
      expect(() => createClient({ url, token })).toThrow(expect.objectContaining({ code: 'server.address-invalid' }))
    for (const url of ['http://localhost:1', 'http://127.0.0.2:1', 'http://[::1]:1', 'https://cairn.example'])
      expect(() => createClient({ url, token })).not.toThrow()
  })

  it('writes path and query so that nothing in them is taken for something else', async () => {
    let asked: string | undefined
    const url = await listening(
      createPlain((request, response) => {
        asked = request.url
        response.end('{}')
      }),
    )
    const client = createClient({ url })
    const query = { name: ['a&b', 'c d'], limit: 5 }
    await client.call(routes.listStacks, { query })
    expect(asked).toBe('/api/v1/stacks?name=a%26b&name=c+d&limit=5')
    await client.call(routes.getStack, { params: { id: 'a/../b?c#d' } })
    expect(asked).toBe('/api/v1/stacks/a%2F..%2Fb%3Fc%23d')
    await client.close()
  })

  it('says that an apply was cut off before its answer', async () => {
    const url = await listening(
      createPlain((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' })
        response.end('{"seq":1,"action":"create","resource":"Label/a","state":"running"}\n')
      }),
    )
    const client = createClient({ url })
    const seen: unknown[] = []
    const failure = await client
      .stream(routes.applyBundle, { body: {}, onProgress: step => seen.push(step) })
      .catch((error: unknown) => error)
    await client.close()
    expect(seen).toHaveLength(1)
    expect(failure).toMatchObject({ code: 'server.connection-lost' })
  })
})
