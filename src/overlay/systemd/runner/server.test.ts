import { mkdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { UnitName } from '../../names.ts'
import { connectRunner } from './client.ts'
import { makeTestRoot, openTestMachine, removeTestRoot, type TestMachine } from './machine.fake.ts'
import { placeOf } from './place.ts'
import { type RunnerServer, serveRunner } from './server.ts'
import { shortPath } from './socket-path.ts'

let base: string
let machine: TestMachine
let server: RunnerServer

/** Deeper than the path of a unix socket can be long. */
beforeEach(async () => {
  base = makeTestRoot()
  const root = join(base, 'deep'.repeat(20), 'deeper'.repeat(20))
  mkdirSync(root, { recursive: true })
  machine = await openTestMachine(root)
  server = await serveRunner(machine.runner, { root })
})
afterEach(async () => {
  await server.close()
  await machine.remove()
  removeTestRoot(base)
})

/** Sends bytes as they are; answers the lines that come back until the connection ends or `count` are there. */
function talk(text: string, count: number): Promise<unknown[]> {
  const short = shortPath(placeOf(machine.root).socket)
  return new Promise(resolve => {
    let answer = ''
    const lines = () =>
      answer
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line) as unknown)
    const socket = connect(short.path, () => {
      short.release()
      socket.write(text)
    })
    socket.on('data', bytes => {
      answer += bytes
      if (lines().length >= count) socket.destroy()
    })
    // Hung up on while there was more to send.
    socket.on('error', () => {})
    socket.on('close', () => resolve(lines()))
  })
}

describe('the socket of a runner', () => {
  it('is for its user alone, at any depth', async () => {
    const { socket, directory } = placeOf(machine.root)
    expect(socket.length).toBeGreaterThan(107)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    const runner = await connectRunner(machine.root)
    expect(await runner?.active()).toContain('multi-user.target')
    runner?.close()
  })

  it('lets another process act on the units, and tells it why something is refused', async () => {
    const runner = (await connectRunner(machine.root))!
    machine.unit('a.service', '[Service]\nExecStart=/bin/sleep 300\n')
    const unit = 'a.service' as UnitName
    expect(await runner.run([{ do: 'start', unit, timeoutMs: 5000 }])).toEqual([
      { do: 'start', unit, ok: true, detail: '' },
    ])
    expect((await runner.show([unit])).get(unit)).toEqual(await machine.show('a.service'))
    runner.close()
  })

  it('is gone with its server, and calls under way are told', async () => {
    const runner = (await connectRunner(machine.root))!
    machine.unit('a.service', '[Service]\nType=oneshot\nExecStart=/bin/sleep 300\n')
    const job = runner.run([{ do: 'start', unit: 'a.service' as UnitName, timeoutMs: 60_000 }])
    await expect.poll(async () => (await machine.show('a.service')).mainPid).toBeGreaterThan(0)
    await server.close()
    await expect(job).rejects.toMatchObject({ code: 'runner.lost' })
    await expect(runner.active()).rejects.toMatchObject({ code: 'runner.lost' })
    expect(await connectRunner(machine.root)).toBeNull()
  })

  it('is not there where no runner is', async () => {
    expect(await connectRunner(base)).toBeNull()
    expect(await connectRunner(join(base, 'nothing'))).toBeNull()
  })

  it.each([
    ['nonsense', null],
    ['{"id":1,"call":"explode"}', 1],
    ['{"id":2,"call":"show"}', 2],
    ['{"id":3,"call":"show","units":["../../etc/passwd"]}', 3],
    ['{"id":4,"call":"run","jobs":[{"do":"mask","unit":"a.service","timeoutMs":1}]}', 4],
    ['{"id":5,"call":"runLater","unit":"a/b","afterMs":1,"command":["/bin/true"]}', 5],
    ['{"id":6,"call":"lastLines","unit":"../x","count":1}', 6],
    ['{"id":7,"call":"active","more":true}', 7],
    ['[]', null],
  ])('refuses %s', async (line, id) => {
    expect(await talk(`${line}\n`, 1)).toEqual([{ id, error: expect.any(String) }])
  })

  it('answers each request of a connection, also when they come in pieces', async () => {
    const replies = await talk('{"id":1,"call":"active"}\n{"id":2,"call":"da', 1)
    expect(replies).toMatchObject([{ id: 1 }])
    expect(await talk('{"id":1,"call":"active"}\n{"id":2,"call":"daemonReload"}\n', 2)).toMatchObject([
      { id: 1 },
      { id: 2, result: null },
    ])
  })

  it('hangs up on a line without end', async () => {
    expect(await talk('x'.repeat(5 * 1024 * 1024), 1)).toEqual([])
  })
})
