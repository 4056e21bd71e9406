import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { contentLayoutOf } from '../layout.ts'
import { askSupervisor } from '../process/supervisor-calls.ts'
import { type Hub, openHub } from '../pubsub/hub.ts'
import { openPeer } from '../pubsub/open-peer.ts'
import { until } from '../pubsub/pubsub.fake.ts'
import { socketLink } from '../pubsub/socket-link.ts'
import { type SteppedClock, steppedClock } from '../pubsub/stepped-clock.fake.ts'
import { type AwaitedProcess, awaitProcess } from './await-process.ts'

let base: string
let clock: SteppedClock
let hub: Hub
let server: Server
let awaited: AwaitedProcess
let told: string[]
let log: string[]
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'cairn-await-'))
  clock = steppedClock()
  told = []
  log = []
  hub = openHub({ requests: base, files: realFiles, clock, log: () => {} })
  awaited = awaitProcess({
    name: 'verifier',
    layout: contentLayoutOf({ base, run: base }),
    insecure: false,
    downloaderUid: 7,
    hub,
    clock,
    log: line => log.push(line),
    onBegin: ({ pid }, starts) => told.push(`begins as ${pid}, start ${starts}`),
    onEnd: health => told.push(health),
  })
  server = createServer(awaited.accept)
  await new Promise<void>(done => server.listen(join(base, 's'), done))
})
afterEach(async () => {
  await awaited.stop()
  hub.close()
  server.close()
  rmSync(base, { recursive: true })
})

const joined = async (pid: number) => {
  const socket: Socket = connect(join(base, 's'))
  const peer = openPeer(socketLink(socket))
  const begin = () =>
    askSupervisor(peer)('begin', { process: 'verifier', pid, permission: true, checked: true, proof: [] })
  const answer = await begin()
  return { socket, peer, begin, answer, closed: new Promise<void>(done => socket.on('close', () => done())) }
}

it('takes each connection as one life, and tells whose files are the downloader’s', async () => {
  const first = await joined(1)
  expect(first.answer).toMatchObject({ insecure: false, downloaderUid: 7 })
  first.socket.destroy()
  await until(() => told.includes('restarting'))
  await joined(2)
  expect(told).toEqual(['begins as 1, start 1', 'restarting', 'begins as 2, start 2'])
})

it('cuts the old one off when another one comes, and does not mourn it', async () => {
  const first = await joined(1)
  await joined(2)
  await first.closed
  expect(told).toEqual(['begins as 1, start 1', 'begins as 2, start 2'])
})

it('cuts off one that has missed three heartbeats', async () => {
  const hung = await joined(1)
  for (let beat = 0; beat < 4; beat++) await clock.advance(5000)
  await hung.closed
  await until(() => told.includes('restarting'))
})

it('lets one live that beats', async () => {
  const { peer } = await joined(1)
  for (let beat = 0; beat < 6; beat++) {
    peer.beat()
    await peer.call('sync', {}).catch(() => {})
    await clock.advance(5000)
  }
  expect(told).toEqual(['begins as 1, start 1'])
})

it('hears only once what a process says of itself', async () => {
  const { begin } = await joined(1)
  await expect(begin()).rejects.toMatchObject({ code: 'call.refused' })
  expect(told).toEqual(['begins as 1, start 1'])
})

it('says so when nobody comes, and when nobody comes back', async () => {
  await clock.advance(15_000)
  expect(told).toEqual(['degraded'])
  expect(log.at(-1)).toContain('cairn-verifier.service')
  const { socket } = await joined(1)
  socket.destroy()
  await until(() => told.includes('restarting'))
  await clock.advance(15_000)
  expect(told.at(-1)).toBe('degraded')
})
