import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeOnlyIdle } from './idle-connections.ts'

let server: Server
const answers: ServerResponse[] = []

beforeEach(async () => {
  server = createServer((_request, response) => {
    answers.push(response)
  })
  closeOnlyIdle(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  answers.length = 0
  server.closeAllConnections()
  server.close()
})

async function asked(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  const before = answers.length
  await expect.poll(() => answers.length).toBe(before + 1)
  return socket
}

describe('closing idle connections', () => {
  it('waits for an answer that was ended and is still on its way', async () => {
    const socket = await asked()
    const body = Buffer.alloc(32 * 2 ** 20, 'x')
    answers[0]!.end(body)
    server.closeIdleConnections()
    let taken = 0
    socket.on('data', chunk => (taken += chunk.length))
    await expect.poll(() => taken, { timeout: 10_000 }).toBeGreaterThan(body.length)
  })

  it('closes one that was answered, and leaves one that was not', async () => {
    const [done, waiting] = [await asked(), await asked()]
    answers[0]!.end()
    await once(done, 'data')
    await expect.poll(() => answers[0]!.closed).toBe(true)
    server.closeIdleConnections()
    await once(done, 'close')
    answers[1]!.end()
    expect(String((await once(waiting, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
  })
})
