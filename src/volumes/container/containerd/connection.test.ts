import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connection } from './connection.ts'

let base: string
let server: Server
let accepted: Socket[]
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'cairn-connection-'))
  accepted = []
  server = createServer(socket => {
    socket.on('error', () => {})
    accepted.push(socket)
  })
  await new Promise<void>(ready => server.listen(join(base, 'sock'), ready))
})
afterEach(() => {
  for (const socket of accepted) socket.destroy()
  server.close()
  rmSync(base, { recursive: true, force: true })
})

const connect = () =>
  new Promise<Socket>(done => {
    const socket = new Socket().pause().connect(join(base, 'sock'))
    socket.once('connect', () => done(socket))
  })

it('says that the runtime is unavailable when the machine has none', async () => {
  const { use } = connection(async () => null)
  await expect(use('a test', async () => 1)).rejects.toMatchObject({ code: 'runtime.unavailable' })
})

it('says so when the connection ends in the middle of a call, and asks for another one at the next', async () => {
  let asked = 0
  const { use, close } = connection(() => {
    asked++
    return connect()
  })
  const call = () => use('a test', ({ leases }) => leases.list({}))
  for (const times of [1, 2]) {
    const failing = call()
    failing.catch(() => {})
    while (accepted.length < times) await new Promise(setImmediate)
    accepted.at(-1)!.destroy()
    await expect(failing).rejects.toMatchObject({ code: 'runtime.unavailable' })
    expect(asked).toBe(times)
  }
  close()
})

it('speaks over one connection, whoever calls at the same time', async () => {
  let asked = 0
  const { use, close } = connection(() => {
    asked++
    return connect()
  })
  await Promise.all([use('a', async () => 1), use('b', async () => 2), use('c', async () => 3)])
  expect(asked).toBe(1)
  close()
})

it('tells an abort as its reason, and errors of the work as they are', async () => {
  const { use, close } = connection(connect)
  const own = new Error('own')
  await expect(use('a test', () => Promise.reject(own))).rejects.toBe(own)
  const stop = new AbortController()
  const stopped = use('a test', ({ leases }) => leases.list({}, { signal: stop.signal }), stop.signal)
  stop.abort(new Error('enough'))
  await expect(stopped).rejects.toThrow('enough')
  close()
})
